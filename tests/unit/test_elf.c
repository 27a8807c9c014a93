// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests reading the ELF header and the segments of programs, of damaged files, and of files that
 * are not programs.
 */
#include <setjmp.h>
#include <stdlib.h>
#include "base/space.h"
#include "probe/user/elf.h"
#include <cmocka.h>

enum { LOAD = 1, NOTE = 4, X = 1, W = 2, R = 4 };

/* struct made - a file's ELF header and program headers, which are read from exact heap copies */
struct made {
	u8 head[GTP_ELF_HEAD];
	u8 table[8 * GTP_ELF_ENTRY];
	u32 n;
};

static void put(u8 *p, u64 v, u32 bytes)
{
	gtp_put_le(p, v, bytes);
}

static struct made good(void)
{
	struct made m = { .head = "\177ELF\2\1\1" };

	put(m.head + 16, 3, 2);
	put(m.head + 18, 62, 2);
	put(m.head + 32, 64, 8);
	put(m.head + 54, GTP_ELF_ENTRY, 2);
	return m;
}

static void add(struct made *m, u32 type, u32 flags, u64 addr, u64 offset, u64 bytes)
{
	u8 *e = m->table + m->n++ * GTP_ELF_ENTRY;

	put(e, type, 4);
	put(e + 4, flags, 4);
	put(e + 8, offset, 8);
	put(e + 16, addr, 8);
	put(e + 32, bytes, 8);
	put(e + 40, bytes, 8);
	put(m->head + 56, m->n, 2);
}

/* Read a copy of exactly @len bytes, so that the sanitizer sees a read past the end. */
static int read_head(struct gtp_elf *elf, const u8 *head, u32 len, struct gtp_why *why)
{
	u8 *copy = malloc(len ? len : 1);
	int err;

	memcpy(copy, head, len);
	why->text[0] = '\0';
	err = gtp_elf_head(elf, copy, len, why);
	free(copy);
	return err;
}

static int read_made(struct gtp_elf *elf, const struct made *m, struct gtp_why *why)
{
	size_t bytes = (size_t)m->n * GTP_ELF_ENTRY;
	int err = read_head(elf, m->head, GTP_ELF_HEAD, why);
	u8 *copy;

	if (err)
		return err;
	assert_int_equal(elf->entries, m->n);
	copy = malloc(bytes);
	memcpy(copy, m->table, bytes);
	err = gtp_elf_table(elf, copy, why);
	free(copy);
	return err;
}

static void places(void **state)
{
	struct made m = good();
	const struct gtp_elf_segment *s;
	struct gtp_elf elf;
	struct gtp_why why;
	u64 offset;

	add(&m, 6, R, 0x40, 0x40, 0x2d8);
	add(&m, LOAD, R, 0, 0, 0xaf0);
	add(&m, LOAD, R | X, 0x1000, 0x1000, 0x881);
	/* As lld lays out segments: in the file, one follows directly after the other. */
	add(&m, LOAD, R | X, 0x3dd0, 0x2dd0, 0x300);
	add(&m, LOAD, R | W, 0x5dd0, 0x3dd0, 0x300);
	assert_int_equal(read_made(&elf, &m, &why), 0);
	assert_int_equal(elf.nsegments, 4);
	s = gtp_elf_code(&elf, 0x17c0);
	assert_non_null(s);
	assert_int_equal(0x17c0 - s->addr + s->offset, 0x17c0);
	s = gtp_elf_code(&elf, 0x3dd5);
	assert_non_null(s);
	assert_int_equal(0x3dd5 - s->addr + s->offset, 0x2dd5);
	assert_null(gtp_elf_code(&elf, 0xfff));
	assert_non_null(gtp_elf_code(&elf, 0x1880));
	assert_null(gtp_elf_code(&elf, 0x1881));
	assert_null(gtp_elf_code(&elf, 0x5dd0));
	assert_null(gtp_elf_code(&elf, ~0ULL));

	/* Whole pages are mapped. Segments that a process can write to are not constant. */
	assert_true(gtp_elf_constant(&elf, 0x1ff8, 8, &offset));
	assert_int_equal(offset, 0x1ff8);
	assert_false(gtp_elf_constant(&elf, 0x1ff8, 9, &offset));
	assert_true(gtp_elf_constant(&elf, 0x3000, 0x1000, &offset));
	assert_int_equal(offset, 0x2000);
	assert_false(gtp_elf_constant(&elf, 0x5dd0, 1, &offset));
	assert_false(gtp_elf_constant(&elf, 0x7000, 1, &offset));
	assert_false(gtp_elf_constant(&elf, ~0ULL, 1, &offset));
}

