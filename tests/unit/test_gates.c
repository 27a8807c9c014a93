// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pads that can follow a call of the function until it returns: the flags that the C part of the
 * pad leaves decide whether the pad goes to a gate, which calls the rest of the function.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/fuzz/padworld.h"
#include "pad_case.h"

static struct pad_case_expr cond;
static struct gtp_region region;

/* Set the region: push rbp; mov rbp, rsp; push rbx */
static void set_region(void)
{
	static const u8 bytes[] = { 0x55, 0x48, 0x89, 0xe5, 0x53 };

	region = (struct gtp_region){ .len = sizeof(bytes), .falls_out = true };
	memcpy(region.bytes, bytes, sizeof(bytes));
	for (u32 at = 0; at < sizeof(bytes); at += region.insn[region.n++].len)
		assert_int_equal(
			gtp_insn_decode(&region.insn[region.n], bytes + at, sizeof(bytes) - at), 0);
}

/* Return the target of a jump of 2 or 5 bytes, or of a conditional one of 6. */
static u64 target_of(const u8 *at, u32 *len)
{
	u64 pc = (u64)at;

	if (at[0] == 0xeb) {
		*len = 2;
		return pc + 2 + (u64)(s64)(s8)at[1];
	}
	*len = at[0] == 0x0f ? 6 : 5;
	return pc + *len + (u64)(s64)(s32)gtp_get_le(at + *len - 4, 4);
}

/*
 * After its popfq, the pad goes to the gate with a frame if CF is set, to the bare gate if ZF is
 * set, and otherwise to the copies of the displaced instructions.
 */
static void test_gates(void **state)
{
	const char *const conds[] = {
		NULL,
		"reg 5; const8 42; equal; end",
		"reg 5; const8 8; add; ref32; ext 32; const16 1000; swap; less_signed; end",
	};

	set_region();
	for (u32 i = 0; i < ARRAY_SIZE(conds); i++) {
		struct gtp_pad_gates gates = {
			.framed = padworld_at() + 0x1000,
			.bare = padworld_at() + 0x2000,
		};
		u32 copies[GTP_REGION_JUMP], len;
		struct gtp_pad_request req = {
			.region = &region,
			.at = padworld_at(),
			.number = PADWORLD_NUMBER,
			.cond = conds[i] ? pad_case_assemble(&cond, conds[i], AX_CONDITION) : NULL,
			.copies = copies,
			.gates = &gates,
		};
		const u8 *pad, *at;

		padworld_put(region.bytes, region.len);
		pad = (const u8 *)padworld_make(&req, &len);
		assert_non_null(pad);
		for (at = pad; at[0] != 0xe8 || at[5] != 0x9d; at++)
			assert_true(at < pad + len);
		at += 6;
		assert_int_equal(gtp_get_le(at, 2), 0x820f);
		assert_int_equal(target_of(at, &len), gates.framed);
		at += len;
		assert_int_equal(gtp_get_le(at, 2), 0x840f);
		assert_int_equal(target_of(at, &len), gates.bare);
		at += len;
		if (at != pad + gates.rest) {
			assert_true(at[0] == 0xeb || at[0] == 0xe9);
			assert_int_equal(target_of(at, &len), (u64)pad + gates.rest);
		}
		/* A no-op may precede the first displaced instruction. */
		assert_in_range(copies[0], gates.rest, gates.rest + 9);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gates),
	};

	padworld();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
