/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads and writes many places of another process's code with few system calls. */
#ifndef _GTP_TEXT_H
#define _GTP_TEXT_H

#include "user/inject/inject.h"

/* struct gtp_span - code that is read and written at once; @bytes: its copy */
struct gtp_span {
	u64 addr;
	u32 len;
	bool written;
	u8 *bytes, *old;
};

/**
 * struct gtp_text_plan - the code of a batch of jumps
 * @span, @spans: the pieces of code, in ascending order
 * @bytes: the copies of all pieces: as they were read, and as they are to be written
 */
struct gtp_text_plan {
	struct gtp_span *span;
	u32 spans;
	u8 *bytes;
};

/*
 * gtp_text_plan - plan the pieces for @n jumps, sorted by address; return 0, or -ENOMEM and nothing
 * to free
 */
int gtp_text_plan(struct gtp_text_plan *t, struct gtp_patch *const *patch, u32 n);
void gtp_text_free(struct gtp_text_plan *t);

/*
 * gtp_text_own - give the process its own copies of the pages of all pieces, as the writes would,
 * while its threads still run; the code stays the same
 */
void gtp_text_own(const struct gtp_text_plan *t, const struct gtp_process *p, int mem);

/*
 * gtp_text_read - read all pieces; of a piece that cannot be read all bytes are 0. Return how many
 * cannot be read
 */
u32 gtp_text_read(struct gtp_text_plan *t, const struct gtp_process *p, int mem);

/* gtp_text_at - return the copy of a jump's code, in a plan that was made with this jump */
u8 *gtp_text_at(const struct gtp_text_plan *t, const struct gtp_patch *patch);

/*
 * gtp_text_write - write all pieces that have changed; return 0, or -EFAULT with all of them as
 * they were
 */
int gtp_text_write(struct gtp_text_plan *t, int mem);

#endif /* _GTP_TEXT_H */
