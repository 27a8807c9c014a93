/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sample addresses: addresses in GDB's packets that stand for a clock or a counter that interrupts
 * the CPUs periodically.
 *
 *	bits 63 to 56	0x43
 *	bits 55 to 48	the event: perf's type and number, see gtp_sample_event()
 *	bits 47 to 0	the period: nanoseconds for the clock, otherwise how often the event happens
 *			from one hit to the next
 *
 * No processor accepts these addresses. Bit 63 is clear, so they are not kernel addresses. Bit 56
 * is set, so they are not user addresses either, even if the processor ignores other upper bits of
 * a pointer (LAM). See also base/space.h and base/watch.h.
 */
#ifndef _GTP_SAMPLE_H
#define _GTP_SAMPLE_H

#include "base/base.h"

enum {
	GTP_SAMPLE_SHIFT = 56,
	GTP_SAMPLE_TAG = 0x43,
	GTP_SAMPLE_EVENT_SHIFT = 48,
	GTP_SAMPLE_TYPE_SHIFT = 4, /* in an event: the type is above, the number below */

	GTP_SAMPLE_HARDWARE = 0, /* perf's type of the processor's counters */
	GTP_SAMPLE_CLOCK = 0x10, /* the event cpu-clock: number 0 of perf's software events */
};

/* gtp_sample_is - true if the address is a sample address */
static inline bool gtp_sample_is(u64 addr)
{
	return addr >> GTP_SAMPLE_SHIFT == GTP_SAMPLE_TAG;
}

/* gtp_sample_event - return the event: perf's type << GTP_SAMPLE_TYPE_SHIFT | perf's number */
static inline u32 gtp_sample_event(u64 addr)
{
	return addr >> GTP_SAMPLE_EVENT_SHIFT & 0xff;
}

/* gtp_sample_type - return perf's type of the event */
static inline u32 gtp_sample_type(u64 addr)
{
	return gtp_sample_event(addr) >> GTP_SAMPLE_TYPE_SHIFT;
}

/* gtp_sample_config - return perf's number of the event, which is unique within its type */
static inline u32 gtp_sample_config(u64 addr)
{
	return gtp_sample_event(addr) & ((1U << GTP_SAMPLE_TYPE_SHIFT) - 1);
}

/* gtp_sample_period - return the period, in nanoseconds for the clock; 0 is not valid */
static inline u64 gtp_sample_period(u64 addr)
{
	return addr & ((1ULL << GTP_SAMPLE_EVENT_SHIFT) - 1);
}

/**
 * gtp_sample_lost() - return how many periods of an event have passed without an interrupt
 * @addr: a sample address
 * @passed: the time for which the clock ran, or the event's count
 * @samples: the number of interrupts meanwhile
 *
 * The last period is unfinished: its interrupt may be on its way when the count is read. The clock
 * that is read may also be a little ahead of the one that interrupts. So the first missing
 * interrupt is not counted.
 */
static inline u64 gtp_sample_lost(u64 addr, u64 passed, u64 samples)
{
	u64 expected = passed / gtp_sample_period(addr);

	return expected > samples ? expected - samples - 1 : 0;
}

#endif /* _GTP_SAMPLE_H */