static void refused(void **state)
{
	static const u8 text[] = "#!/bin/sh\n";
	struct gtp_elf elf;
	struct gtp_why why;
	struct made m = good();
	u32 len;

	assert_int_equal(read_head(&elf, text, sizeof(text) - 1, &why), -ENOEXEC);
	assert_non_null(strstr(why.text, "is no ELF file"));
	add(&m, LOAD, R | X, 0x1000, 0x1000, 0x881);
	assert_int_equal(read_made(&elf, &m, &why), 0);
	for (len = 0; len < GTP_ELF_HEAD; len++) {
		assert_int_equal(read_head(&elf, m.head, len, &why), -ENOEXEC);
		assert_true(*why.text);
	}
	m.head[4] = 1;
	assert_int_equal(read_made(&elf, &m, &why), -ENOEXEC);
	assert_non_null(strstr(why.text, "is not for x86-64"));
	m.head[4] = 2;
	put(m.head + 16, 1, 2);
	assert_int_equal(read_made(&elf, &m, &why), -ENOEXEC);
	assert_non_null(strstr(why.text, "neither a program nor a library"));
	put(m.head + 16, 2, 2);
	put(m.head + 54, 32, 2);
	assert_int_equal(read_made(&elf, &m, &why), -ENOEXEC);
	put(m.head + 54, GTP_ELF_ENTRY, 2);
	put(m.head + 56, 0, 2);
	assert_int_equal(read_head(&elf, m.head, GTP_ELF_HEAD, &why), -ENOEXEC);
	put(m.head + 56, GTP_ELF_ENTRIES + 1, 2);
	assert_int_equal(read_head(&elf, m.head, GTP_ELF_HEAD, &why), -ENOEXEC);
	put(m.head + 56, 1, 2);
	put(m.head + 32, S64_MAX, 8);
	assert_int_equal(read_head(&elf, m.head, GTP_ELF_HEAD, &why), -ENOEXEC);
}

static void refused_segments(void **state)
{
	const u64 end = 1ULL << GTP_SPACE_SHIFT;
	static const struct {
		u64 addr, offset, bytes;
	} rows[] = {
		{ 1ULL << GTP_SPACE_SHIFT, 0, 1 }, { 0x1000, 0x1000, 1ULL << GTP_SPACE_SHIFT },
		{ ~0ULL - 0xfff, 0x1000, 0x1000 }, { 0x1000, ~0ULL - 0xfff, 0x1000 },
		{ 0x1000, 0x1001, 0x100 },	   { 0x1000, 0x1000, ~0ULL },
	};
	struct gtp_elf elf;
	struct gtp_why why;
	struct made m;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		m = good();
		add(&m, LOAD, R | X, rows[i].addr, rows[i].offset, rows[i].bytes);
		assert_int_equal(read_made(&elf, &m, &why), -ENOEXEC);
		assert_true(*why.text);
	}
	m = good();
	add(&m, LOAD, R | X, end - 0x1000, 0x1000, 0x1000);
	assert_int_equal(read_made(&elf, &m, &why), 0);
	m = good();
	add(&m, LOAD, R | W, 0x1000, 0x1000, 0x1000);
	assert_int_equal(read_made(&elf, &m, &why), -ENOEXEC);
	assert_non_null(strstr(why.text, "has no code"));
	m = good();
	add(&m, LOAD, R | X, 0x1000, 0x1000, 0);
	assert_int_equal(read_made(&elf, &m, &why), -ENOEXEC);
}

/* notes_of - return the length of the build-id that is found in a heap copy of these notes */
static u32 notes_of(struct gtp_elf *elf, const u8 *notes, u32 len)
{
	u8 *copy = malloc(len ? len : 1);

	memcpy(copy, notes, len);
	elf->id_bytes = 0;
	gtp_elf_notes(elf, copy, len);
	free(copy);
	return elf->id_bytes;
}

static void build_id(void **state)
{
	/* A note with an ABI tag, then the note with the build-id. */
	static const u8 notes[] = "\4\0\0\0\5\0\0\0\1\0\0\0GNU\0abcde\0\0\0"
				  "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\xde\xad\xbe\xef";
	struct gtp_elf elf = { 0 };
	u8 wild[64];
	u32 len, i;

	assert_int_equal(notes_of(&elf, notes, sizeof(notes) - 1), 4);
	assert_memory_equal(elf.id, "\xde\xad\xbe\xef", 4);
	for (len = 0; len < sizeof(notes) - 1; len++)
		assert_int_equal(notes_of(&elf, notes, len), 0);
	srand(1);
	for (i = 0; i < 100000; i++) {
		for (len = 0; len < sizeof(wild); len++)
			wild[len] = rand() % 8 ? rand() % 16 : rand() % 256;
		notes_of(&elf, wild, (u32)(rand() % (int)sizeof(wild)));
	}
}

static void addresses(void **state)
{
	u64 base = gtp_space_base(5);

	assert_true(gtp_space_is(base));
	assert_true(gtp_space_is(gtp_space_base(GTP_SPACE_NUMBERS - 1) + (1ULL << GTP_SPACE_SHIFT) -
				 1));
	assert_false(gtp_space_is(0xffffffff81000000));
	assert_false(gtp_space_is(0x00007fffffffffff));
	assert_false(gtp_space_is(0x00ffffffffffffff));
	assert_true(gtp_space_is_same(base, base + 0xfffffffff));
	assert_false(gtp_space_is_same(base, base + 0x1000000000));
	assert_int_equal(gtp_space_linked(base + 0x17c0), 0x17c0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places),	    cmocka_unit_test(refused),
		cmocka_unit_test(refused_segments), cmocka_unit_test(build_id),
		cmocka_unit_test(addresses),
	};

	return cmocka_run_group_tests_name("elf", tests, NULL, NULL);
}
