# SPDX-License-Identifier: GPL-2.0-only
# Job: define $key_n as a stack, although it was a number in the previous run.
actions
teval $key_n=(unsigned long)$kstack
teval $count_c = 1
end
