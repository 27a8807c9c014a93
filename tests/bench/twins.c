// SPDX-License-Identifier: GPL-2.0-only
/*
 * The expressions of tests/vectors/gdb as C functions. They have the same types and memory as the
 * bytecode, and take the arguments from the same registers.
 */
#define main sample_main
#include "tests/vectors/gdb/sample.c"
#undef main

#include "tests/bench/twins.h"

#define TWIN(i, vector, text, ...)                                                                 \
	static u64 twin_##i(const struct gtp_regs *r)                                              \
	{                                                                                          \
		struct task *p = (struct task *)r->rdi;                                            \
		struct file *file = (struct file *)r->rsi;                                         \
		unsigned long count = r->rdx;                                                      \
		int n = (int)r->rcx;                                                               \
		unsigned int u = (unsigned int)r->r8;                                              \
		short s = (short)r->r9;                                                            \
		return (u64)(__VA_ARGS__);                                                         \
	}
#include "twins.inc"
#undef TWIN

const struct twin twins[] = {
#define TWIN(i, vector, text, ...) { vector, text, twin_##i },
#include "twins.inc"
#undef TWIN
};

const u32 ntwins = ARRAY_SIZE(twins);

void twins_regs(struct gtp_regs *regs)
{
	regs->rdi = (u64)(unsigned long)&child;
	regs->rsi = (u64)(unsigned long)&the_file;
}
