/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Primitives that depend on the processor, for x86-64: the time stamp counter, a 128-bit product,
 * the order of loads, and the conversion of the counter to ns.
 */
#ifndef _GTP_CPU_H
#define _GTP_CPU_H

#include "base/base.h"

#ifdef __KERNEL__
#include <asm/tsc.h>

/* gtp_read_tsc - read the time stamp counter, after all earlier instructions */
#define gtp_read_tsc() rdtsc_ordered()
#else
#define gtp_read_tsc() __builtin_ia32_rdtscp(&(u32){ 0 })
#endif

/*
 * gtp_order_loads - keep all later loads after all earlier ones
 *
 * x86 keeps the order of loads, so this restrains only the compiler. A plain read followed by
 * gtp_order_loads() works as an acquire, and the compiler may compare the value in memory.
 */
#define gtp_order_loads() barrier()

/* gtp_scale - return (@n * @rate) >> 32, where the product has 128 bits */
static __always_inline u64 gtp_scale(u64 n, const u64 *rate)
{
	u64 high;

	/* In C this needs a 128-bit type, for which GCC would align the stack. */
	__asm__("mulq %3\n\tshrdq $32, %1, %0" : "=a"(n), "=&d"(high) : "0"(n), "m"(*rate) : "cc");
	return n;
}

/**
 * struct gtp_calibration - converts values of the time stamp counter to ns
 * @tsc, @ns: the counter and the clock at one moment of this run
 * @rate: ns per tick, << 32
 */
struct gtp_calibration {
	u64 tsc;
	u64 ns;
	u64 rate;
};

/* gtp_calibration_ns - return the time in ns at which the counter had the value @tsc */
static __always_inline u64 gtp_calibration_ns(const struct gtp_calibration *c, u64 tsc)
{
	u64 ticks = tsc - READ_ONCE(c->tsc);

	/* The counters of two CPUs may differ by some ticks. */
	if (unlikely((s64)ticks < 0))
		return READ_ONCE(c->ns);
	return READ_ONCE(c->ns) + gtp_scale(ticks, &c->rate);
}

#endif /* _GTP_CPU_H */
