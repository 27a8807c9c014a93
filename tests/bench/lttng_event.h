/* SPDX-License-Identifier: GPL-2.0-only */
/* The tracepoints of LTTng-UST that are compared with gdbtp's. All have the fields a and b. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER gtp_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tests/bench/lttng_event.h"

#if !defined(_GTP_LTTNG_EVENT_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define _GTP_LTTNG_EVENT_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT_CLASS(gtp_bench, fields, LTTNG_UST_TP_ARGS(int, a, int, b),
				 LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, a, a)
							     lttng_ust_field_integer(int, b, b)))

/*
 * The event "off" stays disabled. tests/bench/lttng enables "never" with a false filter, "holds"
 * with a true one, and "always" without a filter.
 */
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(gtp_bench, fields, gtp_bench, off,
				    LTTNG_UST_TP_ARGS(int, a, int, b))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(gtp_bench, fields, gtp_bench, never,
				    LTTNG_UST_TP_ARGS(int, a, int, b))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(gtp_bench, fields, gtp_bench, holds,
				    LTTNG_UST_TP_ARGS(int, a, int, b))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(gtp_bench, fields, gtp_bench, always,
				    LTTNG_UST_TP_ARGS(int, a, int, b))

#endif /* _GTP_LTTNG_EVENT_H */

#include <lttng/tracepoint-event.h>
