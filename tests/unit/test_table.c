// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of regions is read within its bounds, is rejected if it is invalid, and gives exact
 * answers.
 */
#include <setjmp.h>
#include <stdlib.h>
#include "regions/table.h"
#include <cmocka.h>

#define ROOM 65536
#define SPAN_SIZE 100000

/* A separate writer of the format, made from its description in the header file. */
struct file {
	u8 bytes[ROOM];
	u32 len;
};

static void put32(struct file *f, u32 at, u32 v)
{
	gtp_put_le(f->bytes + at, v, 4);
}

static void seal(struct file *f)
{
	put32(f, 8, f->len);
	put32(f, 12, gtp_table_crc(f->bytes + 16, f->len - 16));
}

static void put_varint(struct file *f, u32 v)
{
	for (; v >= 0x80; v >>= 7)
		f->bytes[f->len++] = (u8)(v | 0x80);
	f->bytes[f->len++] = (u8)v;
}

/* Make a file with one span ".text" and one list of hidden leaders. */
static void make(struct file *f, const u32 *entries, u32 n)
{
	u32 blocks = (n + 63) / 64, list = 56 + 48, start = list + 20, i;

	memset(f, 0, sizeof(*f));
	memcpy(f->bytes, "GTPRGN\0\1", 8);
	f->bytes[16] = 20;
	memset(f->bytes + 17, 0xab, 20);
	put32(f, 48, 1);
	put32(f, 52, 1);
	strcpy((char *)f->bytes + 56, ".text");
	gtp_put_le(f->bytes + 56 + 32, 0xffffffff81000000, 8);
	put32(f, 56 + 40, SPAN_SIZE);
	f->len = start + blocks * 8;
	for (i = 0; i < n; i++) {
		if (i % 64) {
			put_varint(f, entries[i] - entries[i - 1]);
			continue;
		}
		put32(f, start + i / 64 * 8, entries[i]);
		put32(f, start + i / 64 * 8 + 4, f->len - start);
	}
	put32(f, list + 4, GTP_TABLE_HIDDEN);
	put32(f, list + 8, n);
	put32(f, list + 12, start);
	put32(f, list + 16, f->len - start);
	seal(f);
}

/* Open a heap copy of exactly the table's size, so that ASan detects a read past the end. */
static int open_copy(const struct file *f, struct gtp_table *t, u8 **copy, const char **why)
{
	*copy = malloc(f->len ? f->len : 1);
	memcpy(*copy, f->bytes, f->len);
	return gtp_table_open(t, *copy, f->len, why);
}

