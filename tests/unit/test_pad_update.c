// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests pads that call the snippet of a tracepoint that writes no frame: against the same hit that
 * C handles, in states in which the pad must leave the hit to C, and for which actions there is no
 * such pad.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

#include "aggregate/pair.h"
#include "aggregate/table.h"
#include "hit/hit.h"
#include "jit/item.h"
#include "pad/frame.h"
#include "pad_case.h"
#include "pad_steps.h"

enum {
	/* So that rsp is aligned at the call of the snippet, which the kernel does not need. */
	STACK_TOP = PADWORLD_STACK + PADWORLD_STACK_SIZE - 512 - 8,
	FLAGS = 0xcd5, /* the arithmetic flags, and DF */
	SLOTS = 3,
	ACTIONS = 3,
	TPS = 2,
	KEYS = 4,
	/* variables */
	KEPT = 300,
	SINCE,
	START,
	END,
	HIST,
	COUNT,
	KEY,
	HIST_BY_KEY,
};

/* struct side - all that hits change; there is one for the pad's hits, and one for those of C */
struct side {
	struct gtp_run run;
	struct gtp_cpu cpu;
	struct gtp_tracepoint tp[TPS];
	struct gtp_tp_stat stat[2 * SLOTS];
	u64 pair_mem[2000], table_mem[3][500];
	struct gtp_pair *pair;
	struct gtp_aggr_table *table[3];
	struct gtp_calibration tsc;
	u64 clock;
	u32 stopped;
};

/* struct actions - the actions of a tracepoint, which both sides share */
struct actions {
	struct gtp_action action[ACTIONS];
	struct gtp_expr expr[ACTIONS];
	struct pad_case_expr text[ACTIONS];
	struct ax_jit_item item[ACTIONS];
	u32 n;
	void *snippet;
	u32 len;
};

static struct {
	struct side pad, c;
	struct actions actions[TPS];
	struct gtp_location loc;
	struct gtp_region region;
	struct gtp_pad_frame frame[TPS];
	struct gtp_pad_request req;
	u64 entry[TPS];
	u32 len[TPS];
	struct padworld_regs regs;
	struct padworld_hit hit;
} t;

static const u8 ways[GTP_TSV_MAX] = {
	[KEPT] = AX_TSV_LOCAL, [SINCE] = AX_TSV_LOCAL,	      [START] = AX_TSV_START,
	[END] = AX_TSV_END,    [HIST] = AX_TSV_UPDATE,	      [COUNT] = AX_TSV_COUNT,
	[KEY] = AX_TSV_LOCAL,  [HIST_BY_KEY] = AX_TSV_UPDATE,
};

/* --- the host of hits --- */

static int host_read(void *ctx, void *dst, u64 addr, u32 len)
{
	if (addr < PADWORLD_STACK || addr + len > PADWORLD_STACK + PADWORLD_STACK_SIZE)
		return -EFAULT;
	memcpy(dst, (const void *)(uintptr_t)addr, len);
	return 0;
}

static u64 host_clock(void *ctx)
{
	struct side *s = ctx;

	return s->clock += 1000;
}

static void host_stopping(void *ctx)
{
	((struct side *)ctx)->stopped++;
}

static const struct gtp_hit_ops hit_ops = {
	.read = host_read,
	.clock = host_clock,
	.stopping = host_stopping,
};

/* --- setting up --- */

static void make_table(struct side *s, u32 i, const char *name, u16 tsv, u16 key)
{
	static struct gtp_aggr_shape shape[3];

	assert_null(gtp_aggr_parse(name, &shape[i]));
	if (key)
		gtp_aggr_add_key(&shape[i], key);
	s->table[i] = gtp_aggr_table_init(s->table_mem[i], &shape[i], KEYS);
	assert_true(gtp_aggr_table_bytes(&shape[i], KEYS) <= sizeof(s->table_mem[i]));
	s->cpu.local[GTP_TSV_TABLE + tsv] = (u64)(uintptr_t)s->table[i];
}

static void make_pair(struct side *s, u32 nkept)
{
	memset(s->pair_mem, 0, sizeof(s->pair_mem));
	assert_true(gtp_pair_bytes(4, nkept, 1) <= sizeof(s->pair_mem));
	s->pair = gtp_pair_init(s->pair_mem, 4, nkept, 1);
	s->pair->since = SINCE;
	s->pair->kept[0] = KEPT;
	gtp_tsv_set_pair(s->cpu.local, START, s->pair, 0);
	gtp_tsv_set_pair(s->cpu.local, END, s->pair, 0);
}

