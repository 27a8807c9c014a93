/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of base.h for the kernel. Of what shared code needs, the kernel lacks only short names
 * for atomic operations.
 */
#ifndef _GTP_BASE_KERNEL_H
#define _GTP_BASE_KERNEL_H

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

/* gtp_claim - atomically change *@p from 0 to 1; true if this call has changed it */
#define gtp_claim(p) (cmpxchg((p), 0, 1) == 0)
/* gtp_fetch_add - add to @p atomically between CPUs and contexts; return the previous value */
#define gtp_fetch_add(p, v) xadd((p), (v))
/* gtp_replace - atomically store @new at @p if *@p is @old; return the previous value */
#define gtp_replace(p, old, new) cmpxchg((p), (old), (new))
/* gtp_exchange - atomically store @v at @p; return the previous value */
#define gtp_exchange(p, v) xchg((p), (v))
/* gtp_publish - store a pointer after all earlier stores; pairs with gtp_acquire() */
#define gtp_publish(p, v) smp_store_release((p), (v))
/* gtp_acquire - load a pointer; pairs with gtp_publish() */
#define gtp_acquire(p) smp_load_acquire(p)
/*
 * gtp_read_nocheck - read a word of a stack without KASAN's check, which may report it as an error
 */
#define gtp_read_nocheck(p) READ_ONCE_NOCHECK(*(p))
/*
 * gtp_inc_local - increment in one instruction: no count is lost to an interrupt or NMI of this CPU
 */
#define gtp_inc_local(p) local_inc((local_t *)(p))

#endif /* _GTP_BASE_KERNEL_H */
