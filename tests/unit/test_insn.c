// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests the instruction decoder, by rows for each kind, form and refusal. It never reads past the
 * end.
 */
#include <setjmp.h>
#include <stdlib.h>
#include "regions/insn.h"
#include <cmocka.h>

#define ALL GTP_FLAGS_ARITH
#define CF GTP_FLAG_CF
#define ZF GTP_FLAG_ZF
#define SF GTP_FLAG_SF
#define OF GTP_FLAG_OF

/* An instruction in hexadecimal, and the expected results of decoding it. */
struct row {
	const char *hex;
	enum gtp_insn_kind kind;
	u8 disp_at;
	u8 cond;
	s32 rel;
	u16 in;
	u16 out;
};

static u32 bytes_of(const char *hex, u8 *bytes)
{
	u32 n = 0;
	int used;
	unsigned int v;

	for (; sscanf(hex, " %2x%n", &v, &used) == 1; hex += used)
		bytes[n++] = (u8)v;
	return n;
}

/* Decode a heap copy of exactly these bytes, so that ASan detects a read past the end. */
static int decode(struct gtp_insn *insn, const u8 *bytes, u32 n)
{
	u8 *copy = malloc(n ? n : 1);
	int err;

	memcpy(copy, bytes, n);
	err = gtp_insn_decode(insn, copy, n);
	free(copy);
	return err;
}

static void check(const struct row *r)
{
	u8 bytes[32];
	u32 n = bytes_of(r->hex, bytes), cut;
	struct gtp_insn insn;

	if (decode(&insn, bytes, n))
		fail_msg("%s: refused", r->hex);
	if (insn.len != n || insn.kind != r->kind || insn.disp_at != r->disp_at ||
	    insn.cond != r->cond || insn.rel != r->rel || insn.flags_in != r->in ||
	    insn.flags_out != r->out)
		fail_msg("%s: len %u kind %u disp %u cond %u rel %d flags %#x %#x", r->hex,
			 insn.len, insn.kind, insn.disp_at, insn.cond, insn.rel, insn.flags_in,
			 insn.flags_out);
	for (cut = 0; cut < n; cut++)
		assert_int_equal(decode(&insn, bytes, cut), -EINVAL);
	/* The bytes after the instruction do not matter. */
	memset(bytes + n, 0xf0, sizeof(bytes) - n);
	assert_int_equal(decode(&insn, bytes, sizeof(bytes)), 0);
	assert_int_equal(insn.len, n);
}

