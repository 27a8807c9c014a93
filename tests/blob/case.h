/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the tests of the agent: threads that make hits, and their frames. */
#ifndef _GTP_BLOB_CASE_H
#define _GTP_BLOB_CASE_H

#include <pthread.h>

#include "tests/blob/places.h"
#include "tests/blob/tap.h"
#include "tests/blob/world.h"

enum { CALLS = 1000000 };

/* clang-format off */
#define A_ABOVE(n)	"260005" n "2b1427"	/* rdi > n, as GDB compiles it */
/* clang-format on */

extern struct world w;

/* sink - receives results, so that the compiler leaves no call out */
extern long sink;

/* struct job - a thread that calls place_add(i, @id) for each i below @calls */
struct job {
	u32 id;
	u32 calls;
	long sum;
	pthread_t thread;
};

void *call_add(void *arg);

/* reg_of - return the n-th collected register of a frame, whose first block is one of registers */
u64 reg_of(const struct gtp_frame *f, u32 n);

struct gtp_totals totals(void);

/* The tests in unharmed.c */
void test_registers(void);
void test_values(void);
void test_small_stack(void);
void test_signals(void);
void test_first_hit(void);
void test_memory(void);
void test_bad_memory(void);
void test_error_ends(void);

#endif /* _GTP_BLOB_CASE_H */
