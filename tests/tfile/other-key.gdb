# SPDX-License-Identifier: GPL-2.0-only
# Job: a definition by which what has been the key n seems to have been a stack.
actions
teval $key_n=(unsigned long)$kstack
teval $count_c = 1
end
