// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests gtp_region_find(): every refusal, code that was changed by others or at boot, dead flags,
 * and the bounds of functions.
 */
#include <setjmp.h>
#include <stdlib.h>
#include "mini_table.h"
#include "regions/region.h"
#include <cmocka.h>

enum { FN_OFFSET = 0x1000, SPAN_SIZE = 0x3000 };

/* A function and its entries in the table. */
struct scene {
	const char *hex;
	struct mini_lists known;
};

static void make(struct mini_table *m, const struct scene *s)
{
	assert_true(mini_table_make(m, &s->known, FN_OFFSET, SPAN_SIZE));
}

static u32 bytes_of(const char *hex, u8 *bytes)
{
	u32 n = 0;
	int used;
	unsigned int v;

	for (; sscanf(hex, " %2x%n", &v, &used) == 1; hex += used)
		bytes[n++] = (u8)v;
	return n;
}

static bool only_falls; /* the value of @only_falls in the question of ask() */

/* Ask about a copy of the function's exact size, so that ASan detects a read past its end. */
static enum gtp_region_verdict ask(const struct scene *s, u32 at, struct gtp_region *r)
{
	static struct mini_table m;
	u8 bytes[256], *copy;
	struct gtp_region_ask a = { .at = at, .table = &m.table, .fn_offset = FN_OFFSET };
	enum gtp_region_verdict v;

	make(&m, s);
	a.fn_size = bytes_of(s->hex, bytes);
	copy = malloc(a.fn_size + 1);
	memcpy(copy, bytes, a.fn_size);
	copy = realloc(copy, a.fn_size ? a.fn_size : 1);
	a.fn = copy;
	a.only_falls = only_falls;
	v = gtp_region_find(&a, r);
	if (v == GTP_REGION_OK)
		assert_memory_equal(r->bytes, bytes + at, r->len);
	free(copy);
	return v;
}

#define ASK(want, at, r, ...)                                                                      \
	do {                                                                                       \
		static const struct scene scene_ = { .hex = __VA_ARGS__ };                         \
		enum gtp_region_verdict v_ = ask(&scene_, at, r);                                  \
		if (v_ != (want))                                                                  \
			fail_msg("%s at %u: %s", scene_.hex, at, gtp_region_word(v_));             \
	} while (0)

static void accepted(void **state)
{
	struct gtp_region r;

	/* mov 8(%rdi),%rax; ret: control never continues after the region */
	ASK(GTP_REGION_OK, 0, &r, "48 8b 47 08 c3 cc cc");
	assert_int_equal(r.len, 5);
	assert_int_equal(r.n, 2);
	assert_int_equal(r.insn[1].kind, GTP_INSN_RET);
	assert_false(r.falls_out);

	/* five instructions of one byte each */
	ASK(GTP_REGION_OK, 1, &r, "90 55 53 50 51 52 90");
	assert_int_equal(r.len, 5);
	assert_int_equal(r.n, 5);
	assert_true(r.falls_out);

	/* four bytes, then the longest instruction: the largest possible region */
	ASK(GTP_REGION_OK, 0, &r, "90 90 90 90 66 66 66 66 66 66 66 0f 1f 80 00 00 00 00 90 90");
	assert_int_equal(r.n, 5);
	assert_int_equal(r.len, 18);

	/* padding after a return is overwritten, too, but not copied */
	ASK(GTP_REGION_OK, 1, &r, "90 c3 cc cc cc cc 90");
	assert_int_equal(r.len, 5);
	assert_int_equal(r.n, 1);
	assert_false(r.falls_out);
	ASK(GTP_REGION_OK, 0, &r, "c3 66 2e 0f 1f 84 00 00 00 00 00");
	assert_int_equal(r.len, 11);
	assert_int_equal(r.n, 1);

	/* a call that ends the region, direct or not */
	ASK(GTP_REGION_OK, 1, &r, "90 e8 00 00 00 00 c3");
	assert_int_equal(r.insn[0].kind, GTP_INSN_CALL);
	assert_true(r.falls_out);
	ASK(GTP_REGION_OK, 1, &r, "90 55 53 50 ff d0 c3");
	assert_int_equal(r.n, 4);

	/* a jump to the region's own first byte, and one to right after its five bytes */
	ASK(GTP_REGION_OK, 0, &r, "48 ff c8 75 fb c3 cc cc cc");
	assert_int_equal(r.insn[1].kind, GTP_INSN_JCC);
	ASK(GTP_REGION_OK, 2, &r, "75 05 48 89 c3 90 90 c3", .known.leaders = { 7 });

	/* leaders before the region, at its first byte, and right after its five bytes */
	ASK(GTP_REGION_OK, 2, &r, "55 53 48 89 c3 90 90 90 c3", .known.leaders = { 1, 2, 7 });
}

