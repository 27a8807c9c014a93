# SPDX-License-Identifier: GPL-2.0-only
# Job: make a run with every kind of frame, print its frames, and save it in the three ways that GDB has.
tvariable $hits = 40
trace add if a > 2
actions
collect $args
end
trace look
actions
collect *t, $hits
collect/s t->next->name
teval $hits = $hits + 1
end
trace nothing
trace twice
actions
collect counter
end
tstart
hit add 1 9
hit add 3 -4
hit look &first 7
hit nothing
hit twice#1
hit twice#2
hit look &first 7
tstop
view
