/* SPDX-License-Identifier: GPL-2.0-only */
/* The second fixture's kernel tracepoint, which is added and removed with the module. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM gtp_target2

#if !defined(_GTP_TARGET2_EVENT_H) || defined(TRACE_HEADER_MULTI_READ)
#define _GTP_TARGET2_EVENT_H

#include <linux/tracepoint.h>

/* clang-format off */
TRACE_EVENT(gtp_target2_call,
	TP_PROTO(long n),
	TP_ARGS(n),
	TP_STRUCT__entry(
		__field(long, n)
	),
	TP_fast_assign(
		__entry->n = n;
	),
	TP_printk("n=%ld", __entry->n)
);
/* clang-format on */

#endif /* _GTP_TARGET2_EVENT_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE gtp_target2_event
#include <trace/define_trace.h>
