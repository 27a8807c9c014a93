// SPDX-License-Identifier: GPL-2.0-only
/* Finds room for jump pads in the arena. */
#include "kernel/base/mem_kernel.h"
#include "kernel/pad/place.h"

static enum gtp_jit_share share(const struct gtp_pad_request *req)
{
	/* A pad that writes frames takes three times the room: leave most room to other pads. */
	if (req->frame)
		return GTP_JIT_SHARE_QUARTER;
	/*
	 * A place with several tracepoints can fall back to one pad, which leaves all of them to C
	 * code.
	 */
	return req->chain ? GTP_JIT_SHARE_HALF : GTP_JIT_SHARE_ALL;
}

int gtp_pad_place(const struct gtp_pad_request *req, struct gtp_jit_pad *pad)
{
	struct ax_jit *work = gtp_mem_alloc(gtp_pad_work_size(req));
	u32 len;
	int err;

	if (!work)
		return -ENOMEM;
	len = gtp_pad_plan(work, req);
	err = len ? gtp_jit_pad_emit(work, len, share(req), pad) : -EOPNOTSUPP;
	gtp_mem_free(work);
	return err;
}
