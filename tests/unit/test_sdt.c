// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests the search for markers and semaphores in a file's notes, also in prelinked and damaged
 * files.
 */
#include <setjmp.h>
#include <stdlib.h>
#include "probe/user/sdt.h"
#include <cmocka.h>

enum {
	NAMES = 0x80,
	NOTES = 0x100,
	TABLE = 0x400,
	FILE_BYTES = TABLE + 5 * 64,
	MOST = 8,
};

/* struct made - a file, and the markers that were found in it */
struct made {
	u8 data[FILE_BYTES];
	u32 len;
	u32 notes;
	u32 n;
	u64 place[MOST], semaphore[MOST];
};

static void put(u8 *p, u64 v, u32 bytes)
{
	gtp_put_le(p, v, bytes);
}

static void section(struct made *m, u32 i, u32 name, u32 type, u64 addr, u64 at, u64 bytes)
{
	u8 *s = m->data + TABLE + i * 64;

	put(s, name, 4);
	put(s + 4, type, 4);
	put(s + 16, addr, 8);
	put(s + 24, at, 8);
	put(s + 32, bytes, 8);
}

static void note(struct made *m, const char *owner, u32 type, u64 place, u64 base, u64 semaphore)
{
	u8 *p = m->data + NOTES + m->notes;

	put(p, 8, 4);
	put(p + 4, 27, 4);
	put(p + 8, type, 4);
	memcpy(p + 12, owner, 8);
	put(p + 20, place, 8);
	put(p + 28, base, 8);
	put(p + 36, semaphore, 8);
	memcpy(p + 44, "a\0b", 3);
	m->notes += 48;
}

/* Make three markers, of which one has no semaphore, with notes of other owners between them. */
static struct made good(void)
{
	struct made m = { .len = FILE_BYTES };

	put(m.data + 40, TABLE, 8);
	put(m.data + 58, 64, 2);
	put(m.data + 60, 5, 2);
	put(m.data + 62, 4, 2);
	memcpy(m.data + NAMES + 1, ".note.stapsdt\0.stapsdt.base\0.text", 33);
	note(&m, "stapsdt", 3, 0x1000, 0x2000, 0x3000);
	note(&m, "stapsdx", 3, 0x1111, 0x2000, 0x3000);
	note(&m, "stapsdt", 3, 0x1010, 0x2000, 0);
	note(&m, "stapsdt", 4, 0x1111, 0x2000, 0x3000);
	note(&m, "stapsdt", 3, 0x1020, 0x2000, 0x3002);
	section(&m, 1, 29, 1, 0x1000, 0x1000, 0x100);
	section(&m, 2, 1, 7, 0, NOTES, m.notes);
	section(&m, 3, 15, 1, 0x2000, 0, 1);
	section(&m, 4, 0, 3, 0, NAMES, 64);
	return m;
}

static bool read_made(void *ctx, void *dst, u32 len, u64 at)
{
	struct made *m = ctx;

	/* The kernel reads a file only at offsets up to S64_MAX. */
	assert_true(at <= S64_MAX);
	if (at > m->len || len > m->len - at)
		return false;
	memcpy(dst, m->data + at, len);
	return true;
}

static void found(void *ctx, u64 place, u64 semaphore)
{
	struct made *m = ctx;

	if (m->n < MOST) {
		m->place[m->n] = place;
		m->semaphore[m->n] = semaphore;
	}
	m->n++;
}

static u32 each(struct made *m)
{
	const struct gtp_sdt sdt = { .read = read_made, .found = found, .ctx = m };

	m->n = 0;
	gtp_sdt_each(&sdt);
	return m->n;
}

static void markers(void **state)
{
	struct made m = good();

	assert_int_equal(each(&m), 3);
	assert_int_equal(m.place[0], 0x1000);
	assert_int_equal(m.semaphore[0], 0x3000);
	assert_int_equal(m.place[1], 0x1010);
	assert_int_equal(m.semaphore[1], 0);
	assert_int_equal(m.place[2], 0x1020);
	assert_int_equal(m.semaphore[2], 0x3002);

	/* As if prelink had moved the file up, and then down. */
	section(&m, 3, 15, 1, 0x2500, 0, 1);
	assert_int_equal(each(&m), 3);
	assert_int_equal(m.place[0], 0x1500);
	assert_int_equal(m.semaphore[0], 0x3500);
	assert_int_equal(m.semaphore[1], 0);
	section(&m, 3, 15, 1, 0x1ff0, 0, 1);
	assert_int_equal(each(&m), 3);
	assert_int_equal(m.place[2], 0x1010);

	/* A file without .stapsdt.base. */
	section(&m, 3, 16, 1, 0x2500, 0, 1);
	assert_int_equal(each(&m), 3);
	assert_int_equal(m.place[0], 0x1000);
}

