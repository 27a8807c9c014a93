/* SPDX-License-Identifier: GPL-2.0-only */
/* Common code for the tests of pads: conditions from text, a region of one no-op, a CPU. */
#ifndef _GTP_PAD_CASE_H
#define _GTP_PAD_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pad/request.h"
#include "tests/fuzz/padtask.h"
#include "tests/fuzz/padworld.h"
#include "tools/axasm.h"

/* struct pad_case_expr - an expression, and the memory that @v points to */
struct pad_case_expr {
	u8 code[AX_MAX_LEN];
	struct ax_point points[AX_MAX_LEN];
	struct ax_verified v;
};

static inline const struct ax_verified *pad_case_assemble(struct pad_case_expr *e, const char *text,
							  enum ax_kind kind)
{
	struct ax_error err;
	char why[256];
	int len = axasm(text, e->code, sizeof(e->code), why, sizeof(why));

	if (len < 0)
		fail_msg("%s", why);
	if (ax_verify(e->code, (u32)len, kind, e->points, &e->v, &err) != AX_OK)
		fail_msg("%s at %u", ax_error_name(err.code), err.pc);
	return &e->v;
}

/* pad_case_nop - make a region of one 5-byte no-op, after which all flags are dead */
static inline void pad_case_nop(struct gtp_region *region)
{
	static const u8 nop[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

	*region = (struct gtp_region){ .len = 5, .n = 1, .falls_out = true, .flags_dead = true };
	memcpy(region->bytes, nop, sizeof(nop));
	assert_int_equal(gtp_insn_decode(&region->insn[0], nop, sizeof(nop)), 0);
}

/*
 * pad_case_cpu - set up a CPU of an active run, with a trace buffer of @size bytes; its task is
 * traced
 */
static inline void pad_case_cpu(struct gtp_cpu *cpu, struct gtp_run *run, u64 *quick, void *mem,
				u32 size)
{
	*cpu = (struct gtp_cpu){ .run = run, .quick = quick };
	gtp_buffer_init(&cpu->buf, mem, size, false);
	run->active = true;
	padworld()->task.part = (u64)(uintptr_t)cpu;
	*padtask_low() = (struct padtask_low){ .location = 1, .mask = ~0U, .value = 8 };
}

/*
 * In each of these three states a pad leaves the hit to C. pad_case_no_part - the task has no CPU;
 * pad_case_no_location - the place has no location; pad_case_is_self - the task is not traced
 */
static inline void pad_case_no_part(void)
{
	padworld()->task.part = 0;
}

static inline void pad_case_no_location(void)
{
	padtask_low()->location = 0;
}

static inline void pad_case_is_self(void)
{
	padtask_low()->value = 7;
}

#endif /* _GTP_PAD_CASE_H */
