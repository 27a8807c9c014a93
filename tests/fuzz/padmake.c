// SPDX-License-Identifier: GPL-2.0-only
/* Makes a pad in userspace. */
#include <stdlib.h>

#include "tests/fuzz/padmake.h"

u64 padmake(struct jit_user *u, const struct gtp_pad_request *req, u32 *len)
{
	struct ax_jit *work = malloc(gtp_pad_work_size(req));
	u64 at = 0;
	int ret;

	*len = gtp_pad_plan(work, req);
	if (*len && *len > u->size - u->used)
		jit_user_reset(u);
	if (*len) {
		at = (u64)(uintptr_t)(u->exec + u->used);
		ret = ax_jit_emit(work, at, u->write + u->used, *len);
		if (ret) {
			fprintf(stderr, "ax_jit_emit: %d\n", ret);
			abort();
		}
		u->used += (*len + AX_JIT_CODE_ALIGN - 1) & ~(AX_JIT_CODE_ALIGN - 1U);
	}
	free(work);
	return at;
}
