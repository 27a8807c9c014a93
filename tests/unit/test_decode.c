// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests the decoder, the disassembler and the error texts of agent expressions, by tables of cases,
 * and by random bytes in memory of exactly their size.
 */
#include "tests/unit/ax_test.h"
#include "agentexpr/ax.h"

struct decode_row {
	const char *text; /* the disassembler's output */
	enum ax_err code;
	u32 next;
	u32 len;
	u8 bytes[12];
};

static const struct decode_row decode_rows[] = {
	{ "add", AX_OK, 1, 1, { 0x02 } },
	{ "const8 200", AX_OK, 2, 2, { 0x22, 200 } },
	{ "const16 513", AX_OK, 3, 3, { 0x23, 2, 1 } },
	{ "const32 0x81200050", AX_OK, 5, 5, { 0x24, 0x81, 0x20, 0, 0x50 } },
	{ "const64 0x8000000000000001", AX_OK, 9, 9, { 0x25, 0x80, 0, 0, 0, 0, 0, 0, 1 } },
	{ "if_goto 258", AX_OK, 3, 3, { 0x20, 1, 2 } },
	{ "reg 16", AX_OK, 3, 3, { 0x26, 0, 16 } },
	{ "setv 65535", AX_OK, 3, 3, { 0x2d, 255, 255 } },
	{ "trace16 4096", AX_OK, 3, 3, { 0x30, 16, 0 } },
	{ "printf 1 \"%d\\n\"", AX_OK, 8, 8, { 0x34, 1, 0, 4, '%', 'd', '\n', 0 } },
	{ "printf 0 \"\\\"\\\\\\x7f\"", AX_OK, 8, 8, { 0x34, 0, 0, 4, '"', '\\', 0x7f, 0 } },
	{ "printf 0 \" ~\\x1f\"", AX_OK, 8, 8, { 0x34, 0, 0, 4, ' ', '~', 0x1f, 0 } },
	{ "printf 0 \"a\" no_nul", AX_OK, 5, 5, { 0x34, 0, 0, 1, 'a' } },
	{ "printf 0 \"\" no_nul", AX_OK, 4, 4, { 0x34, 0, 0, 0 } },
	{ "byte 0x00", AX_E_UNKNOWN_OPCODE, 1, 1, { 0x00 } },
	{ "byte 0x31", AX_E_UNKNOWN_OPCODE, 1, 3, { 0x31, 1, 2 } },
	{ "byte 0x35", AX_E_UNKNOWN_OPCODE, 1, 1, { 0x35 } },
	{ "byte 0xff", AX_E_UNKNOWN_OPCODE, 1, 1, { 0xff } },
	{ NULL, AX_E_OPERAND_CUT, 0, 1, { 0x22 } },
	{ NULL, AX_E_OPERAND_CUT, 0, 8, { 0x25, 1, 2, 3, 4, 5, 6, 7 } },
	{ NULL, AX_E_OPERAND_CUT, 0, 3, { 0x34, 0, 0 } },
	{ NULL, AX_E_OPERAND_CUT, 0, 5, { 0x34, 0, 0, 2, 'a' } },
	{ NULL, AX_E_OPERAND_CUT, 0, 5, { 0x34, 0, 255, 255, 'a' } },
};

static void test_rows(void **state)
{
	struct ax_insn insn;
	char text[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(decode_rows); i++) {
		const struct decode_row *r = &decode_rows[i];
		u8 *exact = test_exact(r->bytes, r->len);

		assert_int_equal(ax_decode(exact, r->len, 0, &insn), r->code);
		if (r->text) {
			ax_disasm(&insn, text, sizeof(text));
			assert_string_equal(text, r->text);
			assert_int_equal(insn.next, r->next);
		}
		free(exact);
	}
}

static void test_table(void **state)
{
	u32 known = 0;
	u32 i;

	for (i = 0; i < 256; i++) {
		const struct ax_op_info *info = &ax_op_info[i];

		assert_int_equal(info->rule != AX_RULE_invalid, !!info->name);
		assert_true(info->operand_bytes <= 8);
		known += !!info->name;
	}
	assert_int_equal(known, 51);
	assert_null(ax_op_info[0x31].name);
}

