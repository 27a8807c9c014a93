/* SPDX-License-Identifier: GPL-2.0-only */
/* The corpus of real expressions in C, as gcc -O2 has them. */
#ifndef _GTP_TWINS_H
#define _GTP_TWINS_H

#include "base/regs.h"

/* struct twin - @vector: file of the same expression in GDB's bytecode */
struct twin {
	const char *vector;
	const char *text;
	u64 (*eval)(const struct gtp_regs *regs);
};

extern const struct twin twins[];
extern const u32 ntwins;

/* twins_regs - set the registers as at the entry, with the pointers into the twins' own memory */
void twins_regs(struct gtp_regs *regs);

#endif /* _GTP_TWINS_H */