static void refused(void **state)
{
	struct gtp_region r;

	ASK(GTP_REGION_NOT_START, 1, &r, "48 89 c3 48 89 c3 90 90");
	ASK(GTP_REGION_NOT_START, 5, &r, "90 48 b8 11 22 33 44 55 66 77 88 90");
	ASK(GTP_REGION_NOT_START, 8, &r, "90 90 90 90 90 90 90 90");
	ASK(GTP_REGION_NOT_START, U32_MAX, &r, "90 90 90 90 90 90 90 90");
	ASK(GTP_REGION_END, 4, &r, "90 90 90 90 90 90 90 90");
	ASK(GTP_REGION_END, 0, &r, "90 90 90 90");
	/* unknown instructions before, in and after the region; one is cut off by the function */
	ASK(GTP_REGION_UNKNOWN_CODE, 4, &r, "c5 f8 77 90 90 90 90 90 90");
	ASK(GTP_REGION_UNKNOWN_CODE, 0, &r, "90 90 c5 f8 77 90");
	ASK(GTP_REGION_UNKNOWN_CODE, 0, &r, "90 90 90 90 90 90 90 c5 f8 77");
	ASK(GTP_REGION_UNKNOWN_CODE, 0, &r, "90 90 90 90 90 90 48 89");
	ASK(GTP_REGION_UNKNOWN_CODE, 0, &r, "90 90 90 90 48 b8 00 00");
	/* leaders from the table, then jumps that exist only in the live code */
	ASK(GTP_REGION_LEADER, 0, &r, "90 90 90 90 90 90", .known.leaders = { 1 });
	ASK(GTP_REGION_LEADER, 0, &r, "90 90 90 90 90 90", .known.leaders = { 4 });
	ASK(GTP_REGION_LEADER, 0, &r, "90 90 90 90 90 90 eb f9");
	ASK(GTP_REGION_LEADER, 2, &r, "74 01 90 90 90 90 90 90");
	ASK(GTP_REGION_LEADER, 0, &r, "90 90 90 90 90 e8 f8 ff ff ff");
	ASK(GTP_REGION_LEADER, 0, &r, "90 90 90 90 90 e2 fd");
	ASK(GTP_REGION_LEADER, 0, &r, "90 74 00 90 90 90 90");
	/*
	 * sites that are patched at run time: at the region's start, in it, reached by its last
	 * instruction
	 */
	ASK(GTP_REGION_SITE, 1, &r, "90 0f 1f 44 00 00 90", .known.sites = { 1 });
	ASK(GTP_REGION_SITE, 1, &r, "90 55 53 0f 1f 44 00 00 90", .known.sites = { 3 });
	ASK(GTP_REGION_OK, 6, &r, "90 0f 1f 44 00 00 55 53 55 53 55", .known.sites = { 1 });
	ASK(GTP_REGION_OK, 1, &r, "90 55 53 55 53 55 0f 1f 44 00 00", .known.sites = { 6 });
	ASK(GTP_REGION_FAULT, 1, &r, "90 55 48 8b 07 90 90 90", .known.faults = { 2 });
	ASK(GTP_REGION_FAULT, 1, &r, "90 55 53 55 53 48 8b 07 90", .known.faults = { 5 });
	ASK(GTP_REGION_OK, 1, &r, "90 55 53 55 53 55 48 8b 07", .known.faults = { 6 });
	/* calls that return into the jump */
	ASK(GTP_REGION_RETURN, 1, &r, "90 ff d0 90 90 90 90");
	ASK(GTP_REGION_RETURN, 1, &r, "90 ff 50 08 90 90 90");
	/* a jump through a register: only if all its targets are known */
	ASK(GTP_REGION_INDIRECT, 0, &r, "90 90 90 90 90 90 ff e0");
	ASK(GTP_REGION_OK, 0, &r, "90 90 90 90 90 90 ff e0", .known.flags = GTP_TABLE_COMPLETE);
	/* the function tracer's call or nop at the start, after an endbr, after a sealed one */
	ASK(GTP_REGION_SITE, 0, &r, "0f 1f 44 00 00 90 90");
	ASK(GTP_REGION_SITE, 0, &r, "e8 00 00 01 00 90 90");
	ASK(GTP_REGION_SITE, 4, &r, "f3 0f 1e fa 0f 1f 44 00 00 90 90");
	ASK(GTP_REGION_SITE, 0, &r, "0f 1f 40 00 0f 1f 44 00 00 90 90");
	ASK(GTP_REGION_OK, 5, &r, "0f 1f 44 00 00 55 53 50 51 52");
}

