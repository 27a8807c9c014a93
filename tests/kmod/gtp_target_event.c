// SPDX-License-Identifier: GPL-2.0-only
/* Hits the kernel tracepoints that the tests trace. */
#include <linux/smp.h>
#include <linux/tracepoint.h>
#include <linux/version.h>

#include "gtp_target.h"

/* changed in 6.10 ("tracing/treewide: Remove second parameter of __assign_str()") */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define gtp_target_assign_str(dst, src) __assign_str(dst)
#else
#define gtp_target_assign_str(dst, src) __assign_str(dst, src)
#endif

/* 6.16's DECLARE_TRACE() adds "_tp" to the name; its DECLARE_TRACE_EVENT() does not. */
#ifndef DECLARE_TRACE_EVENT
#define DECLARE_TRACE_EVENT DECLARE_TRACE
#endif

/* A tracepoint without an event: ftrace does not list it, and its arguments may be of any type. */
DECLARE_TRACE_EVENT(gtp_target_bare, TP_PROTO(long n, struct gtp_target_triple triple),
		    TP_ARGS(n, triple));
DEFINE_TRACE(gtp_target_bare, TP_PROTO(long n, struct gtp_target_triple triple),
	     TP_ARGS(n, triple));

#define CREATE_TRACE_POINTS
#include "gtp_target_event.h"

void gtp_target_event_many(int n)
{
	struct gtp_target_pair pair = { n * 1000 + 1, n * 1000 + 2 };
	struct gtp_target_triple triple = { -n, n * 2, n * 3 };
	/*
	 * The function that makes a record of the event copies this string. Copying from the bad
	 * address causes an oops.
	 */
	const char *s = n == GTP_TARGET_EVENT_BAD ? (const char *)16 : gtp_target_banner;

	gtp_target_count(GTP_TARGET_COUNT_many);
	gtp_target_note_stack(GTP_TARGET_STACK_EVENT);
	trace_gtp_target_many(n, -n, (u8)(n + 200), n & 1, s, &gtp_target_objs[0], (u64)n << 40,
			      (s16)-n, pair, 'a' + n % 26);
	trace_gtp_target_bare(n, triple);
}

unsigned long gtp_target_marker(void)
{
	return (unsigned long)__traceiter_gtp_target_many;
}

void gtp_target_event_count(u64 n)
{
	gtp_target_count(GTP_TARGET_COUNT_event);
	trace_gtp_target_count(n, raw_smp_processor_id());
}
