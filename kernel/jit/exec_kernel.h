/* SPDX-License-Identifier: GPL-2.0-only */
/* Executable memory for snippets in the kernel: one arena, filled for a run, forgotten after it. */
#ifndef _GTP_EXEC_KERNEL_H
#define _GTP_EXEC_KERNEL_H

#include "jit/jit.h"

struct gtp_why;

/**
 * gtp_jit_init() - put the common stubs into the arena
 *
 * Context: module init. Return: 0 or -errno; then nothing can be compiled.
 */
int gtp_jit_init(void);

/**
 * gtp_jit_open() - begin to compile: make the arena writable, at another address
 *
 * Context: process, may sleep; the caller's lock until gtp_jit_close(). Snippets that are there may
 * be running. Return: 0 or -ENOMEM.
 */
int gtp_jit_open(void);

/**
 * gtp_jit_close() - all is compiled: every CPU will see the code as it is now
 *
 * Context: process, interrupts on; waits for all CPUs.
 */
void gtp_jit_close(void);

/**
 * struct gtp_jit_code - a snippet
 * @fn: it may run after gtp_jit_close()
 * @len: its length in bytes
 * @frame_bytes: of actions: what they collect
 */
struct gtp_jit_code {
	ax_jit_fn fn;
	u32 len;
	u32 frame_bytes;
};

/**
 * gtp_jit_compile() - compile into the open arena
 * @req: what; a target is filled in if it has none. Bytecode must stay as long as the snippet
 * @code: receives the snippet
 *
 * Return: 0, -ENOMEM, -ENOSPC (the arena is full), -EOPNOTSUPP (actions that are no one snippet),
 * -ERANGE (cannot happen: a bug).
 */
int gtp_jit_compile(struct ax_jit_request *req, struct gtp_jit_code *code);

/* gtp_jit_rewind - forget what was compiled since @used bytes were used; none of it may have run */
void gtp_jit_rewind(u32 used);

/* gtp_jit_reset - forget all snippets; none may run any more, on any CPU */
void gtp_jit_reset(void);

/* struct gtp_jit_pad - a jump pad: its address and length in bytes */
struct gtp_jit_pad {
	u64 addr;
	u32 len;
};

/* enum gtp_jit_share - how much of the pads' room may be in use, for a pad to be added */
enum gtp_jit_share {
	GTP_JIT_SHARE_ALL,
	GTP_JIT_SHARE_HALF,
	GTP_JIT_SHARE_QUARTER,
};

/**
 * gtp_jit_pad_emit() - write a jump pad that was planned into the open arena
 * @work: as the plan left it
 * @len: its length in bytes
 * @share: do not fill more of the room
 * @pad: receives it; it may run after gtp_jit_close()
 *
 * Return: 0, -ENOSPC (no room), -ERANGE (what it has to reach is too far away).
 */
int gtp_jit_pad_emit(struct ax_jit *work, u32 len, enum gtp_jit_share share,
		     struct gtp_jit_pad *pad);

/*
 * gtp_jit_pad_free - no task may be in it any more, nor get there. Its room is given again, and has
 * int3 in all bytes: at once while the arena is open, else from the next gtp_jit_open() or
 * gtp_jit_pads_wipe() on
 */
void gtp_jit_pad_free(const struct gtp_jit_pad *pad);

/*
 * gtp_jit_pads_wipe - write the int3s of all that were freed. Without memory for that their room
 * stays taken, until the next time
 */
void gtp_jit_pads_wipe(void);

/* gtp_jit_pad_usage - bytes in use and in all */
void gtp_jit_pad_usage(u32 *used, u32 *size);

/* gtp_jit_ready - is there an arena at all? */
bool gtp_jit_ready(void);

/* gtp_jit_target - where snippets in the arena run; a test may want it without fast loads */
const struct ax_jit_target *gtp_jit_target(void);

/* gtp_jit_usage - bytes of the arena in use and in all */
void gtp_jit_usage(u32 *used, u32 *size);

#endif /* _GTP_EXEC_KERNEL_H */
