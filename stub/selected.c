// SPDX-License-Identifier: GPL-2.0-only
/* Finds the trace frame that GDB has selected with QTFrame. */
#include "stub/selected.h"

const struct gtp_frame *gtp_selected_frame(struct gtp_stub *s)
{
	const struct gtp_index *ix;
	struct gtp_why why;

	if (s->frame < 0)
		return NULL;
	ix = gtp_trace_index(s->trace, &why);
	/* A run that another connection started may have dropped the frames. */
	if (!ix || s->frame >= ix->n) {
		s->frame = -1;
		return NULL;
	}
	return gtp_index_at(ix, (u32)s->frame)->frame;
}
