/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * aggregate/pair.c is compiled with this header for test_pair_order.c: a read of shared memory or a
 * change of a bucket's state first lets other CPUs run.
 */
#ifndef _GTP_PAIR_STEPS_H
#define _GTP_PAIR_STEPS_H

#include "base/base.h"

/* pair_step - let other CPUs run. @of_state: the access is of a bucket's state */
void pair_step(bool of_state);

#undef gtp_acquire
#undef gtp_replace
#undef gtp_fetch_add
#undef READ_ONCE
#define gtp_acquire(p) (pair_step(true), __atomic_load_n((p), __ATOMIC_ACQUIRE))
#define gtp_replace(p, old, new) (pair_step(true), __sync_val_compare_and_swap((p), (old), (new)))
#define gtp_fetch_add(p, v) (pair_step(true), __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST))
#define READ_ONCE(x) (pair_step(false), __atomic_load_n(&(x), __ATOMIC_RELAXED))

#endif /* _GTP_PAIR_STEPS_H */
