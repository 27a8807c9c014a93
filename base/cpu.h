/* SPDX-License-Identifier: GPL-2.0-only */
/* The words that only the processor has, for x86-64: its counter, a wide product, its order. */
#ifndef _GTP_CPU_H
#define _GTP_CPU_H

#include "base/base.h"

#ifdef __KERNEL__
#include <asm/tsc.h>

/* gtp_read_tsc - the processor's counter, not before what comes before it */
#define gtp_read_tsc() rdtsc_ordered()
#else
#define gtp_read_tsc() __builtin_ia32_rdtscp(&(u32){ 0 })
#endif

/*
 * gtp_order_loads - loads after it are not done before those in front of it
 *
 * x86 keeps the order of loads, so it only holds the compiler: a plain read before it is as good as
 * an acquire, and can be part of a comparison.
 */
#define gtp_order_loads() barrier()

/* gtp_scale - @n * @rate, of which the low 32 bits are a fraction */
static __always_inline u64 gtp_scale(u64 n, const u64 *rate)
{
	u64 high;

	/* Not with a 16-byte type: GCC would align the stack for it. */
	__asm__("mulq %3\n\tshrdq $32, %1, %0" : "=a"(n), "=&d"(high) : "0"(n), "m"(*rate) : "cc");
	return n;
}

#endif /* _GTP_CPU_H */
