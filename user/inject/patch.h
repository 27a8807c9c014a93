/* SPDX-License-Identifier: GPL-2.0-only */
/* Replaces instructions of a process by jumps to pads, and restores them. */
#ifndef _GTP_PATCH_H
#define _GTP_PATCH_H

#include "user/inject/state.h"
#include "user/inject/text.h"

/**
 * struct gtp_batch - the jumps of a batch
 * @patch, @n: the jumps, sorted by address; the array is the batch's own
 * @text: their code
 */
struct gtp_batch {
	struct gtp_patch **patch;
	u32 n;
	struct gtp_text_plan text;
};

/* gtp_patch_plan - begin a batch; the process may run. Return 0, or -ENOMEM and nothing to free */
int gtp_patch_plan(struct gtp_batch *b, struct gtp_patch *const *patch, u32 n);
void gtp_patch_free(struct gtp_batch *b);

/* gtp_patch_check - check what can be checked while the process runs; return 0 or -errno */
int gtp_patch_check(const struct gtp_inject *in, const struct gtp_batch *b, struct gtp_why *why);

/*
 * gtp_patch_set - put the jumps into the stopped process; return 0; -EAGAIN if a thread is still in
 * an old pad that comes back into one of the regions; or another -errno
 */
int gtp_patch_set(struct gtp_inject *in, struct gtp_batch *b, struct gtp_why *why);

/* gtp_patch_adopt - note that the jumps are in the process; return 0 or -ENOMEM */
int gtp_patch_adopt(struct gtp_inject *in, const struct gtp_batch *b);

/* gtp_patch_unset - put the original instructions into the stopped process; return 0 or -errno */
int gtp_patch_unset(struct gtp_inject *in, struct gtp_batch *b, struct gtp_why *why);

#endif /* _GTP_PATCH_H */
