/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel tracepoint that is measured: two arguments, three fields. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM gtp_bench

#if !defined(_GTP_BENCH_EVENT_H) || defined(TRACE_HEADER_MULTI_READ)
#define _GTP_BENCH_EVENT_H

#include <linux/tracepoint.h>

#include "gtp_bench.h"

/* clang-format off */
TRACE_EVENT(gtp_bench_hit,
	TP_PROTO(struct gtp_bench_obj *o, int n),
	TP_ARGS(o, n),
	TP_STRUCT__entry(
		__field(int, a)
		__field(int, b)
		__field(int, n)
	),
	TP_fast_assign(
		__entry->a = o->a;
		__entry->b = o->b;
		__entry->n = n;
	),
	TP_printk("a=%d b=%d n=%d", __entry->a, __entry->b, __entry->n)
);
/* clang-format on */

#endif /* _GTP_BENCH_EVENT_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE gtp_bench_event
#include <trace/define_trace.h>
