# SPDX-License-Identifier: GPL-2.0-only
# Job: change a tracepoint during a run in every possible way.
trace add
gtp collect 1 a
echo before\n
tstart
gtp collect 1 b
gtp if 1 a > 1
actions 1
collect a
end
tstop
echo behind\n
gtp collect 1 b