static void make_side(struct side *s)
{
	memset(s, 0, sizeof(*s));
	s->run.hit_ops = &hit_ops;
	s->run.ctx = s;
	s->run.nslots = SLOTS;
	s->run.active = true;
	memcpy(s->run.tsvs.ways, ways, sizeof(ways));
	s->cpu.stat = s->stat;
	gtp_hit_prepare(&s->cpu, &s->run);
	make_pair(s, 1);
	make_table(s, 0, "hist_p", HIST, 0);
	make_table(s, 1, "count_p", COUNT, 0);
	make_table(s, 2, "hist_k", HIST_BY_KEY, KEY);
}

/* Assemble and compile the actions, which are separated by "|". */
static void make_actions(struct actions *a, const char *text)
{
	struct jit_user *u = padworld()->code;
	struct ax_jit_request req = { .pc = padworld_at(), .ways = ways };
	char copy[400], *save = NULL;

	memset(a, 0, sizeof(*a));
	snprintf(copy, sizeof(copy), "%s", text);
	for (char *one = strtok_r(copy, "|", &save); one; one = strtok_r(NULL, "|", &save)) {
		struct gtp_action *action = &a->action[a->n];
		struct gtp_expr *e = &a->expr[a->n];

		pad_case_assemble(&a->text[a->n], one, AX_ACTION);
		e->ax = a->text[a->n].v;
		ax_settle_tsvs(&e->ax, ways);
		*action = (struct gtp_action){ .kind = GTP_ACTION_EXPR, .expr = e };
		a->item[a->n] = gtp_jit_item(action);
		if (a->n)
			a->action[a->n - 1].next = action;
		a->n++;
	}
	req.items = a->item;
	req.nitems = a->n;
	a->snippet = (void *)jit_user_compile_request(u, &req, &a->len, NULL);
}

static void make_tp(struct side *s, u32 i)
{
	s->tp[i] = (struct gtp_tracepoint){
		.num = 3 + i,
		.addr = padworld_at(),
		.slot = 1 + i,
		.loc = &t.loc,
		.actions = t.actions[i].action,
		.nactions = t.actions[i].n,
		.code = t.actions[i].snippet,
		.only_updates = true,
		.on = true,
		.plan.update_alone = t.actions[i].snippet,
	};
}

static u64 make_pad(u32 i, const char *cond)
{
	static struct pad_case_expr expr;
	struct gtp_pad_frame *frame = &t.frame[i];

	pad_case_nop(&t.region);
	make_tp(&t.pad, i);
	make_tp(&t.c, i);
	padtask_frame(frame, &t.pad.tp[i], t.actions[i].item, t.actions[i].n);
	frame->update = (u64)(uintptr_t)t.actions[i].snippet;
	frame->failed = (u64)(uintptr_t)gtp_hit_failed;
	frame->ways = ways;
	t.req = (struct gtp_pad_request){
		.region = &t.region,
		.at = padworld_at(),
		.number = PADWORLD_NUMBER,
		.cond = cond ? pad_case_assemble(&expr, cond, AX_CONDITION) : NULL,
		.frame = frame,
	};
	padworld_put(t.region.bytes, t.region.len);
	t.entry[i] = padworld_make(&t.req, &t.len[i]);
	return t.entry[i];
}

/* Make both sides and the pads of two tracepoints. */
static void make(const char *first, const char *second, const char *cond)
{
	jit_user_reset(padworld()->code);
	make_side(&t.pad);
	make_side(&t.c);
	make_actions(&t.actions[0], first);
	make_actions(&t.actions[1], second);
	for (u32 i = 0; i < TPS; i++) {
		assert_non_null(t.actions[i].snippet);
		assert_int_not_equal(make_pad(i, cond), 0);
	}
	padworld()->task.part = (u64)(uintptr_t)&t.pad.cpu;
	padworld()->task.tgid = 7;
	*padtask_low() = (struct padtask_low){ .location = 1, .mask = ~0U, .value = 8 };
}

/* --- running --- */

static void random_regs(void)
{
	static const u64 keys[] = {
		1, 2, PADWORLD_STACK, PADWORLD_STACK + 8, PADWORLD_STACK + 16, 0x1000
	};

	for (u32 n = 0; n < X86_NR_REGS; n++)
		t.regs.gpr[n] = keys[(u32)rand() % ARRAY_SIZE(keys)];
	t.regs.gpr[X86_RSP] = STACK_TOP;
	t.regs.flags = 0x202 | ((u64)rand() & FLAGS);
}

