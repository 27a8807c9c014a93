/* SPDX-License-Identifier: GPL-2.0-only */
/* Executable memory for snippets in userspace, used by tests, tools and measurements. */
#ifndef _GTP_EXEC_USER_H
#define _GTP_EXEC_USER_H

#include "jit/jit.h"

/**
 * struct jit_user - an arena: memory mapped writable at one address and executable at another
 * @target: the description of the target, filled in by ax_jit_stubs()
 * @size: the size of the arena in bytes
 * @stubs: the bytes of the common stubs, which are at the arena's beginning
 * @used: the bytes of the arena in use
 * @ways, @slots: for jit_user_compile(): see struct ax_jit_request; NULL at first
 */
struct jit_user {
	struct ax_jit_target target;
	u8 *write;
	const u8 *exec;
	u32 size;
	u32 stubs;
	u32 used;
	const u8 *ways;
	struct gtp_tsv *const *slots;
	struct jit_user *next;
};

/**
 * jit_user_new() - make an arena with the common stubs in it
 * @size: the size of the arena in bytes, rounded up to pages
 * @fast_limit: addresses below this (signed) are read by plain loads, and after a SIGSEGV by
 *	env->ops->read(); 0: all are read by env->ops->read()
 *
 * Return: the arena, never NULL: exits with a message on failure.
 */
struct jit_user *jit_user_new(u32 size, s32 fast_limit);
void jit_user_free(struct jit_user *u);

/* jit_user_catch_faults - take SIGSEGV and SIGBUS again, after another handler was installed */
void jit_user_catch_faults(void);

/* jit_user_set_gs - set the start of this thread's GS segment; exits with a message on failure */
void jit_user_set_gs(void *segment);

/* jit_user_reset - free all snippets */
static inline void jit_user_reset(struct jit_user *u)
{
	u->used = u->stubs;
}

/**
 * jit_user_compile() - compile into the arena
 * @u: the arena, in which the snippet is put
 * @v: the verified expression
 * @pc: the value that the expression reads for rip
 * @seed: changes which registers are used, see struct ax_jit_request
 * @len: receives the length of the code in bytes; may be NULL
 *
 * Return: the snippet; NULL if the arena is full.
 */
ax_jit_fn jit_user_compile(struct jit_user *u, const struct ax_verified *v, u64 pc, u32 seed,
			   u32 *len);

/*
 * jit_user_compile_request - compile any request, with its target filled in; return NULL also if
 * its actions cannot be one snippet. @frame_bytes may be NULL
 */
ax_jit_fn jit_user_compile_request(struct jit_user *u, struct ax_jit_request *req, u32 *len,
				   u32 *frame_bytes);

#endif /* _GTP_EXEC_USER_H */