static void not_movable(void **state)
{
	struct gtp_region r;

	/* instructions that cannot be moved: ud2, endbr, sti, int, the instruction after sti */
	ASK(GTP_REGION_COPY, 1, &r, "90 0f 0b 90 90 90 90");
	ASK(GTP_REGION_COPY, 1, &r, "90 f3 0f 1e fa 90 90");
	ASK(GTP_REGION_COPY, 1, &r, "90 fb 90 90 90 90 90");
	ASK(GTP_REGION_COPY, 1, &r, "90 55 cd 80 90 90 90");
	ASK(GTP_REGION_COPY, 2, &r, "90 fb 90 90 90 90 90");
	ASK(GTP_REGION_COPY, 1, &r, "90 55 f4 90 90 90 90");
	ASK(GTP_REGION_COPY, 1, &r, "90 55 0f 01 c9 90 90");
	/*
	 * a ds prefix, in whose place the kernel may write lock; before a call, ds is only a hint
	 */
	ASK(GTP_REGION_COPY, 1, &r, "90 55 3e 48 ff 07 90 90");
	ASK(GTP_REGION_COPY, 1, &r, "90 55 66 3e ff 07 90 90");
	ASK(GTP_REGION_OK, 1, &r, "90 f0 48 ff 07 90 90 90");
	ASK(GTP_REGION_OK, 1, &r, "90 55 53 3e ff d0 90 90");
}

/* For functions of programs, the table has their bounds and the proofs of their jumps. */
static void program(void **state)
{
	struct gtp_region r;

	ASK(GTP_REGION_OK, 0, &r, "90 90 90 90 90 c3", .known.flags = GTP_TABLE_PROGRAM,
	    .known.last = 5);
	/* functions that are not in the list; that are longer or shorter in the list */
	ASK(GTP_REGION_BOUNDS, 0, &r, "90 90 90 90 90 c3", .known.flags = GTP_TABLE_PROGRAM);
	ASK(GTP_REGION_BOUNDS, 0, &r, "90 90 90 90 90 c3", .known.flags = GTP_TABLE_PROGRAM,
	    .known.last = 6);
	ASK(GTP_REGION_BOUNDS, 0, &r, "90 90 90 90 90 c3", .known.flags = GTP_TABLE_PROGRAM,
	    .known.last = 4);
	/* a jump through a register: only if it is proven for this function */
	ASK(GTP_REGION_INDIRECT, 0, &r, "90 90 90 90 90 90 ff e0", .known.flags = GTP_TABLE_PROGRAM,
	    .known.last = 7);
	ASK(GTP_REGION_OK, 0, &r, "90 90 90 90 90 90 ff e0", .known.flags = GTP_TABLE_PROGRAM,
	    .known.last = 7, .known.proven = true);
	/* GTP_TABLE_COMPLETE is about stored addresses, and proves no jump table of a program. */
	ASK(GTP_REGION_INDIRECT, 0, &r, "90 90 90 90 90 90 ff e0",
	    .known.flags = GTP_TABLE_PROGRAM | GTP_TABLE_COMPLETE, .known.last = 7);
	ASK(GTP_REGION_BOUNDS, 0, &r, "90 90 90 90 90 90 ff e0", .known.flags = GTP_TABLE_PROGRAM,
	    .known.proven = true);
	/* A table of the kernel has no list of functions. */
	ASK(GTP_REGION_OK, 0, &r, "90 90 90 90 90 c3", .known.last = 4);
}