/* Run the pad of tracepoint @i, and check that it has preserved all registers. */
static void run_pad(u32 i, u64 flag)
{
	struct padworld_regs before = t.regs;

	pad_steps_begin(t.entry[i], t.len[i]);
	t.regs.flags |= flag;
	assert_int_equal(padworld_run(&t.regs, t.entry[i], &t.hit), PADWORLD_BEHIND);
	assert_memory_equal(t.regs.gpr, before.gpr, sizeof(before.gpr));
	assert_int_equal(t.regs.flags & FLAGS, before.flags & FLAGS);
	t.regs = before;
}

/*
 * Choose where the time of the next hit comes from: the host's clock, or the time stamp counter.
 * Two hits may have the same time, or the later one an earlier time.
 */
static void choose_clock(void)
{
	t.pad.cpu.env.tsc = rand() % 4 ? &t.pad.tsc : NULL;
	t.pad.tsc = (struct gtp_calibration){
		.ns = 5000 + (u64)rand() % 3 * 100,
		.rate = rand() % 2 ? (u64)rand() << 16 | 1 : 0,
	};
	if (!(rand() % 8))
		t.pad.tsc.tsc = 1ULL << 62; /* a time that the counter has not reached */
}

/* Let C find the time that the pad's hit had. */
static void same_clock(void)
{
	const struct gtp_calibration *tsc = t.pad.cpu.env.tsc;

	t.c.cpu.env.tsc = tsc ? &t.c.tsc : NULL;
	if (tsc)
		t.c.tsc = (struct gtp_calibration){
			.ns = gtp_calibration_ns(tsc, t.pad.cpu.env.time),
		};
}

static void run_c(u32 i)
{
	struct gtp_regs regs;

	same_clock();
	padworld_gtp_regs(&regs, &t.regs);
	gtp_hit_held(&t.c.tp[i], &t.c.cpu, &regs, 0);
}

static void same_tables(const struct gtp_aggr_table *a, const struct gtp_aggr_table *b)
{
	assert_int_equal(a->used, b->used);
	for (u32 i = 0; i < a->used; i++)
		assert_memory_equal(gtp_aggr_entry(a, i), gtp_aggr_entry(b, i),
				    a->words * sizeof(u64));
}

static void same_sides(void)
{
	const struct side *a = &t.pad, *b = &t.c;
	struct gtp_pair_entry x[GTP_PAIR_SLOTS], y[GTP_PAIR_SLOTS];

	assert_int_equal(a->cpu.in_hit, 0);
	assert_int_equal(a->cpu.nested, b->cpu.nested);
	assert_int_equal(a->cpu.busy, b->cpu.busy);
	for (u32 i = 0; i < SLOTS; i++) {
		assert_int_equal(a->stat[i].hits + a->cpu.quick[i],
				 b->stat[i].hits + b->cpu.quick[i]);
		assert_int_equal(a->stat[i].usage, b->stat[i].usage);
		assert_int_equal(a->stat[i].failed, b->stat[i].failed);
	}
	assert_memory_equal(a->cpu.local, b->cpu.local, GTP_TSV_SECOND * sizeof(u64));
	assert_memory_equal(a->pair->counts, b->pair->counts, sizeof(*a->pair->counts));
	for (u32 nr = 0; nr < a->pair->nbuckets; nr++) {
		int n = gtp_pair_read(a->pair, nr, x);

		assert_int_equal(n, gtp_pair_read(b->pair, nr, y));
		for (int i = 0; i < n; i++) {
			assert_int_equal(x[i].key, y[i].key);
			assert_int_equal(x[i].time, y[i].time);
			assert_int_equal(x[i].kept[0], y[i].kept[0]);
		}
	}
	for (u32 i = 0; i < ARRAY_SIZE(a->table); i++)
		same_tables(a->table[i], b->table[i]);
	assert_int_equal(a->clock, b->clock);
	assert_int_equal(a->stopped, b->stopped);
	assert_int_equal(a->run.active, b->run.active);
	assert_int_equal(a->run.ending, b->run.ending);
	assert_int_equal(a->run.ended_by, b->run.ended_by);
	assert_memory_equal(&a->run.failure.error, &b->run.failure.error,
			    sizeof(a->run.failure.error));
	assert_int_equal(a->run.failure.action, b->run.failure.action);
}

/* --- tests --- */

/* The actions, with the number of a random register for each %d. */
static const char *const starts[] = {
	"reg %d; setv 302; pop; end",
	"reg %d; setv 300; pop; end|reg %d; setv 302; end",
	"reg %d; ref64; setv 302; pop; end",
	"reg %d; ref32; setv 300; pop; end|reg %d; setv 302; pop; end",
	"reg 16; setv 300; pop; end|reg %d; setv 302; pop; end",
};

