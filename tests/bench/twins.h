/* SPDX-License-Identifier: GPL-2.0-only */
/* The expressions of tests/vectors/gdb as C functions, which gcc -O2 compiles. */
#ifndef _GTP_TWINS_H
#define _GTP_TWINS_H

#include "base/regs.h"

/* struct twin - an expression in C; @vector: the file with GDB's bytecode for this expression */
struct twin {
	const char *vector;
	const char *text;
	u64 (*eval)(const struct gtp_regs *regs);
};

extern const struct twin twins[];
extern const u32 ntwins;

/* twins_regs - set the arguments' registers to the addresses of the twins' own objects */
void twins_regs(struct gtp_regs *regs);

#endif /* _GTP_TWINS_H */