/* A function of a program must have the same first and last byte as in the table. */
static void other_function(void **state)
{
	static const struct scene scene = { .hex = "90 90 90 90 90 c3",
					    .known = { .flags = GTP_TABLE_PROGRAM, .last = 5 } };
	static struct mini_table m;
	u8 bytes[16];
	struct gtp_region_ask a = { .fn = bytes, .table = &m.table };
	struct gtp_region r;
	u32 i, at;

	make(&m, &scene);
	a.fn_size = bytes_of(scene.hex, bytes);
	a.fn_offset = FN_OFFSET;
	assert_int_equal(gtp_region_find(&a, &r), GTP_REGION_OK);
	a.fn_offset = FN_OFFSET - 1;
	assert_int_equal(gtp_region_find(&a, &r), GTP_REGION_BOUNDS);
	/* The function without its first byte. */
	a.fn_offset = FN_OFFSET + 1;
	a.fn_size--;
	assert_int_equal(gtp_region_find(&a, &r), GTP_REGION_BOUNDS);
	/* If a list is missing, no function has bounds. */
	a.fn_offset = FN_OFFSET;
	a.fn_size++;
	for (i = MINI_LISTS; i < MINI_PROGRAM_LISTS; i++) {
		at = MINI_LIST_AT + i * GTP_TABLE_LIST + 4;
		make(&m, &scene);
		m.bytes[at] = 77;
		assert_int_equal(gtp_region_find(&a, &r),
				 i == 5 ? GTP_REGION_OK : GTP_REGION_BOUNDS);
	}
}

/* Code that other users of breakpoints and jumps, or the kernel at boot, have changed. */
static void live(void **state)
{
	struct gtp_region r;

	/* breakpoints before, in and after the region; most replace the first byte of a mov */
	ASK(GTP_REGION_OTHERS, 3, &r, "cc 89 c3 90 90 90 90 90 90");
	ASK(GTP_REGION_OTHERS, 0, &r, "90 90 cc 89 c3 90 90 90 90");
	ASK(GTP_REGION_OTHERS, 1, &r, "90 cc 90 90 90 90 90");
	ASK(GTP_REGION_OK, 0, &r, "90 90 90 90 90 cc 89 c3");
	/* the jump of an optimised kprobe, with and without remains of an instruction after it */
	ASK(GTP_REGION_OTHERS, 5, &r, "e9 00 10 00 00 55 53 50 51 52");
	ASK(GTP_REGION_OTHERS, 7, &r, "e9 00 10 00 00 89 c3 55 53 50 51 52");
	ASK(GTP_REGION_OTHERS, 0, &r, "90 90 e9 00 10 00 00 89 c3 55 53");
	/*
	 * an int3 after a call that may not return is padding only if a leader follows it
	 */
	ASK(GTP_REGION_OTHERS, 6, &r, "e8 00 00 01 00 cc 55 53 50 51 52 90");
	ASK(GTP_REGION_OK, 6, &r, "e8 00 00 01 00 cc 55 53 50 51 52 90", .known.leaders = { 6 });
	/* after a return: without return thunks, with padding; and with a jump to the thunk */
	ASK(GTP_REGION_OK, 5, &r, "c3 cc cc cc cc 55 53 50 51 52", .known.leaders = { 5 });
	ASK(GTP_REGION_OK, 5, &r, "e9 00 00 01 00 55 53 50 51 52", .known.leaders = { 5 });
	/* displaced returns: a ret together with its padding, and a jump to the return thunk */
	ASK(GTP_REGION_OK, 1, &r, "5b c3 cc cc cc cc 55", .known.leaders = { 6 });
	assert_int_equal(r.n, 1);
	ASK(GTP_REGION_OK, 1, &r, "5b e9 00 00 01 00 55", .known.leaders = { 6 });
	assert_int_equal(r.n, 1);
	assert_int_equal(r.insn[0].kind, GTP_INSN_JMP);
	/* a retpoline's call that boot has made a short call with padding */
	ASK(GTP_REGION_RETURN, 0, &r, "ff d0 0f 1f 00 90 90");
	ASK(GTP_REGION_RETURN, 0, &r, "55 53 ff d0 0f 1f 00");
	ASK(GTP_REGION_OK, 0, &r, "55 53 50 ff d0 0f 1f 00");
	/* code after a jump label that is on runs again when the label is off */
	ASK(GTP_REGION_OK, 6, &r, "90 e9 05 00 00 00 55 53 50 51 52 90", .known.leaders = { 11 },
	    .known.sites = { 1 });
	ASK(GTP_REGION_OTHERS, 6, &r, "90 e9 05 00 00 00 55 53 50 51 52 90",
	    .known.leaders = { 11 });
}

