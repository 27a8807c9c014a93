// SPDX-License-Identifier: GPL-2.0-only
/* The facts for a jump pad that writes frames as a hit does: see hit/hit.h, pad/frame.c. */
#include "pad/describe.h"

#define OF_CPU(member) ((s32)offsetof(struct gtp_cpu, member))

void gtp_hit_describe_pad_frame(struct gtp_pad_frame *frame, const struct gtp_tracepoint *tp)
{
	s32 stat = (s32)(tp->slot * sizeof(struct gtp_tp_stat));

	static_assert(sizeof(((struct gtp_run *)0)->active) == 1, "compared as a byte");
	*frame = (struct gtp_pad_frame){
		/* Actions that are no one snippet for C may have a string. */
		.bytes = tp->actions && !tp->code ? 0 :
						    (u32)sizeof(struct gtp_frame) + tp->frame_bytes,
		.in_hit = OF_CPU(in_hit),
		.run = OF_CPU(run),
		.mem = OF_CPU(buf.mem),
		.head = OF_CPU(buf.head),
		.end = OF_CPU(buf.end),
		.created = OF_CPU(buf.created),
		.quick = OF_CPU(quick),
		.stat = OF_CPU(stat),
		.active = (s32)offsetof(struct gtp_run, active),
		.wanted = (u64)(unsigned long)&tp->in_pad,
		.start = (u64)(unsigned long)&tp->quick_start,
		.slot = tp->slot,
		.hits = stat + (s32)offsetof(struct gtp_tp_stat, hits),
		.usage = stat + (s32)offsetof(struct gtp_tp_stat, usage),
		.pass_hits = tp->pass ? (u64)(unsigned long)&tp->pass_hits : 0,
		.passes = tp->pass - 1, /* the last one ends the run, which takes C */
	};
}

bool gtp_hit_can_pad_frame(const struct gtp_tracepoint *tp, bool cond)
{
	return tp->loc->kind != GTP_LOCATION_RETURN && tp->in_pad && (cond || !tp->cond);
}
