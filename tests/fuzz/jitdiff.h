/* SPDX-License-Identifier: GPL-2.0-only */
/* Interpreter against compiler: one expression in one world, everything it does compared. */
#ifndef _GTP_JITDIFF_H
#define _GTP_JITDIFF_H

#include "tests/fuzz/axgen.h"

/**
 * jitdiff() - evaluate an expression both ways
 * @code: the expression
 * @len: bytes of it
 * @g: decides about registers, room in the trace buffer, and how the compiler is asked
 *
 * Result, status, error, what was collected and printed, and the variables must be the same, else
 * it prints the expression and aborts.
 * Return: false when the verifier refuses it.
 */
bool jitdiff(const u8 *code, u32 len, struct axgen *g);

/* What the runs were like, to be printed: a fuzzer that only sees errors proves nothing. */
struct jitdiff_stats {
	u64 programs, runs, values, errors[AX_NR_ERRORS], full, bytecode, machine_code;
};

extern struct jitdiff_stats jitdiff_stats;

#endif /* _GTP_JITDIFF_H */