static const char *const ends[] = {
	"reg %d; setv 303; pop; end",
	"reg %d; setv 303; pop; end|getv 301; setv 304; pop; end",
	"reg %d; setv 303; pop; end|getv 300; setv 306; end|getv 301; setv 307; end",
	"reg %d; setv 303; pop; end|reg %d; ref8; setv 304; pop; end|const8 1; setv 305; end",
	"reg %d; setv 306; pop; end|reg %d; setv 307; pop; end|const8 1; setv 305; pop; end",
};

static const char *fill_in(char *to, u32 size, const char *from)
{
	int reg[3];

	for (u32 i = 0; i < ARRAY_SIZE(reg); i++)
		do
			reg[i] = rand() % X86_NR_REGS;
		while (reg[i] == GTP_REG_SP);
	snprintf(to, size, from, reg[0], reg[1], reg[2]);
	return to;
}

/* The run with the pair has ended. */
static void no_pair(void)
{
	static const u16 num[] = { START, END };

	for (u32 i = 0; i < ARRAY_SIZE(num); i++) {
		t.pad.cpu.local[GTP_TSV_TABLE + num[i]] = 0;
		t.c.cpu.local[GTP_TSV_TABLE + num[i]] = 0;
	}
}

static void interpret_in_c(void)
{
	for (u32 i = 0; i < TPS; i++) {
		t.c.tp[i].code = NULL;
		t.c.tp[i].plan.update_alone = NULL;
	}
}

/* Each hit has the same effects as if C had handled it, also if an action fails. */
static void test_like_c(void **state)
{
	char first[400], second[400];
	u32 ended = 0, failed = 0;

	srand(1);
	for (u32 i = 0; i < 3000; i++) {
		bool pass_errors = rand() % 4;

		make(fill_in(first, sizeof(first), starts[(u32)rand() % ARRAY_SIZE(starts)]),
		     fill_in(second, sizeof(second), ends[(u32)rand() % ARRAY_SIZE(ends)]),
		     rand() % 2 ? "const8 1; end" : NULL);
		t.pad.run.pass_errors = pass_errors;
		t.c.run.pass_errors = pass_errors;
		if (!(rand() % 16))
			no_pair();
		if (rand() % 2)
			interpret_in_c();
		for (u32 n = 0; n < 12; n++) {
			bool active = t.pad.run.active;
			u32 which = (u32)rand() % TPS;

			random_regs();
			choose_clock();
			run_pad(which, 0);
			assert_int_equal(t.hit.count, !active);
			if (active)
				run_c(which);
			same_sides();
		}
		ended += (u32)t.pad.pair->counts->ended;
		failed += (u32)(t.pad.stat[1].failed + t.pad.stat[2].failed) + !t.pad.run.active;
	}
	print_message("%u ended, %u failed\n", ended, failed);
	assert_true(ended > 1000 && failed > 1000);
}

static void not_active(void)
{
	t.pad.run.active = false;
}

static void in_hit(void)
{
	t.pad.cpu.in_hit = 2;
}

static void no_plan(void)
{
	t.pad.tp[0].plan.update_alone = NULL;
}

static void another_snippet(void)
{
	t.pad.tp[0].plan.update_alone = t.actions[1].snippet;
}

/* In an unusual state the pad changes nothing, and calls C with the registers of the hit. */
static void test_left_to_c(void **state)
{
	static void (*const unlike[])(void) = {
		pad_case_no_part, pad_case_no_location, pad_case_is_self, not_active, in_hit,
		no_plan,	  another_snippet,
	};
	static struct side before;

	srand(2);
	for (u32 i = 0; i < ARRAY_SIZE(unlike) * 2; i++) {
		make("reg 5; setv 302; pop; end", "reg 5; setv 303; pop; end",
		     i % 2 ? "const8 1; end" : NULL);
		unlike[i / 2]();
		random_regs();
		before = t.pad;
		run_pad(0, 0);
		if (t.hit.count != 1)
			fail_msg("row %u: pad_hit was called %llu times", i / 2, t.hit.count);
		assert_int_equal(t.hit.number, PADWORLD_NUMBER << 1 | (i % 2 ? GTP_PAD_HELD : 0));
		assert_memory_equal(t.hit.regs.gpr, t.regs.gpr, sizeof(t.regs.gpr));
		assert_memory_equal(&t.pad, &before, sizeof(before));
	}
}

