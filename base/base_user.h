/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of base.h for userspace: the kernel's types and names that libc lacks. */
#ifndef _GTP_BASE_USER_H
#define _GTP_BASE_USER_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>

/* The kernel's types. u64 is long long, so that "%llx" is right in the kernel and in userspace. */
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
#define noinline __attribute__((__noinline__))
#ifndef __always_inline
#define __always_inline inline __attribute__((__always_inline__))
#endif
#define fallthrough __attribute__((fallthrough))
#define static_assert _Static_assert
#define S64_MIN INT64_MIN
#define S64_MAX INT64_MAX
#define U32_MAX UINT32_MAX
#define U64_MAX UINT64_MAX
#define U16_MAX UINT16_MAX
#define gtp_claim(p) (__sync_val_compare_and_swap((p), 0, 1) == 0)
#define gtp_fetch_add(p, v) __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST)
#define gtp_replace(p, old, new) __sync_val_compare_and_swap((p), (old), (new))
#define gtp_exchange(p, v) __atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST)
#define gtp_publish(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define gtp_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define gtp_read_nocheck(p) READ_ONCE(*(p))
#define gtp_inc_local(p) ((*(p))++)
#define barrier() __asm__ __volatile__("" ::: "memory")
/* clang-format off */
#define container_of(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))
/* clang-format on */
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#endif /* _GTP_BASE_USER_H */
