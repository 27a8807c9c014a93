/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions that the parts of gtp_jit_test.ko share. */
#ifndef _GTP_JIT_TEST_PARTS_H
#define _GTP_JIT_TEST_PARTS_H

#include <linux/errno.h>

#include "jit/jit.h"
#include "tracepoint/tsv.h"

/*
 * jit_test_compile - empty the arena and compile the expression; return NULL if it cannot be
 * compiled. @w: the target for which to compile; NULL: the kernel
 */
ax_jit_fn jit_test_compile(const struct ax_verified *v, const struct ax_jit_target *w, u64 pc,
			   u32 *len);

/*
 * jit_test_request - compile any request, after the code that is in the arena; return the result of
 * gtp_jit_compile()
 */
int jit_test_request(struct ax_jit_request *req, ax_jit_fn *fn, u32 *frame_bytes);

/*
 * jit_test_builtin - return the value, computed in C, of a variable that code reads without a call;
 * 0 for any other variable
 */
s64 jit_test_builtin(enum gtp_tsv_builtin which, u32 entered);

/**
 * jit_test_again() - true if a program that showed a difference must run again
 * @err: the last run's result
 * @tries: runs so far, from 0
 *
 * Programs read the running task. Its flags may change after the run of the interpreter and before
 * that of the compiled code. So one difference proves nothing, but an error of the compiler occurs
 * each time.
 */
static inline bool jit_test_again(int err, u32 *tries)
{
	enum { TRIES = 3 };

	return err == -EPROTO && ++*tries < TRIES;
}

/*
 * jit_test_addresses - test loads of every width from every kind of bad address, in every context;
 * return 0 or -errno
 */
int jit_test_addresses(void);

/*
 * jit_test_random - compare interpreter and compiler over real kernel memory: @programs
 * expressions, and as many tracepoints; return 0 or -errno
 */
int jit_test_random(u32 first, u32 programs);

struct axgen;

/*
 * jit_test_pad - test jump pads with random conditions, over the memory that @where describes;
 * return 0 or -errno
 */
int jit_test_pad(const struct axgen *where, u32 first, u32 programs);

#endif /* _GTP_JIT_TEST_PARTS_H */