/* Actions that use more of the hit than the pad saves are left to C. */
static void test_refused(void **state)
{
	static const char *const exprs[] = {
		"reg 7; setv 302; pop; end",		    /* rsp */
		"reg 17; setv 302; pop; end",		    /* flags */
		"getv 40; setv 302; pop; end",		    /* a variable that takes a call */
		"reg 5; setv 40; pop; end",		    /* the same */
		"reg 5; trace_quick 4; setv 302; pop; end", /* memory into a frame */
	};
	struct ax_jit_item regs = { .kind = AX_JIT_REGS, .mask = 1 };

	make("reg 5; setv 302; pop; end", "reg 5; setv 303; pop; end", NULL);
	for (u32 i = 0; i < ARRAY_SIZE(exprs); i++) {
		struct pad_case_expr text;

		t.actions[0].item[0].v = pad_case_assemble(&text, exprs[i], AX_ACTION);
		ax_settle_tsvs(&text.v, ways);
		if (make_pad(0, NULL))
			fail_msg("row %u is accepted", i);
	}
	t.actions[0].item[0] = regs;
	assert_int_equal(make_pad(0, NULL), 0);
}

static void test_can(void **state)
{
	struct gtp_tracepoint tp = { .plan.update_alone = &t, .loc = &t.loc };

	assert_true(gtp_pad_frame_can(&tp, false));
	tp.cond = (struct gtp_expr *)&t;
	assert_false(gtp_pad_frame_can(&tp, false));
	assert_true(gtp_pad_frame_can(&tp, true));
	tp.plan.update_alone = NULL;
	assert_false(gtp_pad_frame_can(&tp, true));
}

/* With SMAP the pad clears AC before the call, and with interrupts on it first turns them off. */
static void test_privileged(void **state)
{
	static const u8 clac[] = { 0x0f, 0x01, 0xca, 0xfc, 0xe8 };	/* clac; cld; call */
	static const u8 off[] = { 0xfa, 0x65, 0x4c, 0x8b, 0x14, 0x25 }; /* cli; mov r10, gs:[] */

	make("reg 5; setv 302; pop; end", "reg 5; setv 303; pop; end", NULL);
	assert_null(memmem((const void *)t.entry[1], t.len[1], clac, sizeof(clac)));
	assert_null(memmem((const void *)t.entry[1], t.len[1], off, sizeof(off)));
	t.frame[1].clac = true;
	t.frame[1].cli = true;
	t.entry[1] = padworld_make(&t.req, &t.len[1]);
	assert_non_null(memmem((const void *)t.entry[1], t.len[1], clac, sizeof(clac)));
	assert_non_null(memmem((const void *)t.entry[1], t.len[1], off, sizeof(off)));
}

/*
 * Return the instructions of a hit at @ns, without cli, clac, and what is displaced; with those of
 * the snippet, if @snippet.
 */
static u32 cost(u32 i, u64 ns, bool snippet)
{
	t.pad.tsc.ns = ns;
	pad_steps_also((u64)(uintptr_t)t.actions[i].snippet, snippet ? t.actions[i].len : 0);
	run_pad(i, PAD_TRAP_FLAG);
	assert_int_equal(t.hit.count, 0);
	return pad_steps() - t.region.n;
}

/*
 * Count the instructions of the pad; then those of a start and an end, with a histogram. They call
 * nothing: the second time differs from no earlier one, so it is not the largest in the histogram.
 * Then the same with a value that the start keeps.
 */
static void test_cost(void **state)
{
	static const u32 most[2][2] = { { 116, 134 }, { 127, 147 } };

	make("reg 5; setv 302; pop; end", "reg 5; setv 303; pop; end|getv 301; setv 304; pop; end",
	     NULL);
	t.pad.cpu.env.tsc = &t.pad.tsc;
	for (u32 nkept = 0; nkept < 2; nkept++) {
		u32 pad, start, end;

		make_pair(&t.pad, nkept);
		random_regs();
		pad = cost(0, 1000, false);
		cost(1, 1500, false);
		start = cost(0, 1000, true);
		end = cost(1, 1500, true);
		assert_int_equal(t.pad.pair->counts[0].ended, 2);
		print_message("%u, %u and %u instructions, %u bytes\n", pad, start, end, t.len[0]);
		assert_true(pad <= 61);
		assert_in_range(start, pad, most[nkept][0]);
		assert_in_range(end, pad, most[nkept][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_like_c),	   cmocka_unit_test(test_left_to_c),
		cmocka_unit_test(test_refused),	   cmocka_unit_test(test_can),
		cmocka_unit_test(test_privileged), cmocka_unit_test(test_cost),
	};

	return cmocka_run_group_tests_name("tests", tests, NULL, NULL);
}
