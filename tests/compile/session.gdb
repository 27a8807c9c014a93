# SPDX-License-Identifier: GPL-2.0-only
# Job: a session with an address wherever a packet can have one.
tvariable $hits = 40
trace add if a > 2 && &counter != (int *) b
actions
collect $args, counter
end
trace look
actions
collect *t, $hits, first.big, &first.name[n & 1]
teval $hits = $hits + 1
end
trace *(unsigned long)&nothing
actions
collect $regs, counter
end
trace twice
gtp count by $kstack at look
monitor strict on