static void flags(void **state)
{
	struct gtp_region r;

	/*
	 * dead flags: the displaced instructions overwrite them, or the instructions after them
	 */
	ASK(GTP_REGION_OK, 1, &r, "90 55 48 39 c8 90 90");
	assert_true(r.flags_dead);
	ASK(GTP_REGION_OK, 1, &r, "90 55 53 50 51 52 48 85 c0 74 00");
	assert_true(r.flags_dead);
	/* live flags: the function ends, branches or calls before they are overwritten */
	ASK(GTP_REGION_OK, 1, &r, "90 55 53 50 51 52 90");
	assert_false(r.flags_dead);
	ASK(GTP_REGION_OK, 1, &r, "90 55 53 50 51 52 eb 00 48 85 c0", .known.leaders = { 8 });
	assert_false(r.flags_dead);
	ASK(GTP_REGION_OK, 1, &r, "90 e8 00 00 01 00 48 85 c0");
	assert_false(r.flags_dead);
	/* flags that are read first; that are kept in part; of which only the carry is read */
	ASK(GTP_REGION_OK, 1, &r, "90 0f 94 c0 55 53 48 85 c0");
	assert_false(r.flags_dead);
	ASK(GTP_REGION_OK, 1, &r, "90 48 ff c0 55 53 c3");
	assert_false(r.flags_dead);
	ASK(GTP_REGION_OK, 1, &r, "90 48 ff c0 55 53 48 83 d0 00");
	assert_false(r.flags_dead);
	ASK(GTP_REGION_OK, 1, &r, "90 48 ff c0 55 53 48 83 c0 00");
	assert_true(r.flags_dead);
	ASK(GTP_REGION_OK, 1, &r, "90 48 85 c0 55 53 48 83 d0 00");
	assert_true(r.flags_dead);
	/* a jump label after the region may become a jump */
	ASK(GTP_REGION_OK, 1, &r, "90 55 53 50 51 52 0f 1f 44 00 00 48 85 c0",
	    .known.sites = { 6 });
	assert_false(r.flags_dead);
}

static void no_table(void **state)
{
	static const struct scene scene = { .hex = "90 90 90 90 90 90" };
	static const u32 wrong[][3] = {
		{ 1, FN_OFFSET, 6 },
		{ 0, SPAN_SIZE - 5, 6 },
		{ 0, SPAN_SIZE + 1, 6 },
		{ 0, U32_MAX - 3, 6 },
	};
	static struct mini_table m;
	u8 bytes[16];
	struct gtp_region_ask a = { .fn = bytes, .table = &m.table };
	struct gtp_region r;
	u32 i;

	bytes_of(scene.hex, bytes);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		make(&m, &scene);
		a.span = wrong[i][0];
		a.fn_offset = wrong[i][1];
		a.fn_size = wrong[i][2];
		assert_int_equal(gtp_region_find(&a, &r), GTP_REGION_NO_TABLE);
	}
	a.span = 0;
	a.fn_offset = SPAN_SIZE - 6;
	assert_int_equal(gtp_region_find(&a, &r), GTP_REGION_OK);
	/* Each list must be in the table: a missing list is not an empty list. */
	for (i = 0; i < MINI_LISTS; i++) {
		make(&m, &scene);
		m.bytes[MINI_LIST_AT + i * GTP_TABLE_LIST + 4] = 77;
		assert_int_equal(gtp_region_find(&a, &r), GTP_REGION_NO_TABLE);
	}
}

