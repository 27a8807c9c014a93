# SPDX-License-Identifier: GPL-2.0-only
# Job: count hits of look() by stack and by n: three are called by there(), one by here(), whose caller is unknown.
tvariable $key_stack
tvariable $key_n
tvariable $count_c
trace look
actions
teval $key_stack = $kstack
teval $key_n = (long)n
teval $count_c = 1
end
trace add
actions
collect $kstack
end
tstart
eval "monitor stack %lu %lu", (long)there + 2, (long)main + 2
hit add 1 2
hit look &first 70
hit look &first 80
hit look &first 90
eval "monitor stack %lu 1", (long)here + 2
hit look &first 90