static void damaged(void **state)
{
	struct made m = good();
	u32 i, n;

	/* A note that is longer than the section ends the list. */
	put(m.data + NOTES + 48, 0xffffffff, 4);
	assert_int_equal(each(&m), 1);
	m = good();
	put(m.data + NOTES + 100, 0xffffffff, 4);
	assert_int_equal(each(&m), 1);
	/* A note that is too short for a marker is skipped. */
	m = good();
	put(m.data + NOTES + 4, 23, 4);
	put(m.data + NOTES + 44, 0, 4);
	assert_true(each(&m) < 3);

	/* Offsets of the section table, of the names and of the notes that are outside the file. */
	for (i = 0; i < 4; i++) {
		static const u64 wild[] = { S64_MAX, U64_MAX, 0x8000000000000000, FILE_BYTES };

		m = good();
		put(m.data + 40, wild[i], 8);
		assert_int_equal(each(&m), 0);
		m = good();
		section(&m, 4, 0, 3, 0, wild[i], 64);
		assert_int_equal(each(&m), 0);
		m = good();
		section(&m, 2, 1, 7, 0, wild[i], m.notes);
		assert_int_equal(each(&m), 0);
		m = good();
		section(&m, 2, 1, 7, 0, NOTES, wild[i]);
		each(&m);
	}
	m = good();
	put(m.data + 62, 5, 2);
	assert_int_equal(each(&m), 0);

	/* The section table is at the end, so a truncated file has no names of sections. */
	for (n = 0; n < FILE_BYTES; n++) {
		m.len = n;
		assert_int_equal(each(&m), 0);
	}
	srand(1);
	for (i = 0; i < 100000; i++) {
		m = good();
		for (n = rand() % 8; n; n--)
			m.data[rand() % FILE_BYTES] = rand() % 2 ? rand() % 256 : 255;
		each(&m);
		assert_true(m.n <= FILE_BYTES / 12);
	}
}

static void semaphores(void **state)
{
	static const struct gtp_elf_segment code = { 0x1000, 0x1000, 0x100, true, false };
	static const struct gtp_elf_segment data = { 0x5dd0, 0x3dd0, 0x300, false, true };
	static const struct gtp_elf_segment byte = { 0x7001, 0x4001, 1, false, true };
	static const u64 wrong[] = { 0x1000, 0x5dcf, 0x5dce, 0x5dd1, 0x60cf,
				     0x60d0, 0x7001, 0,	     U64_MAX };
	struct gtp_elf elf = { .nsegments = 3, .segment = { code, data, byte } };
	struct gtp_why why;
	u64 offset;

	assert_int_equal(gtp_sdt_offset(&elf, 0x5dd0, &offset, &why), 0);
	assert_int_equal(offset, 0x3dd0);
	assert_int_equal(gtp_sdt_offset(&elf, 0x60ce, &offset, &why), 0);
	assert_int_equal(offset, 0x40ce);
	for (u32 i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		why.text[0] = '\0';
		assert_int_equal(gtp_sdt_offset(&elf, wrong[i], &offset, &why), -EINVAL);
		assert_non_null(strstr(why.text, "names a semaphore where its file has no data"));
	}
}

static void second(void **state)
{
	u8 code[12] = { 0x90, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, 0xcc };

	assert_true(gtp_sdt_second(code, 12));
	assert_true(gtp_sdt_second(code, 11));
	assert_false(gtp_sdt_second(code, 10));
	for (u32 i = 0; i < 11; i++) {
		code[i] ^= 1;
		assert_false(gtp_sdt_second(code, 12));
		code[i] ^= 1;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(markers),
		cmocka_unit_test(damaged),
		cmocka_unit_test(semaphores),
		cmocka_unit_test(second),
	};

	return cmocka_run_group_tests_name("sdt", tests, NULL, NULL);
}
