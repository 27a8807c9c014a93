// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs with machine code have the same frames as runs without it. Other tests check when machine
 * code is made.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "fake_code.h"
#include "fake_target.h"
#include <cmocka.h>

#include "user/jit/exec_user.h"
#include "tests/fuzz/axgen.h"

enum {
	PAGE = 4096,
	MEM = 0x20000000, /* mapped in this process, and in the fake machine */
	LIMIT = 0x7fff0000,
	AT = 0x1000, /* the tracepoint's address */
	ITEMS_MAX = 6,
	CASES = 4000,
	CYCLES = 10000,
	TSV = 0x50, /* the first of four variables */
};

static struct jit_user *arena;
static struct {
	u32 begun, made, wholes, pieces, ended, forgotten;
	u32 fail_at; /* the number of the request that fails with @error, from 1 */
	int error;
} code;

/* --- the target's callbacks, as in the kernel --- */

static int code_begin(void *ctx, const struct gtp_tsvs *tsvs, struct gtp_why *why)
{
	code.begun++;
	arena->ways = tsvs->ways;
	arena->slots = tsvs->slot;
	return 0;
}

static int fails(struct gtp_why *why)
{
	if (++code.made != code.fail_at)
		return 0;
	gtp_why(why, "no memory");
	return code.error;
}

static int code_make(void *ctx, struct gtp_expr *e, u64 pc, struct gtp_why *why)
{
	int err = fails(why);

	if (err)
		return err;
	e->compiled = (void *)jit_user_compile(arena, &e->ax, pc, code.made % 14, NULL);
	assert_non_null(e->compiled);
	e->early = ax_jit_can_early(&e->ax, &arena->target);
	code.pieces++;
	return 0;
}

static int code_make_actions(void *ctx, struct gtp_tracepoint *tp, struct gtp_why *why)
{
	int err = fails(why);

	if (!err)
		err = fake_code_actions(arena, tp, code.made % 12);
	if (err)
		return err;
	code.wholes++;
	return 0;
}

static void code_end(void *ctx)
{
	code.ended++;
}

static void code_forget(void *ctx)
{
	code.forgotten++;
	jit_user_reset(arena);
}

static struct gtp_target_ops with_code;

