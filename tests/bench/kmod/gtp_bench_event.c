// SPDX-License-Identifier: GPL-2.0-only
/* The function that hits the measured kernel tracepoint, and a probe on it that only counts. */
#include <linux/linkage.h>

#include "gtp_bench.h"

#define CREATE_TRACE_POINTS
#include "gtp_bench_event.h"

noinline notrace long gtp_bench_event(struct gtp_bench_obj *o, int n)
{
	trace_gtp_bench_hit(o, n);
	return 0;
}

static void count_hit(void *hits, struct gtp_bench_obj *o, int n)
{
	++*(u64 *)hits;
}

int gtp_bench_event_probe(u64 *hits)
{
	return register_trace_gtp_bench_hit(count_hit, hits);
}

void gtp_bench_event_unprobe(u64 *hits)
{
	if (!unregister_trace_gtp_bench_hit(count_hit, hits))
		tracepoint_synchronize_unregister();
}
