/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel tracepoints of the fixture: arguments passed in every way, with known values. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM gtp_target

#if !defined(_GTP_TARGET_EVENT_H) || defined(TRACE_HEADER_MULTI_READ)
#define _GTP_TARGET_EVENT_H

#include <linux/tracepoint.h>

#include "gtp_target.h"

/*
 * Five arguments are passed in registers (the first register has the probe's own data), the rest on
 * the stack. A structure that is passed by value must not be larger than a register, because BPF
 * requires this of every event.
 */
/* clang-format off */
TRACE_EVENT(gtp_target_many,
	TP_PROTO(int a, long b, u8 c, bool d, const char *s, const void *p, u64 g, s16 h,
		 struct gtp_target_pair pair, char last),
	TP_ARGS(a, b, c, d, s, p, g, h, pair, last),
	TP_STRUCT__entry(
		__field(int, a)
		__field(long, b)
		__field(u8, c)
		__field(bool, d)
		__string(s, s)
		__field(const void *, p)
		__field(u64, g)
		__field(s16, h)
		__array(int, both, 2)
		__field(char, last)
	),
	TP_fast_assign(
		__entry->a = a;
		__entry->b = b;
		__entry->c = c;
		__entry->d = d;
		gtp_target_assign_str(s, s);
		__entry->p = p;
		__entry->g = g;
		__entry->h = h;
		__entry->both[0] = pair.x;
		__entry->both[1] = pair.y;
		__entry->last = last;
	),
	TP_printk("a=%d b=%ld c=%u d=%d s=%s p=%p g=%llu h=%d both=%d,%d last=%c",
		  __entry->a, __entry->b, __entry->c, __entry->d, __get_str(s), __entry->p,
		  __entry->g, __entry->h, __entry->both[0], __entry->both[1], __entry->last)
);

TRACE_EVENT(gtp_target_count,
	TP_PROTO(u64 n, int cpu),
	TP_ARGS(n, cpu),
	TP_STRUCT__entry(
		__field(u64, n)
		__field(int, cpu)
	),
	TP_fast_assign(
		__entry->n = n;
		__entry->cpu = cpu;
	),
	TP_printk("n=%llu cpu=%d", __entry->n, __entry->cpu)
);
/* clang-format on */

#endif /* _GTP_TARGET_EVENT_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE gtp_target_event
#include <trace/define_trace.h>
