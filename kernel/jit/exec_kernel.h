/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Executable memory for snippets in the kernel: an arena that is filled for a run, and emptied
 * after it.
 */
#ifndef _GTP_EXEC_KERNEL_H
#define _GTP_EXEC_KERNEL_H

#include "jit/jit.h"

struct gtp_why;

/**
 * gtp_jit_init() - put the common stubs into the arena
 *
 * Context: module init. Return: 0, or -errno if nothing can be compiled.
 */
int gtp_jit_init(void);

/**
 * gtp_jit_open() - begin to compile: map the arena writable, at another address
 *
 * Context: process, may sleep; one caller at a time until gtp_jit_close(). Existing snippets may be
 * running. Return: 0 or -ENOMEM.
 */
int gtp_jit_open(void);

/**
 * gtp_jit_close() - finish compiling: make every CPU see the new code
 *
 * Context: process, interrupts on; waits for all CPUs.
 */
void gtp_jit_close(void);

/**
 * struct gtp_jit_code - a compiled snippet
 * @fn: the snippet's code, which may run after gtp_jit_close()
 * @len: the length of the code in bytes
 * @frame_bytes: for a snippet of actions: the number of bytes that they collect
 */
struct gtp_jit_code {
	ax_jit_fn fn;
	u32 len;
	u32 frame_bytes;
};

/**
 * gtp_jit_compile() - compile a snippet into the open arena
 * @req: the request; if it has no target, the target is filled in. The request's bytecode must live
 *       as long as the snippet
 * @code: receives the snippet
 *
 * Return: 0, -ENOMEM, -ENOSPC (the arena is full), -EOPNOTSUPP (these actions cannot be one
 * snippet), -ERANGE (cannot happen: a bug).
 */
int gtp_jit_compile(struct ax_jit_request *req, struct gtp_jit_code *code);

/* gtp_jit_rewind - free everything compiled since @used bytes were in use; none of it has run */
void gtp_jit_rewind(u32 used);

/* gtp_jit_reset - free all snippets; no CPU may run any of them any more */
void gtp_jit_reset(void);

/* struct gtp_jit_pad - a jump pad: its address and length in bytes */
struct gtp_jit_pad {
	u64 addr;
	u32 len;
};

/* enum gtp_jit_share - how much of the memory for pads may be in use after a pad is added */
enum gtp_jit_share {
	GTP_JIT_SHARE_ALL,
	GTP_JIT_SHARE_HALF,
	GTP_JIT_SHARE_QUARTER,
};

/**
 * gtp_jit_pad_emit() - write a planned jump pad into the open arena
 * @work: the planned compilation
 * @len: the length of the pad in bytes
 * @share: how much of the memory for pads may be in use afterwards
 * @pad: receives the pad, which may run after gtp_jit_close()
 *
 * Return: 0, -ENOSPC (no room), -ERANGE (something that it must reach is too far away).
 */
int gtp_jit_pad_emit(struct ax_jit *work, u32 len, enum gtp_jit_share share,
		     struct gtp_jit_pad *pad);

/*
 * gtp_jit_pad_free - free a pad that no task is in or can reach. The pad's bytes become int3 before
 * they are reused: at once if the arena is open, otherwise in the next gtp_jit_open() or
 * gtp_jit_pads_wipe()
 */
void gtp_jit_pad_free(const struct gtp_jit_pad *pad);

/*
 * gtp_jit_pads_wipe - write int3 over all freed pads. If there is no memory for that, the freed
 * pads cannot be reused until the next wipe
 */
void gtp_jit_pads_wipe(void);

/*
 * gtp_jit_pad_usage - store the number of bytes that pads use, and the size of the memory for pads
 */
void gtp_jit_pad_usage(u32 *used, u32 *size);

/* gtp_jit_ready - true if the arena can be used */
bool gtp_jit_ready(void);

/* gtp_jit_target - return the description of the place where snippets run; a test may change it */
const struct ax_jit_target *gtp_jit_target(void);

/* gtp_jit_usage - store how many bytes snippets use, and the size of their part of the arena */
void gtp_jit_usage(u32 *used, u32 *size);

#endif /* _GTP_EXEC_KERNEL_H */
