/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of gtp_jit_test.ko. */
#ifndef _GTP_JIT_TEST_PARTS_H
#define _GTP_JIT_TEST_PARTS_H

#include <linux/errno.h>

#include "jit/jit.h"
#include "tracepoint/tsv.h"

/*
 * jit_test_compile - into the arena, as the only snippet there; NULL when it cannot. @w: NULL, or a
 * world to use instead of the kernel's
 */
ax_jit_fn jit_test_compile(const struct ax_verified *v, const struct ax_jit_target *w, u64 pc,
			   u32 *len);

/* jit_test_request - any request, after what is in the arena; as gtp_jit_compile() returns */
int jit_test_request(struct ax_jit_request *req, ax_jit_fn *fn, u32 *frame_bytes);

/* jit_test_builtin - the variables that code reads without a call, as C has them; 0: another one */
s64 jit_test_builtin(enum gtp_tsv_builtin which, u32 entered);

/**
 * jit_test_again() - does a program that made a difference run once more?
 * @err: what the last run said
 * @tries: runs so far, from 0
 *
 * Programs read the task, whose flags others set between the interpreter's look and the compiled
 * code's. An error of the compiler occurs each time.
 */
static inline bool jit_test_again(int err, u32 *tries)
{
	enum { TRIES = 3 };

	return err == -EPROTO && ++*tries < TRIES;
}

/*
 * jit_test_addresses - loads of every width at addresses that are bad in every way, in every
 * context; 0 or -errno
 */
int jit_test_addresses(void);

/*
 * jit_test_random - interpreter against compiler over real memory of the kernel: @programs
 * expressions, and as many tracepoints; 0 or -errno
 */
int jit_test_random(u32 first, u32 programs);

struct axgen;

/*
 * jit_test_pad - jump pads with random conditions, over the memory that @where knows; 0 or -errno
 */
int jit_test_pad(const struct axgen *where, u32 first, u32 programs);

#endif /* _GTP_JIT_TEST_PARTS_H */
