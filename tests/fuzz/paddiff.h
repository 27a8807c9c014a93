/* SPDX-License-Identifier: GPL-2.0-only */
/* Compares one random pad with the original code and the interpreter. */
#ifndef _GTP_PADDIFF_H
#define _GTP_PADDIFF_H

#include "tests/fuzz/axgen.h"

/* struct paddiff_stats - how many of the compared pads and runs had which property */
struct paddiff_stats {
	u64 pads, refused, bytes;
	u64 held, not_held, punted;
	u64 without, dead_flags, called, followed, joined;
	u64 tasks;	/* pads whose conditions name a variable of tasks */
	u64 kept_flags; /* pads that keep dead flags, as an instruction reads an undefined flag */
	u64 insns[16];	/* displaced instructions, by enum gtp_insn_kind */
};

extern struct paddiff_stats paddiff_stats;

/**
 * paddiff() - compare a pad with a random condition, random displaced instructions and registers
 * @g: the generator, which makes all choices
 *
 * A difference is reported in full, and aborts.
 */
void paddiff(struct axgen *g);

#endif /* _GTP_PADDIFF_H */