static int setup(void **state)
{
	u8 *p = mmap((void *)MEM, 2 * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	assert_ptr_equal(p, MEM);
	for (u32 i = 0; i < 2 * PAGE; i++)
		p[i] = (u8)(i * 2654435761U >> 13);
	for (u32 i = 0; i < PAGE; i += 64)
		*(u64 *)(p + i) = MEM + i * 7 % (2 * PAGE);
	arena = jit_user_new(1 << 20, LIMIT);
	with_code = fake_target_ops;
	with_code.code_begin = code_begin;
	with_code.code_make = code_make;
	with_code.code_make_actions = code_make_actions;
	with_code.code_end = code_end;
	with_code.code_forget = code_forget;
	return 0;
}

static int teardown(void **state)
{
	jit_user_free(arena);
	return munmap((void *)MEM, 2 * PAGE);
}

/* --- a machine --- */

static struct fake *machine(bool jit)
{
	struct fake *f = calloc(1, sizeof(*f));
	struct gtp_why why;

	assert_int_equal(fake_init(f), 0);
	fake_map(f, MEM, (void *)MEM, 2 * PAGE);
	for (u32 i = 0; i < 4; i++) {
		char def[32];

		snprintf(def, sizeof(def), "%x:%x:0:78", TSV + i, i * 100);
		assert_int_equal(gtp_tsvs_define(&f->trace.run.tsvs, &f->mem, def, &why), 0);
	}
	if (jit)
		f->trace.target = &with_code;
	return f;
}

static void scrap(struct fake *f)
{
	assert_int_equal(fake_exit(f), 0);
	free(f);
}

/* --- random actions --- */

static void put_expr(struct axgen *g, char *to)
{
	int n = sprintf(to, "X%08X,", g->len);

	for (u32 i = 0; i < g->len; i++)
		n += sprintf(to + n, "%02x", g->code[i]);
}

/* Make an action of GDB's most frequent form: follow pointers and collect, without jumps. */
static void straight(struct axgen *g)
{
	static const u8 tail[][8] = {
		{ AX_OP_trace_quick, 8, AX_OP_ref64, AX_OP_const8, 24, AX_OP_trace, AX_OP_end },
		{ AX_OP_const8, 40, AX_OP_trace, AX_OP_end },
		{ AX_OP_trace_quick, 7, AX_OP_trace_quick, 1, AX_OP_ref32, AX_OP_pop, AX_OP_end },
		{ AX_OP_trace16, 0, 33, AX_OP_ref8, AX_OP_const8, 0, AX_OP_div_signed, AX_OP_end },
		{ AX_OP_tracev, 0, TSV + 1, AX_OP_ref64, AX_OP_trace_quick, 3, AX_OP_end },
		{ AX_OP_dup, AX_OP_const8, 0, AX_OP_trace, AX_OP_trace_quick, 16, AX_OP_end },
	};
	u32 which = axgen_pick(g, ARRAY_SIZE(tail));

	g->len = 0;
	g->code[g->len++] = AX_OP_reg;
	g->code[g->len++] = 0;
	g->code[g->len++] = (u8)(4 + axgen_pick(g, 3));
	if (axgen_pick(g, 2)) {
		g->code[g->len++] = AX_OP_const8;
		g->code[g->len++] = (u8)axgen_pick(g, 256);
		g->code[g->len++] = AX_OP_add;
	}
	memcpy(g->code + g->len, tail[which], sizeof(tail[which]));
	while (g->code[g->len] != AX_OP_end || g->code[g->len - 1] == AX_OP_trace_quick)
		g->len++;
	g->len++;
}

static void put_item(struct axgen *g, char *to)
{
	switch (axgen_pick(g, 9)) {
	case 0:
		sprintf(to, "R%x", axgen_pick(g, 1 << 20));
		break;
	case 1:
		sprintf(to, "M-1,%llx,%x", axgen_addr(g), 1 + axgen_pick(g, 60));
		break;
	case 2:
		sprintf(to, "M%x,%x,%x", 4 + axgen_pick(g, 3), axgen_pick(g, 64),
			1 + axgen_pick(g, 40));
		break;
	case 3:
		axgen_make(g, 12);
		put_expr(g, to);
		break;
	case 4:
		g->added = TSV + axgen_pick(g, 4);
		axgen_make_add(g, 8);
		put_expr(g, to);
		break;
	default:
		straight(g);
		put_expr(g, to);
	}
}

/* Make a condition, which is an expression that collects nothing. */
static void make_condition(struct axgen *g)
{
	static struct ax_point points[AXGEN_CODE_MAX];
	struct ax_verified v;
	struct ax_error err;

	do {
		axgen_make(g, 8);
		assert_int_equal(ax_verify(g->code, g->len, AX_CONDITION, points, &v, &err), AX_OK);
	} while (v.flags & AX_F_COLLECTS);
}

static void define(struct axgen *g, struct fake *a, struct fake *b)
{
	static char acts[1 + ITEMS_MAX * 2 * AXGEN_CODE_MAX], cond[64 + 2 * AXGEN_CODE_MAX];
	u32 n = axgen_pick(g, ITEMS_MAX + 1), at = 0;

	acts[0] = '\0';
	/* Collect static data first, because machine code does so before all other actions. */
	if (a->marker)
		at = (u32)sprintf(acts, "L");
	while (n--) {
		put_item(g, acts + at);
		at += (u32)strlen(acts + at);
	}
	at = (u32)sprintf(cond, "1:%x:E:0:0", AT);
	if (!axgen_pick(g, 3)) {
		make_condition(g);
		cond[at++] = ':';
		put_expr(g, cond + at);
	}
	assert_non_null(fake_define(a, cond, *acts ? acts : NULL));
	assert_non_null(fake_define(b, cond, *acts ? acts : NULL));
}

static void fire(struct axgen *g, struct fake *a, struct fake *b)
{
	struct gtp_regs regs;

	for (u32 i = 0; i < sizeof(regs) / 8; i++)
		((u64 *)&regs)[i] = axgen_value(g);
	regs.rsi = axgen_addr(g);
	regs.rdi = axgen_addr(g);
	regs.rbp = axgen_addr(g);
	fake_fire(a, AT, &regs);
	fake_fire(b, AT, &regs);
}

static void start(struct fake *f)
{
	struct gtp_why why = { "" };

	if (gtp_trace_start(&f->trace, &why))
		fail_msg("%s", why.text);
}

static void finish(struct fake *f)
{
	gtp_trace_settle(&f->trace);
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
}

static u32 ended[GTP_STOP_ERROR + 1];
static u32 added; /* the number of variables to which runs only added */

static void compare(struct fake *a, struct fake *b)
{
	char *frames = strdup(fake_frames(a));
	char *status = strdup(fake_status(a));

	assert_string_equal(frames, fake_frames(b));
	assert_string_equal(status, fake_status(b));
	assert_string_equal(a->printed, b->printed);
	for (u32 i = TSV; i < TSV + 4; i++)
		assert_int_equal(a->trace.run.tsvs.slot[i]->value,
				 b->trace.run.tsvs.slot[i]->value);
	ended[a->trace.stop]++;
	free(frames);
	free(status);
}

/*
 * Let hits of machine @b read the time from the processor's counter. The clocks of both machines
 * stand still.
 */
static void use_counter(struct fake *a, struct fake *b)
{
	/* The counter does not advance, and neither does the clock. */
	static struct gtp_calibration still;

	still.ns = b->clock;
	a->clock_step = 0;
	b->clock_step = 0;
	for (u32 i = 0; i < b->trace.run.ncpus; i++)
		if (b->trace.run.cpus[i])
			b->trace.run.cpus[i]->env.tsc = &still;
	assert_int_equal(gtp_trace_enable(&b->trace, 1, AT, true), 0);
}

static void one_case(struct axgen *g)
{
	struct fake *a = machine(false), *b = machine(true);
	u32 hits = 1 + axgen_pick(g, 8);

	a->trace.buffer_bytes = axgen_pick(g, 4) ? 0 : GTP_BUFFER_MIN;
	b->trace.buffer_bytes = a->trace.buffer_bytes;
	a->marker = axgen_pick(g, 3) ? 0 : AT;
	b->marker = a->marker;
	define(g, a, b);
	start(a);
	start(b);
	for (u32 i = TSV; i < TSV + 4; i++)
		added += b->trace.run.tsvs.ways[i] == AX_TSV_ADDED;
	if (axgen_pick(g, 2))
		use_counter(a, b);
	if (!axgen_pick(g, 4))
		hits *= 40; /* may fill the buffer */
	while (hits--)
		fire(g, a, b);
	finish(a);
	finish(b);
	compare(a, b);
	scrap(a);
	scrap(b);
}

static void test_same_frames(void **state)
{
	static struct axgen g = {
		.rng = 0x9e3779b97f4a7c15,
		.tsv = TSV,
		.page = { MEM, MEM + 2 * PAGE, MEM, MEM + PAGE, MEM + 2 * PAGE },
		.alias = 0xffff888000000000,
	};

	jit_user_catch_faults();
	memset(&code, 0, sizeof(code));
	for (u32 i = 0; i < CASES; i++)
		one_case(&g);
	/* All forms of code and all ends of a run must have occurred often enough. */
	assert_true(code.wholes > CASES / 10 && code.pieces > CASES / 10);
	assert_true(ended[GTP_STOP_USER] > CASES / 10 && ended[GTP_STOP_ERROR] > CASES / 10);
	assert_true(ended[GTP_STOP_FULL] > 10);
	assert_true(added > CASES / 10);
}

/* --- when it is made --- */

static struct gtp_tracepoint *define_two(struct fake *f)
{
	fake_define(f, "1:1000:E:0:0:X7,26000522071327", "R20");
	/* The size of a string is unknown, so each action is compiled by itself. */
	return fake_define(f, "2:2000:E:0:0", "X7,26000522082f27X1,27");
}

static void test_made_at_start_forgotten_at_stop(void **state)
{
	struct fake *f = machine(true);
	struct gtp_tracepoint *tp;

	memset(&code, 0, sizeof(code));
	tp = define_two(f);
	start(f);
	assert_int_equal(code.begun, 1);
	assert_int_equal(code.ended, 1);
	assert_non_null(f->trace.tps.first->cond->compiled);
	assert_non_null(f->trace.tps.first->code);
	assert_null(tp->code);
	assert_non_null(tp->actions->expr->compiled);
	code.forgotten = 0;
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	assert_int_equal(code.forgotten, 1);
	assert_null(f->trace.tps.first->cond->compiled);
	assert_null(f->trace.tps.first->code);
	assert_null(tp->actions->expr->compiled);
	scrap(f);
}

/*
 * If any request for machine code fails, nothing is armed, no code is left, and the message names
 * the tracepoint.
 */
static void test_all_or_nothing(void **state)
{
	for (u32 n = 1;; n++) {
		struct fake *f = machine(true);
		struct gtp_why why = { "" };
		int rc;

		memset(&code, 0, sizeof(code));
		code.fail_at = n;
		code.error = -ENOMEM;
		define_two(f);
		rc = gtp_trace_start(&f->trace, &why);
		if (!rc) {
			assert_int_equal(n, code.made + 1);
			assert_true(n > 4);
			scrap(f);
			return;
		}
		assert_int_equal(rc, -ENOMEM);
		assert_string_equal(why.text,
				    n < 3 ? "tracepoint 1: no memory" : "tracepoint 2: no memory");
		assert_int_equal(f->armed, 0);
		assert_null(f->trace.tps.first->cond->compiled);
		assert_null(f->trace.tps.first->code);
		assert_int_equal(code.ended, code.begun);
		scrap(f);
	}
}

/* Make a run with three hits, in which the @n-th request for machine code finds no room. */
static void run_without_room(u32 n, char *frames, size_t size)
{
	struct gtp_regs regs = { .rdi = MEM };
	struct fake *f = machine(true);
	struct gtp_tracepoint *tp;

	memset(&code, 0, sizeof(code));
	code.fail_at = n;
	code.error = -ENOSPC;
	tp = define_two(f);
	start(f);
	assert_int_equal(!!strstr(f->told, "gdbtp: 1 tracepoint is interpreted"), n > 0);
	assert_int_equal(!f->trace.tps.first->cond->compiled, n == 1);
	assert_int_equal(!f->trace.tps.first->code, n == 2);
	assert_int_equal(!tp->actions->expr->compiled, n == 3 || n == 4);
	fake_fire(f, 0x2000, &regs);
	fake_fire(f, 0x1000, &regs);
	regs.rdi = 7;
	fake_fire(f, 0x1000, &regs);
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	snprintf(frames, size, "%s", fake_frames(f));
	scrap(f);
}

/*
 * If there is no room for an expression's machine code, the expression is interpreted: the frames
 * are the same, and the user is informed.
 */
static void test_no_room(void **state)
{
	char usual[256], frames[256];

	run_without_room(0, usual, sizeof(usual));
	assert_string_equal(usual, "2@2000 m20000000=00\n1@1000 r5=7\n");
	for (u32 n = 1; n <= 4; n++) {
		run_without_room(n, frames, sizeof(frames));
		assert_string_equal(frames, usual);
	}
}

static void test_installed_during_a_run(void **state)
{
	struct fake *f = machine(true);
	struct gtp_why why = { "" };
	struct gtp_tracepoint *tp;

	memset(&code, 0, sizeof(code));
	define_two(f);
	start(f);
	tp = fake_define(f, "3:3000:E:0:0:X3,220027", "R1");
	assert_int_equal(gtp_trace_install(&f->trace, tp, &why), 0);
	assert_non_null(tp->cond->compiled);
	assert_non_null(tp->code);
	assert_int_equal(code.begun, 2);
	code.fail_at = code.made + 1;
	code.error = -ENOMEM;
	tp = fake_define(f, "4:4000:E:0:0:X3,220127", "R1");
	assert_int_equal(gtp_trace_install(&f->trace, tp, &why), -ENOMEM);
	assert_string_equal(why.text, "tracepoint 4: no memory");
	assert_null(gtp_tracepoint_find(&f->trace.tps, 4, 0x4000));
	scrap(f);
}

/* After many rounds of define, start and stop the arena is as empty as before. */
static void test_many_runs(void **state)
{
	struct fake *f = machine(true);
	u32 used = arena->used;

	memset(&code, 0, sizeof(code));
	for (u32 i = 0; i < CYCLES; i++) {
		define_two(f);
		start(f);
		assert_true(arena->used > used);
		gtp_trace_stop(&f->trace, GTP_STOP_USER);
		assert_int_equal(arena->used, used);
		gtp_trace_drop(&f->trace);
		gtp_tracepoints_clear(&f->trace.tps, &f->mem);
	}
	scrap(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_frames),
		cmocka_unit_test(test_made_at_start_forgotten_at_stop),
		cmocka_unit_test(test_all_or_nothing),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_installed_during_a_run),
		cmocka_unit_test(test_many_runs),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