static u32 random_next(u32 *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static u32 random_entries(u32 *entries, u32 n, u32 seed)
{
	u32 i, at = 0;

	for (i = 0; i < n; i++) {
		at += 1 + random_next(&seed) % (i % 7 ? 50 : 1000);
		if (at >= SPAN_SIZE)
			break;
		entries[i] = at;
	}
	return i;
}

static void answers(void **state)
{
	static const u32 sizes[] = { 0, 1, 2, 63, 64, 65, 128, 129, 500 };
	static u32 entries[512];
	static struct file f;
	size_t s;

	for (s = 0; s < ARRAY_SIZE(sizes); s++) {
		u32 n = random_entries(entries, sizes[s], (u32)s), at, next = 0, found;
		struct gtp_table_list l;
		struct gtp_table t;
		const char *why;
		u8 *copy;

		make(&f, entries, n);
		assert_int_equal(open_copy(&f, &t, &copy, &why), 0);
		assert_true(gtp_table_find(&t, 0, GTP_TABLE_HIDDEN, &l));
		assert_false(gtp_table_find(&t, 0, GTP_TABLE_DENY, &l));
		assert_true(gtp_table_find(&t, 0, GTP_TABLE_HIDDEN, &l));
		for (at = 0; at < SPAN_SIZE; at++) {
			while (next < n && entries[next] < at)
				next++;
			found = 0;
			assert_int_equal(gtp_table_next(&l, at, &found), next < n);
			assert_int_equal(found, next < n ? entries[next] : 0);
		}
		free(copy);
	}
}

static void head(void **state)
{
	static const u32 entries[] = { 5, 9 };
	static struct file f;
	struct gtp_table_span span;
	struct gtp_table t;
	const char *why;
	const u8 *id;
	u8 *copy;

	make(&f, entries, 2);
	assert_int_equal(open_copy(&f, &t, &copy, &why), 0);
	assert_int_equal(gtp_table_build_id(&t, &id), 20);
	assert_int_equal(id[0], 0xab);
	assert_int_equal(id[19], 0xab);
	gtp_table_span(&t, 0, &span);
	assert_string_equal(span.name, ".text");
	assert_true(span.addr == 0xffffffff81000000);
	assert_int_equal(span.size, SPAN_SIZE);
	free(copy);
	assert_int_equal(gtp_table_crc((const u8 *)"123456789", 9), 0xcbf43926);
}

/* Every kind of fault, each made by one change to a good table; the checksum is corrected. */
static void refusals(void **state)
{
	static const struct {
		u32 at;
		u8 byte;
		const char *why;
	} rows[] = {
		{ 0, 'X', "it is no table of regions, or one of another version" },
		{ 7, 2, "it is no table of regions, or one of another version" },
		{ 16, 32, "its build-id is too long" },
		{ 50, 1, "its directories reach past its end" },
		{ 54, 1, "its directories reach past its end" },
		{ 56 + 47, 0, NULL },
		{ 104, 1, "a list is of no span" },
		{ 104 + 10, 1, "a list is shorter than its index" },
		{ 104 + 8, 65, "a list is shorter than its index" },
		{ 104 + 8, 1, "a list is longer than its entries" },
		{ 104 + 15, 1, "a list reaches past its end" },
		{ 104 + 19, 1, "a list reaches past its end" },
		{ 104 + 16, 9, "a list does not grow" },
		{ 124 + 3, 1, "an entry lies past its span" },
		{ 124 + 4, 9, "a list's index is wrong" },
		{ 132, 0, "a list does not grow" },
		{ 133, 0x80, "a list does not grow" },
	};
	static const u32 entries[] = { 5, 9, 20 };
	static struct file f;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct gtp_table t = { .size = 77 };
		const char *why = NULL;
		u8 *copy;

		make(&f, entries, 3);
		f.bytes[rows[i].at] = rows[i].byte;
		seal(&f);
		assert_int_equal(open_copy(&f, &t, &copy, &why), rows[i].why ? -EINVAL : 0);
		if (rows[i].why) {
			assert_string_equal(why, rows[i].why);
			assert_int_equal(t.size, 77);
		}
		free(copy);
	}
}

static void damaged(void **state)
{
	static const u32 entries[] = { 5, 9, 20 };
	static struct file f;
	struct gtp_table t;
	const char *why;
	u32 i, whole;
	u8 *copy;

	make(&f, entries, 3);
	whole = f.len;
	for (i = 0; i < whole; i++) {
		f.len = i;
		assert_int_equal(open_copy(&f, &t, &copy, &why), -EINVAL);
		free(copy);
	}
	f.len = whole;
	for (i = 0; i < whole; i++) {
		f.bytes[i] ^= 0x10;
		assert_int_equal(open_copy(&f, &t, &copy, &why), -EINVAL);
		free(copy);
		f.bytes[i] ^= 0x10;
	}
	assert_int_equal(open_copy(&f, &t, &copy, &why), 0);
	free(copy);
}

/* Random bytes with a correct checksum: if the table is accepted, all of it can be read. */
static void garbage(void **state)
{
	static u32 entries[200];
	static struct file f;
	u32 seed = 1, round, opened = 0;

	for (round = 0; round < 20000; round++) {
		u32 n = random_entries(entries, 200, round), i, k, from, found;
		struct gtp_table_list l;
		struct gtp_table t;
		const char *why;
		u8 *copy;

		make(&f, entries, n);
		for (i = 0; i < 1 + round % 3; i++)
			f.bytes[16 + random_next(&seed) % (f.len - 16)] = (u8)random_next(&seed);
		seal(&f);
		if (!open_copy(&f, &t, &copy, &why)) {
			opened++;
			for (i = 0; i < t.lists_n; i++) {
				gtp_table_list(&t, i, &l);
				for (k = 0, from = 0; gtp_table_next(&l, from, &found); k++)
					from = found + 1;
				assert_int_equal(k, l.n);
			}
		}
		free(copy);
	}
	/* Acceptance and refusal must both occur, or this test would prove nothing. */
	assert_in_range(opened, 100, 19900);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers), cmocka_unit_test(head),    cmocka_unit_test(refusals),
		cmocka_unit_test(damaged), cmocka_unit_test(garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
