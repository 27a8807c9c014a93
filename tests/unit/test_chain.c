// SPDX-License-Identifier: GPL-2.0-only
/* Tests where control continues after each of the pads for several tracepoints at one place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pad_case.h"

enum { STACK_TOP = PADWORLD_STACK + PADWORLD_STACK_SIZE - 512 };

static struct {
	struct pad_case_expr cond;
	struct gtp_region region;
	struct gtp_pad_chain chain;
	struct gtp_pad_frame frame;
	struct gtp_tracepoint tp;
	struct gtp_run run;
	struct gtp_cpu cpu;
	u64 quick;
	u64 mem[64];
	struct padworld_regs regs;
	struct padworld_hit hit;
	u32 len;
} t;

static void make_frame(bool room)
{
	t.tp = (struct gtp_tracepoint){ .num = 3, .plan.in_pad = &t };
	t.tp.plan.start = sizeof(struct gtp_frame);
	padtask_frame(&t.frame, &t.tp, NULL, 0);
	pad_case_cpu(&t.cpu, &t.run, &t.quick, t.mem, room ? sizeof(t.mem) : 8);
}

static u64 make(const char *cond, bool frame, bool last)
{
	struct gtp_pad_request req = {
		.region = &t.region,
		.at = padworld_at(),
		.number = PADWORLD_NUMBER,
		.cond = cond ? pad_case_assemble(&t.cond, cond, AX_CONDITION) : NULL,
		.chain = &t.chain,
		.frame = frame ? &t.frame : NULL,
	};

	pad_case_nop(&t.region);
	t.chain = (struct gtp_pad_chain){
		.next = last ? 0 : padworld_landing(PADWORLD_NEAR),
		.after = last ? 0 : padworld_landing(PADWORLD_FAR),
	};
	padworld_put(t.region.bytes, t.region.len);
	return padworld_make(&req, &t.len);
}

static u32 run(u64 pad)
{
	u32 landing;

	t.regs = (struct padworld_regs){ .flags = 0x202 };
	t.regs.gpr[X86_RSP] = STACK_TOP;
	landing = padworld_run(&t.regs, pad, &t.hit);
	assert_int_equal(t.regs.gpr[X86_RSP], STACK_TOP);
	return landing;
}

/* A pad continues at the next pad, unless it called C, which handles all later tracepoints. */
static void test_goes_on(void **state)
{
	static const struct {
		const char *name, *cond;
		bool frame, room;
		u32 landing, hits, written;
	} rows[] = {
		{ "false", "const8 0; end", false, false, PADWORLD_NEAR, 0, 0 },
		{ "false, frame", "const8 0; end", true, true, PADWORLD_NEAR, 0, 0 },
		{ "holds", "const8 1; end", false, false, PADWORLD_FAR, 1, 0 },
		{ "written", "const8 1; end", true, true, PADWORLD_NEAR, 0, 1 },
		{ "no room", "const8 1; end", true, false, PADWORLD_FAR, 1, 0 },
		{ "written, always", NULL, true, true, PADWORLD_NEAR, 0, 1 },
		{ "no room, always", NULL, true, false, PADWORLD_FAR, 1, 0 },
		{ "fails", "const8 1; const8 0; div_signed; end", true, true, PADWORLD_FAR, 1, 0 },
		{ "faults", "const8 8; ref8; end", true, true, PADWORLD_FAR, 1, 0 },
		{ "nothing", NULL, false, false, PADWORLD_FAR, 1, 0 },
	};

	jit_user_catch_faults();
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		u32 landing;
		u64 pad;

		make_frame(rows[i].room);
		pad = make(rows[i].cond, rows[i].frame, false);
		assert_int_not_equal(pad, 0);
		landing = run(pad);
		if (landing != rows[i].landing || t.hit.count != rows[i].hits)
			fail_msg("%s: lands at %u, %llu calls of pad_hit", rows[i].name, landing,
				 t.hit.count);
		assert_int_equal(t.cpu.buf.created, rows[i].written);
	}
}

/*
 * The last pad of a chain has the displaced instructions. Earlier pads can also continue there:
 * chain.rest receives the offset in the pad.
 */
static void test_last(void **state)
{
	static const char *const conds[] = { NULL, "const8 0; end", "const8 1; end" };

	for (u32 i = 0; i < 2 * ARRAY_SIZE(conds); i++) {
		u64 pad;

		make_frame(true);
		pad = make(conds[i / 2], i % 2, true);
		assert_int_not_equal(pad, 0);
		assert_int_equal(run(pad), PADWORLD_BEHIND);
		assert_in_range(t.chain.rest, 0, t.len - 1);
		assert_int_equal(run(pad + t.chain.rest), PADWORLD_BEHIND);
		assert_int_equal(t.hit.count, 0); /* no calls in the second run */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_goes_on),
		cmocka_unit_test(test_last),
	};

	padworld();
	return cmocka_run_group_tests_name("chain", tests, NULL, NULL);
}
