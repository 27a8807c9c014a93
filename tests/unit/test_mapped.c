// SPDX-License-Identifier: GPL-2.0-only
/* Tests the descriptions of mappings for the follower of stacks; their numbers may be anything. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "hit/mapped.h"

static const struct gtp_cfi table;
static const struct gtp_mapped_file file = {
	.cfi = &table,
	.base = 0x4700000500000000,
	.nsegments = 2,
	.segment = { { 0x1000, 0x2000, 0x401000 }, { 0x5000, 0x800, 0x606000 } },
};

static struct gtp_ustack_map map;

static bool told(u64 start, u64 end, u64 offset, const struct gtp_mapped_file *of, u64 addr)
{
	const struct gtp_mapped mapped = { start, end, offset, true };

	memset(&map, 0xee, sizeof(map));
	return gtp_mapped_describe(&mapped, of, addr, &map);
}

/* The second mapping of a file begins inside the first segment. */
static void spaces(void **state)
{
	assert_true(told(0x7f0000001000, 0x7f0000004000, 0x1000, &file, 0x7f0000002345));
	assert_true(map.start == 0x7f0000001000 && map.bytes == 0x3000 && map.offset == 0x1000);
	assert_ptr_equal(map.cfi, &table);
	assert_true(0x7f0000002345 + map.to_space == file.base + 0x402345);
	assert_true(told(0x7f0000009000, 0x7f000000a000, 0x2000, &file, 0x7f0000009001));
	assert_true(0x7f0000009001 + map.to_space == file.base + 0x402001);
	assert_true(told(0x7f0000001000, 0x7f0000009000, 0x1000, &file, 0x7f0000005010));
	assert_true(0x7f0000005010 + map.to_space == file.base + 0x606010);
	/* In no segment of code. */
	assert_true(told(0x7f0000001000, 0x7f0000009000, 0x1000, &file, 0x7f0000005800));
	assert_true(!map.to_space && map.cfi == &table);
}

static void no_file(void **state)
{
	struct gtp_mapped_file without = file;

	assert_true(told(0x1000, 0x3000, 0, NULL, 0x2000));
	assert_true(!map.cfi && !map.to_space && map.start == 0x1000 && map.bytes == 0x2000);
	without.base = 0;
	assert_true(told(0x1000, 0x3000, 0x1000, &without, 0x2000));
	assert_true(map.cfi == &table && !map.to_space);
}

static void refused(void **state)
{
	const struct gtp_mapped data = { 0x1000, 0x3000, 0x1000, false };

	assert_false(told(0x1000, 0x3000, 0, &file, 0xfff));
	assert_true(told(0x1000, 0x3000, 0, &file, 0x1000));
	assert_true(told(0x1000, 0x3000, 0, &file, 0x2fff));
	assert_false(told(0x1000, 0x3000, 0, &file, 0x3000));
	assert_false(told(0x3000, 0x1000, 0, &file, 0x2000));
	assert_false(told(~0ULL, 0, ~0ULL, &file, 0));
	assert_false(gtp_mapped_describe(&data, &file, 0x2000, &map));
	/* Any numbers are only added. */
	assert_true(told(0, ~0ULL, ~0ULL << 12, &file, ~0ULL - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spaces),
		cmocka_unit_test(no_file),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests_name("mapped", tests, NULL, NULL);
}
