/* SPDX-License-Identifier: GPL-2.0-only */
/* The C functions that the common stubs call, and the words that the slow stub has on the stack. */
#ifndef _GTP_JIT_STUB_CALLS_H
#define _GTP_JIT_STUB_CALLS_H

#include "jit/jit_internal.h"

struct gtp_aggr_table;

/* Indexes of the words that the slow stub finds on the stack: first the registers, by number. */
enum {
	SAVED_REGS = X86_R11 + 1,
	/* The snippet has pushed the rest, before the return address and rbp. */
	SAVED_DESC = SAVED_REGS + 2,
	SAVED_WHERE, /* of a block: its offset in the trace frame */
	SAVED_LEN,   /* of a block: its number of bytes */
};

/*
 * struct jit_stub_call - the C function of a stub: one of @call, @slow and @update. @fallible: a
 * nonzero return value ends the snippet with that status
 */
struct jit_stub_call {
	s64 (*call)(struct ax_env *env, u64 a, u64 b, u32 desc);
	s64 (*slow)(struct ax_env *env, u64 *saved);
	void (*update)(struct gtp_aggr_table *t, const u64 *own, s64 value);
	bool fallible;
};

/* jit_stub_calls - the functions, by enum ax_jit_stub */
extern const struct jit_stub_call jit_stub_calls[AX_JIT_NR_STUBS];

#endif /* _GTP_JIT_STUB_CALLS_H */
