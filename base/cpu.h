/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Primitives that depend on the processor, for x86-64: the time stamp counter, a 128-bit product,
 * the order of loads.
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

#endif /* _GTP_CPU_H */