static void plain(void **state)
{
	static const struct row rows[] = {
		{ "90", .kind = GTP_INSN_PLAIN },
		{ "f3 90", .kind = GTP_INSN_PLAIN }, /* pause */
		{ "66 90", .kind = GTP_INSN_PLAIN },
		{ "0f 1f 44 00 00", .kind = GTP_INSN_PLAIN },
		{ "66 66 2e 0f 1f 84 00 00 00 00 00", .kind = GTP_INSN_PLAIN },
		{ "f3 0f 1e fa", .kind = GTP_INSN_PLAIN }, /* endbr64 */
		{ "55", .kind = GTP_INSN_PLAIN },
		{ "41 57", .kind = GTP_INSN_PLAIN },
		{ "48 89 e5", .kind = GTP_INSN_PLAIN },
		{ "48 8b 44 24 08", .kind = GTP_INSN_PLAIN },
		{ "48 8b 04 25 00 00 00 00", .kind = GTP_INSN_PLAIN },
		{ "65 48 8b 04 25 28 00 00 00", .kind = GTP_INSN_PLAIN },
		{ "48 8d 84 c7 00 01 00 00", .kind = GTP_INSN_PLAIN },
		{ "8b 45 f8", .kind = GTP_INSN_PLAIN },
		{ "41 8b 45 00", .kind = GTP_INSN_PLAIN },
		{ "b8 01 00 00 00", .kind = GTP_INSN_PLAIN },
		{ "66 b8 01 00", .kind = GTP_INSN_PLAIN },
		{ "48 b8 01 02 03 04 05 06 07 08", .kind = GTP_INSN_PLAIN },
		{ "48 c7 c0 01 00 00 00", .kind = GTP_INSN_PLAIN },
		{ "66 c7 00 01 00", .kind = GTP_INSN_PLAIN },
		{ "c6 40 01 02", .kind = GTP_INSN_PLAIN },
		{ "a1 01 02 03 04 05 06 07 08", .kind = GTP_INSN_PLAIN },
		{ "68 01 02 03 04", .kind = GTP_INSN_PLAIN },
		{ "6a 01", .kind = GTP_INSN_PLAIN },
		{ "8f 00", .kind = GTP_INSN_PLAIN },
		{ "48 63 c7", .kind = GTP_INSN_PLAIN },
		{ "0f b6 c0", .kind = GTP_INSN_PLAIN },
		{ "f3 48 ab", .kind = GTP_INSN_PLAIN },
		{ "0f c8", .kind = GTP_INSN_PLAIN },
		{ "c8 10 00 00", .kind = GTP_INSN_PLAIN },
		{ "0f 31", .kind = GTP_INSN_PLAIN },
		{ "0f 30", .kind = GTP_INSN_PLAIN },
		{ "0f ae f0", .kind = GTP_INSN_PLAIN },
		{ "f7 d0", .kind = GTP_INSN_PLAIN },
		{ "f0 48 87 07", .kind = GTP_INSN_PLAIN },
		{ "fa", .kind = GTP_INSN_PLAIN },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		check(&rows[i]);
}

static void flags(void **state)
{
	static const struct row rows[] = {
		{ "01 d8", .kind = GTP_INSN_PLAIN, .out = ALL },
		{ "83 c0 01", .kind = GTP_INSN_PLAIN, .out = ALL },
		{ "66 81 c0 01 00", .kind = GTP_INSN_PLAIN, .out = ALL },
		{ "48 81 ec 00 01 00 00", .kind = GTP_INSN_PLAIN, .out = ALL },
		{ "3c 01", .kind = GTP_INSN_PLAIN, .out = ALL },
		{ "f0 48 01 07", .kind = GTP_INSN_PLAIN, .out = ALL },
		{ "f0 83 44 24 fc 00", .kind = GTP_INSN_PLAIN, .out = ALL },
		{ "11 d8", .kind = GTP_INSN_PLAIN, .in = CF, .out = ALL },
		{ "83 d0 01", .kind = GTP_INSN_PLAIN, .in = CF, .out = ALL },
		{ "83 d8 01", .kind = GTP_INSN_PLAIN, .in = CF, .out = ALL },
		{ "48 ff c0", .kind = GTP_INSN_PLAIN, .out = ALL & ~CF },
		{ "f0 ff 0f", .kind = GTP_INSN_PLAIN, .out = ALL & ~CF },
		{ "fe c0", .kind = GTP_INSN_PLAIN, .out = ALL & ~CF },
		{ "a8 01", .kind = GTP_INSN_PLAIN, .out = ALL },
		{ "f6 c0 01", .kind = GTP_INSN_PLAIN, .out = ALL },
		{ "f7 c0 01 00 00 00", .kind = GTP_INSN_PLAIN, .out = ALL },
		{ "66 f7 c0 01 00", .kind = GTP_INSN_PLAIN, .out = ALL },
		{ "f7 d8", .kind = GTP_INSN_PLAIN, .out = ALL },
		{ "48 f7 f1", .kind = GTP_INSN_PLAIN, .out = ALL },
		{ "c1 e0 03", .kind = GTP_INSN_PLAIN, .in = CF },
		{ "d3 e0", .kind = GTP_INSN_PLAIN, .in = CF },
		{ "0f a3 c0", .kind = GTP_INSN_PLAIN, .out = CF },
		{ "0f ba e0 01", .kind = GTP_INSN_PLAIN, .out = CF },
		{ "f0 0f ba 2f 01", .kind = GTP_INSN_PLAIN, .out = CF },
		{ "0f 94 c0", .kind = GTP_INSN_PLAIN, .cond = 4, .in = ZF },
		{ "0f 4e c1", .kind = GTP_INSN_PLAIN, .cond = 14, .in = SF | OF | ZF },
		{ "9c", .kind = GTP_INSN_PLAIN, .in = ALL },
		{ "f8", .kind = GTP_INSN_PLAIN, .out = CF },
		{ "f0 0f c1 07", .kind = GTP_INSN_PLAIN, .out = ALL },
		{ "f0 0f c7 0f", .kind = GTP_INSN_PLAIN, .in = ALL },
		{ "f3 48 0f b8 c7", .kind = GTP_INSN_PLAIN, .out = ALL },
		{ "f3 a6", .kind = GTP_INSN_PLAIN, .in = ALL },
		{ "0f 20 d8", .kind = GTP_INSN_PLAIN, .in = ALL },
		{ "0f 22 04", .kind = GTP_INSN_PLAIN, .in = ALL }, /* mod is ignored */
		{ "db e3", .kind = GTP_INSN_PLAIN, .in = ALL },
		{ "0f 01 cb", .kind = GTP_INSN_PLAIN, .in = ALL },
		{ "0f 00 2c 24", .kind = GTP_INSN_PLAIN, .in = ALL },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		check(&rows[i]);
}

static void relative(void **state)
{
	static const struct row rows[] = {
		{ "48 8b 05 00 00 00 00", .kind = GTP_INSN_RIP, .disp_at = 3 },
		{ "8b 05 00 00 00 00", .kind = GTP_INSN_RIP, .disp_at = 2 },
		{ "80 3d 01 02 03 04 00", .kind = GTP_INSN_RIP, .disp_at = 2, .out = ALL },
		{ "48 c7 05 01 02 03 04 05 06 07 08", .kind = GTP_INSN_RIP, .disp_at = 3 },
		{ "0f b6 05 01 02 03 04", .kind = GTP_INSN_RIP, .disp_at = 3 },
		{ "65 8b 05 01 02 03 04", .kind = GTP_INSN_RIP, .disp_at = 3 },
		{ "f0 ff 05 01 02 03 04", .kind = GTP_INSN_RIP, .disp_at = 3, .out = ALL & ~CF },
		{ "e8 04 03 02 01", .kind = GTP_INSN_CALL, .rel = 0x01020304, .in = ALL },
		{ "2e e8 fb ff ff ff", .kind = GTP_INSN_CALL, .rel = -5, .in = ALL },
		{ "67 e8 fb ff ff ff", .kind = GTP_INSN_CALL, .rel = -5, .in = ALL },
		{ "e9 00 00 00 80", .kind = GTP_INSN_JMP, .rel = -0x7fffffff - 1, .in = ALL },
		{ "eb fe", .kind = GTP_INSN_JMP, .rel = -2, .in = ALL },
		{ "eb 7f", .kind = GTP_INSN_JMP, .rel = 127, .in = ALL },
		{ "74 80", .kind = GTP_INSN_JCC, .rel = -128, .cond = 4, .in = ZF },
		{ "0f 82 10 00 00 00", .kind = GTP_INSN_JCC, .rel = 16, .cond = 2, .in = CF },
		{ "2e 70 01", .kind = GTP_INSN_JCC, .rel = 1, .cond = 0, .in = OF },
		{ "7c 01", .kind = GTP_INSN_JCC, .rel = 1, .cond = 12, .in = SF | OF },
		{ "7b 01", .kind = GTP_INSN_JCC, .rel = 1, .cond = 11, .in = GTP_FLAG_PF },
		{ "77 01", .kind = GTP_INSN_JCC, .rel = 1, .cond = 7, .in = CF | ZF },
		{ "e2 f0", .kind = GTP_INSN_LOOP, .rel = -16, .in = ALL },
		{ "e3 10", .kind = GTP_INSN_LOOP, .rel = 16, .in = ALL },
		{ "ff d0", .kind = GTP_INSN_CALL_REG, .in = ALL },
		{ "41 ff d3", .kind = GTP_INSN_CALL_REG, .in = ALL },
		{ "ff 15 01 02 03 04", .kind = GTP_INSN_CALL_REG, .disp_at = 2, .in = ALL },
		{ "ff 14 25 01 02 03 04", .kind = GTP_INSN_CALL_REG, .in = ALL },
		{ "ff e0", .kind = GTP_INSN_JMP_REG, .in = ALL },
		{ "3e ff e0", .kind = GTP_INSN_JMP_REG, .in = ALL },
		{ "ff 25 01 02 03 04", .kind = GTP_INSN_JMP_REG, .disp_at = 2, .in = ALL },
		{ "c3", .kind = GTP_INSN_RET, .in = ALL },
		{ "f3 c3", .kind = GTP_INSN_RET, .in = ALL },
		{ "c2 08 00", .kind = GTP_INSN_RET, .in = ALL },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		check(&rows[i]);
}

static void special(void **state)
{
	static const struct row rows[] = {
		{ "cc", .kind = GTP_INSN_INT3, .in = ALL },
		{ "0f 0b", .kind = GTP_INSN_TRAP, .in = ALL },
		{ "0f b9 c0", .kind = GTP_INSN_TRAP, .in = ALL },
		{ "67 0f b9 40 10", .kind = GTP_INSN_TRAP, .in = ALL },
		{ "fb", .kind = GTP_INSN_FIXED },
		{ "f4", .kind = GTP_INSN_FIXED, .in = ALL },
		{ "0f 01 c9", .kind = GTP_INSN_FIXED, .in = ALL }, /* mwait */
		{ "48 cf", .kind = GTP_INSN_FIXED, .in = ALL },
		{ "48 0f 07", .kind = GTP_INSN_FIXED, .in = ALL },
		{ "cd 80", .kind = GTP_INSN_FIXED, .in = ALL },
		{ "8e d0", .kind = GTP_INSN_FIXED },
		{ "8e d8", .kind = GTP_INSN_PLAIN },
		{ "c7 f8 01 02 03 04", .kind = GTP_INSN_FIXED }, /* xbegin */
		{ "c6 f8 01", .kind = GTP_INSN_FIXED },
		{ "0f b2 00", .kind = GTP_INSN_FIXED },
		{ "ca 01 00", .kind = GTP_INSN_FIXED, .in = ALL },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		check(&rows[i]);
}

static void refused(void **state)
{
	static const char *const rows[] = {
		/* clang-format off */
		"06", "0e", "27", "60", "62 f1 7c 48 28 c0", "82 c0 01", "9a 00 00 00 00 00 00",
		"c4 e2 79 18 00", "c5 f8 77", "d4 0a", "d6", "ea 00 00 00 00 00 00",
		"8f e8 78 c0 c0 01",       /* xop */
		"0f 0f c0 9e",             /* 3dnow */
		"0f 38 00 c1", "0f 3a 0f c1 04", "0f 10 c0", "0f 04", "0f ff c0",
		"66 e8 00 00 00 00",       /* the operand's size depends on the CPU's vendor */
		"66 e9 00 00 00 00", "66 0f 84 00 00 00 00", "66 74 00", "66 c3", "66 ff d0",
		"f3 e8 00 00 00 00", "f2 c3", "f2 f3 90",
		"67 e3 00", "67 a1 00 00 00 00", "67 8b 05 00 00 00 00",
		"48 66 90 90",             /* a rex that would be ignored */
		"f0 01 d8", "f0 8b 00", "f0 80 3f 01", "f0 90", "f0 0f ba 27 01",
		"c6 c8 01", "c7 08 00 00 00 00", "fe d0", "ff 18", "ff 28", "ff f8",
		"8d c0", "8e c8", "8e f0", "8c f0", "d9 c8", "d9 08", "0f 01 fa", "0f 01 28",
		"0f ba 00 01", "0f ae c0", "0f c7 c0", "0f b8 c0", "66 0f c3 00", "0f 20 c8",
		"66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 90",
		/* clang-format on */
	};
	struct gtp_insn insn;
	u8 bytes[32];
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		n = bytes_of(rows[i], bytes);
		if (!decode(&insn, bytes, n))
			fail_msg("%s: accepted", rows[i]);
	}
	/* Fourteen prefixes are the most that leave room for an opcode. */
	assert_int_equal(bytes_of("66 66 66 66 66 66 66 66 66 66 66 66 66 66 90", bytes), 15);
	assert_int_equal(decode(&insn, bytes, 15), 0);
	assert_int_equal(insn.len, 15);
}

/* For any bytes: nothing is read past the end, and the length does not exceed it. */
static void garbage(void **state)
{
	u32 seed = 1, round, i, n, accepted = 0;
	struct gtp_insn insn;
	u8 bytes[20];

	for (round = 0; round < 200000; round++) {
		for (i = 0; i < sizeof(bytes); i++) {
			seed = seed * 1664525 + 1013904223;
			bytes[i] = (u8)(seed >> 24);
		}
		n = round % (sizeof(bytes) + 1);
		if (decode(&insn, bytes, n))
			continue;
		accepted++;
		assert_in_range(insn.len, 1, n < GTP_INSN_MAX ? n : GTP_INSN_MAX);
		assert_true(!insn.disp_at || insn.disp_at + 4 <= insn.len);
		assert_in_range(insn.kind, GTP_INSN_PLAIN, GTP_INSN_FIXED);
	}
	assert_in_range(accepted, 10000, 190000);
}

static void halting(void **state)
{
	static const struct {
		const char *bytes;
		bool halts;
	} rows[] = {
		{ "f4", true },	       { "fb f4", true },	{ "0f 01 c9", true },
		{ "0f 01 fb", true },  { "fb 0f 01 c9", true }, { "fb", false },
		{ "fb 90", false },    { "0f 01 c8", false },	{ "0f 01", false },
		{ "fb 0f 01", false }, { "", false },		{ "90 f4", false },
		{ "fa", false },       { "0f 00 c9", false },
	};
	u8 bytes[20];

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		u32 n = bytes_of(rows[i].bytes, bytes);

		if (gtp_insn_halts(bytes, n) != rows[i].halts)
			fail_msg("%s", rows[i].bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain),   cmocka_unit_test(flags),   cmocka_unit_test(relative),
		cmocka_unit_test(special), cmocka_unit_test(refused), cmocka_unit_test(garbage),
		cmocka_unit_test(halting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
