/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common code for the tests of agent expressions: cmocka, heap copies of exact size, seeded random
 * numbers.
 */
#ifndef _GTP_AX_TEST_H
#define _GTP_AX_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>
#include "base/base.h"

/*
 * test_exact - return a copy that ends where its allocation ends, so that ASan sees a read past the
 * end; the caller frees the copy
 */
static inline u8 *test_exact(const u8 *bytes, u32 len)
{
	u8 *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	return copy;
}

/*
 * test_seed - return a seed, from GTP_SEED or the clock; print it, so that a failure can be
 * repeated
 */
static inline u64 test_seed(void)
{
	const char *env = getenv("GTP_SEED");
	u64 seed = env ? strtoull(env, NULL, 0) : (u64)time(NULL);

	print_message("GTP_SEED=%llu\n", seed);
	return seed;
}

/* test_random - return the next number of splitmix64; any value of @seed is valid, even 0 */
static inline u64 test_random(u64 *seed)
{
	u64 x = *seed += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static inline void test_random_bytes(u64 *seed, u8 *bytes, u32 len)
{
	while (len--)
		*bytes++ = (u8)test_random(seed);
}

#endif /* _GTP_AX_TEST_H */