static void test_operand(void **state)
{
	static const u8 code[] = { 0x27, 0x25, 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10 };
	struct ax_insn insn;

	assert_int_equal(ax_decode(code, sizeof(code), 1, &insn), AX_OK);
	assert_int_equal(insn.pc, 1);
	assert_int_equal(insn.next, 10);
	assert_true(insn.operand == 0xfedcba9876543210ULL);
}

static void test_disasm_is_cut(void **state)
{
	static const u8 code[] = { 0x24, 0x12, 0x34, 0x56, 0x78 };
	struct ax_insn insn;
	char text[8] = "!!!!!!!";

	ax_decode(code, sizeof(code), 0, &insn);
	assert_int_equal(ax_disasm(&insn, text, 5), 18);
	assert_string_equal(text, "cons");
	assert_int_equal(text[5], '!');
	assert_int_equal(ax_disasm(&insn, NULL, 0), 18);
}

static const struct {
	struct ax_error err;
	const char *text;
} error_rows[] = {
	{ { .code = AX_OK }, "no error" },
	{ { .code = 999 }, "unknown error" },
	{ { .code = AX_NR_ERRORS }, "unknown error" },
	{ { .code = AX_E_EMPTY }, "the expression is empty" },
	{ { .code = AX_E_TOO_LONG, .arg = 20000, .arg2 = 16384 },
	  "the expression has 20000 bytes, at most 16384 are accepted" },
	{ { .code = AX_E_UNKNOWN_OPCODE, .pc = 3, .op = 0x31, .arg = 0x31 },
	  "at byte 3: 0x31 is not an opcode" },
	{ { .code = AX_E_STACK_UNDERFLOW, .pc = 4, .op = AX_OP_add, .arg = 2, .arg2 = 1 },
	  "add at byte 4: needs 2 values, the stack has 1" },
	{ { .code = AX_E_BAD_ADDRESS, .pc = 8, .op = AX_OP_ref32, .arg = 0x10, .arg2 = 4 },
	  "ref32 at byte 8: cannot read memory at 0x10 (4 bytes)" },
	{ { .code = AX_E_BAD_ADDRESS, .pc = 8, .op = AX_OP_ref64, .arg = ~0ULL, .arg2 = 8 },
	  "ref64 at byte 8: cannot read memory at 0xffffffffffffffff (8 bytes)" },
};

static void test_error_text(void **state)
{
	char text[128];
	char small[6];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(error_rows); i++) {
		const char *want = error_rows[i].text;

		assert_int_equal(ax_error_format(&error_rows[i].err, text, sizeof(text)),
				 strlen(want));
		assert_string_equal(text, want);
		assert_int_equal(ax_error_format(&error_rows[i].err, small, sizeof(small)),
				 strlen(want));
		assert_int_equal(strlen(small), 5);
		assert_memory_equal(small, want, 5);
		assert_int_equal(ax_error_format(&error_rows[i].err, NULL, 0), strlen(want));
	}
}

static void test_error_names(void **state)
{
	u32 i;

	assert_string_equal(ax_error_name(AX_OK), "OK");
	assert_string_equal(ax_error_name(AX_E_STACK_UNDERFLOW), "STACK_UNDERFLOW");
	assert_string_equal(ax_error_name(AX_NR_ERRORS), "?");
	for (i = 0; i < AX_NR_ERRORS; i++)
		assert_non_null(ax_error_name(i));
}

static void test_any_bytes(void **state)
{
	u64 seed = test_seed();
	struct ax_insn insn;
	u8 bytes[40];
	char text[200];
	u32 i, pc, len;

	for (i = 0; i < 20000; i++) {
		u8 *exact;

		len = 1 + test_random(&seed) % sizeof(bytes);
		test_random_bytes(&seed, bytes, len);
		exact = test_exact(bytes, len);
		for (pc = 0; pc < len; pc++) {
			if (ax_decode(exact, len, pc, &insn) != AX_OK)
				continue;
			assert_in_range(insn.next, pc + 1, len);
			assert_true(ax_disasm(&insn, text, sizeof(text)) > 0);
		}
		free(exact);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),	   cmocka_unit_test(test_table),
		cmocka_unit_test(test_operand),	   cmocka_unit_test(test_disasm_is_cut),
		cmocka_unit_test(test_error_text), cmocka_unit_test(test_error_names),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests_name("decode", tests, NULL, NULL);
}
