// SPDX-License-Identifier: GPL-2.0-only
/* Checks sample addresses, and puts events and the kernel's refusals into words. */
#include "probe/sample/place.h"

enum { SHORTEST_NS = 10000 }; /* perf makes a shorter period of its clock that long */

/* Return the name of an event; NULL if there is no such event. */
static const char *event_name(u64 addr)
{
	static const char *const hardware[] = {
		"cycles",
		"instructions",
		"cache-references",
		"cache-misses",
		"branches",
		"branch-misses",
		"bus-cycles",
		"stalled-cycles-frontend",
		"stalled-cycles-backend",
		"ref-cycles",
	};
	u32 n = gtp_sample_config(addr);

	if (gtp_sample_type(addr) == GTP_SAMPLE_HARDWARE && n < ARRAY_SIZE(hardware))
		return hardware[n];
	return gtp_sample_event(addr) == GTP_SAMPLE_CLOCK ? "cpu-clock" : NULL;
}

int gtp_sample_place_check(u64 addr, struct gtp_why *why)
{
	u64 period = gtp_sample_period(addr);

	if (!event_name(addr))
		gtp_why(why, "there is no event 0x%x to sample by (docs/sample.md)",
			gtp_sample_event(addr));
	else if (!period)
		gtp_why(why, "a period of 0 would be hit without end");
	else if (gtp_sample_event(addr) == GTP_SAMPLE_CLOCK && period < SHORTEST_NS)
		gtp_why(why,
			"a period of %llu ns is too short: the kernel's clock takes %u ns or more",
			period, SHORTEST_NS);
	else
		return 0;
	return -EINVAL;
}

void gtp_sample_place_name(u64 addr, char *buf, size_t size)
{
	const char *name = event_name(addr);
	u64 period = gtp_sample_period(addr);

	if (!name)
		snprintf(buf, size, "event 0x%x:%llu", gtp_sample_event(addr), period);
	else if (gtp_sample_event(addr) == GTP_SAMPLE_CLOCK)
		snprintf(buf, size, "%s every %llu ns", name, period);
	else
		snprintf(buf, size, "%s:%llu", name, period);
}

void gtp_sample_place_explain(u64 addr, int err, struct gtp_why *why)
{
	const char *name = event_name(addr);

	switch (err) {
	case -ENOENT:
	case -ENODEV:
	case -EOPNOTSUPP:
		gtp_why(why,
			"this machine has no counter of %s that could interrupt it; most virtual machines have none, and 99hz samples by the clock instead",
			name);
		break;
	case -EBUSY:
	case -ENOSPC:
		gtp_why(why,
			"the processor has no counter free for %s: this run, perf or the NMI watchdog use them",
			name);
		break;
	case -ENOMEM:
		gtp_why(why, "no memory for a sample");
		break;
	default:
		gtp_why(why, "the kernel refused to sample by %s (error %d)", name, -err);
	}
}