static void words(void **state)
{
	u32 i, j;

	for (i = 0; i <= GTP_REGION_OTHERS; i++) {
		assert_true(strlen(gtp_region_text(i)) > 5);
		for (j = 0; j < i; j++)
			assert_string_not_equal(gtp_region_word(i), gtp_region_word(j));
	}
}

/* For random bytes and entries, reads stay within bounds, and accepted regions are consistent. */
static void garbage(void **state)
{
	static const u8 common[] = { 0x90, 0x48, 0x89, 0xc3, 0xcc, 0x74, 0xeb, 0xe8, 0x55, 0x0f };
	u32 seed = 5, round, i, taken = 0;

	for (round = 0; round < 30000; round++) {
		struct scene s = { .known.flags = round & 1 };
		struct gtp_region r;
		char hex[3 * 48 + 1];
		u32 n = 1 + round % 48, at;

		for (i = 0; i < n; i++) {
			seed = seed * 1664525 + 1013904223;
			sprintf(hex + 3 * i, "%02x ",
				seed >> 30 ? common[(seed >> 8) % sizeof(common)] : seed >> 24);
		}
		s.hex = hex;
		s.known.leaders[0] = (seed >> 20) % 48;
		s.known.sites[0] = (seed >> 12) % 48;
		at = (seed >> 16) % n;
		if (ask(&s, at, &r) != GTP_REGION_OK)
			continue;
		taken++;
		assert_in_range(r.len, GTP_REGION_JUMP, GTP_REGION_MAX);
		assert_in_range(r.n, 1, GTP_REGION_JUMP);
		assert_true(at + r.len <= n);
		assert_true(s.known.leaders[0] <= at || s.known.leaders[0] >= at + GTP_REGION_JUMP);
	}
	assert_in_range(taken, 100, 20000);
}

/* A jump after the function tracer's site counts calls only if all control comes from the site. */
static void behind_a_site(void **state)
{
	struct gtp_region r;

	/* nop; mov %rdi,%rax; add %rsi,%rax; ret */
	only_falls = true;
	ASK(GTP_REGION_OK, 5, &r, "0f 1f 44 00 00 48 89 f8 48 01 f0 c3");
	assert_int_equal(r.len, 6);
	/* the same after an endbr64 */
	ASK(GTP_REGION_OK, 9, &r, "f3 0f 1e fa 0f 1f 44 00 00 48 89 f8 48 01 f0 c3");
	/* dec %rdi; jne back to after the site: a loop is not a call */
	ASK(GTP_REGION_LEADER, 5, &r, "0f 1f 44 00 00 48 83 ee 01 48 85 f6 75 f7 c3");
	/* The table has a jump from elsewhere, to the region or into it. */
	ASK(GTP_REGION_LEADER, 5, &r, "0f 1f 44 00 00 48 89 f8 48 01 f0 c3", { .leaders = { 5 } });
	ASK(GTP_REGION_LEADER, 5, &r, "0f 1f 44 00 00 48 89 f8 48 01 f0 c3", { .leaders = { 8 } });
	/* A jump from elsewhere to a place after the displaced bytes does not matter. */
	ASK(GTP_REGION_OK, 5, &r, "0f 1f 44 00 00 48 89 f8 48 01 f0 c3", { .leaders = { 11 } });
	only_falls = false;
	/* Without only_falls, jumps to the region's first byte do not matter. */
	ASK(GTP_REGION_OK, 5, &r, "0f 1f 44 00 00 48 83 ee 01 48 85 f6 75 f7 c3");
	ASK(GTP_REGION_OK, 5, &r, "0f 1f 44 00 00 48 89 f8 48 01 f0 c3", { .leaders = { 5 } });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted),	  cmocka_unit_test(refused),
		cmocka_unit_test(not_movable),	  cmocka_unit_test(program),
		cmocka_unit_test(other_function), cmocka_unit_test(live),
		cmocka_unit_test(flags),	  cmocka_unit_test(no_table),
		cmocka_unit_test(words),	  cmocka_unit_test(garbage),
		cmocka_unit_test(behind_a_site),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
