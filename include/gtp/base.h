/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What shared code may use of the world around it: integer types, errno, strings, byte order.
 *
 * A shared file is compiled into the module and into userspace from one copy and includes only this
 * header and its siblings. This is the one place that asks which of the two worlds it is in.
 */
#ifndef _GTP_BASE_H
#define _GTP_BASE_H

#ifdef __KERNEL__

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/local.h>

/* gtp_claim - true for exactly one caller, whatever CPU or context; *@p is 0 before and 1 after */
#define gtp_claim(p) (cmpxchg((p), 0, 1) == 0)
/* gtp_fetch_add - atomic between CPUs and contexts; returns the value before */
#define gtp_fetch_add(p, v) xadd((p), (v))
/* gtp_publish - store a pointer so that whoever reads it sees what it points to */
#define gtp_publish(p, v) smp_store_release((p), (v))
#define gtp_acquire(p) smp_load_acquire(p)
/* gtp_inc_local - one instruction: no count is lost to an interrupt or NMI of this CPU */
#define gtp_inc_local(p) local_inc((local_t *)(p))

#else

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdarg.h>
#include <string.h>
#include <sys/types.h>

/* The kernel's widths: u64 is long long, so that one "%llx" is right in both worlds. */
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef long long s64;

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define BIT_ULL(n) (1ULL << (n))
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))
#define __must_check __attribute__((warn_unused_result))
#define __printf(f, a) __attribute__((format(printf, f, a)))
#define __always_unused __attribute__((unused))
#define fallthrough __attribute__((fallthrough))
#define static_assert _Static_assert
#define S64_MIN INT64_MIN
#define U32_MAX UINT32_MAX
#define U16_MAX UINT16_MAX
#define gtp_claim(p) (__sync_val_compare_and_swap((p), 0, 1) == 0)
#define gtp_fetch_add(p, v) __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST)
#define gtp_publish(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define gtp_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define gtp_inc_local(p) ((*(p))++)
#define barrier() __asm__ __volatile__("" ::: "memory")
#define container_of(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#endif /* __KERNEL__ */

/* gtp_round8 - round a byte count up to the 8 bytes that frames are built of */
static inline u32 gtp_round8(u32 n)
{
	return (n + 7) & ~7U;
}

/* Bytecode operands are big-endian and unaligned; RSP memory images are little-endian. */
static inline u64 gtp_get_be(const u8 *p, u32 bytes)
{
	u64 v = 0;

	while (bytes--)
		v = v << 8 | *p++;
	return v;
}

static inline void gtp_put_le(u8 *p, u64 v, u32 bytes)
{
	for (; bytes--; v >>= 8)
		*p++ = (u8)v;
}

static inline u64 gtp_get_le(const u8 *p, u32 bytes)
{
	u64 v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

#endif /* _GTP_BASE_H */
