// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the machine code of a start or an end of a pair, with a stop before each access to its
 * table.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <ucontext.h>
#include <cmocka.h>

#include "base/cpu.h"
#include "jit/x86_emit.h"
#include "pair_code.h"
#include "pair_steps.h"
#include "regions/insn.h"
#include "tools/axasm.h"
#include "tracepoint/tsv.h"
#include "user/jit/exec_user.h"

enum { START = 302, END = 303, STOPS = 16, INT3 = 0xcc };

/*
 * struct code - the code of a start or an end, which stops before each instruction that accesses
 * the table. @copy: the code with an int3 at each stop; the copy with a stop's number has none
 * there, and the last one has all. @at, @of_state: the offsets of stops, and whether they access
 * the state
 */
struct code {
	const u8 *copy[STOPS + 1];
	u32 len, n;
	u32 at[STOPS];
	bool of_state[STOPS];
};

/* struct operation - one start or end that is running */
struct operation {
	struct ax_env env;
	struct gtp_pair *pair;
	u32 cpu;
	bool missed;
	u64 own[GTP_TSV_WORDS];
};

static struct {
	struct code start, end;
	u32 in_c; /* operations that the code has left to C */
} w;

/* --- stops --- */

/*
 * True if the instruction accesses the table. The code addresses a bucket by r10, and kept values
 * by push and pop. @of_state: it accesses the bucket's first word
 */
static bool is_of_table(const u8 *at, bool *of_state)
{
	bool high_base = false;

	at += *at == 0xf0; /* lock */
	if ((*at & 0xf0) == 0x40)
		high_base = *at++ & 1;
	*of_state = false;
	if (*at == 0xff || *at == 0x8f)
		return true;
	at += *at == 0x0f;
	*of_state = !(at[1] >> 6);
	return high_base && at[1] >> 6 != 3 && (at[1] & 7) == (X86_R10 & 7);
}

static void find_stops(struct code *c)
{
	struct gtp_insn insn;

	for (u32 at = 0; at < c->len; at += insn.len) {
		assert_int_equal(gtp_insn_decode(&insn, c->copy[0] + at, c->len - at), 0);
		if (!is_of_table(c->copy[0] + at, &c->of_state[c->n]))
			continue;
		assert_in_range(c->n, 0, STOPS - 1);
		c->at[c->n++] = at;
	}
}

/* Handle an int3 of @c: let other CPUs run, then go on in the copy that has no int3 there. */
static bool stop(const struct code *c, u64 *rip)
{
	for (u32 copy = 0; copy <= c->n; copy++)
		for (u32 i = 0; i < c->n; i++)
			if (*rip == (u64)(uintptr_t)c->copy[copy] + c->at[i] + 1) {
				pair_step(c->of_state[i]);
				*rip = (u64)(uintptr_t)c->copy[i] + c->at[i];
				return true;
			}
	return false;
}

static void on_int3(int sig, siginfo_t *info, void *context)
{
	u64 *rip = (u64 *)&((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	if (!stop(&w.start, rip) && !stop(&w.end, rip))
		abort();
}

/* --- operations --- */

static bool in_c(void *ctx, u16 num, u64 key)
{
	struct operation *o = ctx;

	w.in_c++;
	if (num == START)
		gtp_pair_start(o->pair, o->cpu, key, o->env.time, o->own);
	else
		o->missed = !gtp_pair_end(o->pair, o->cpu, key, o->env.time, o->own);
	return o->missed;
}

static void run(struct operation *o, const struct code *c, u64 key)
{
	const struct gtp_regs regs = { .rdi = key };

	assert_int_not_equal(((ax_jit_fn)(uintptr_t)c->copy[c->n])(&regs, &o->env).value, 0);
}

static void prepare(struct operation *o, struct gtp_pair *p, u32 cpu, u64 time)
{
	static const struct gtp_calibration plain = { .rate = 1ULL << 32 };
	static const struct ax_ops ops = { .pair = in_c };

	*o = (struct operation){ .pair = p, .cpu = cpu };
	o->env = (struct ax_env){ .ops = &ops,
				  .ctx = o,
				  .local = o->own,
				  .time = time,
				  .tsc = &plain };
	gtp_tsv_set_pair(o->own, START, p, cpu);
	gtp_tsv_set_pair(o->own, END, p, cpu);
}

void pair_code_start(struct gtp_pair *p, u32 cpu, u64 key, u64 time, u64 kept)
{
	struct operation o;

	prepare(&o, p, cpu, time);
	o.own[PAIR_CODE_KEPT] = kept;
	run(&o, &w.start, key);
}

bool pair_code_end(struct gtp_pair *p, u32 cpu, u64 key, u64 time, u64 *since, u64 *kept)
{
	struct operation o;

	prepare(&o, p, cpu, time);
	run(&o, &w.end, key);
	*since = o.own[PAIR_CODE_SINCE];
	*kept = o.own[PAIR_CODE_KEPT];
	return !o.missed;
}

u32 pair_code_in_c(void)
{
	return w.in_c;
}

/* --- compiling --- */

static const u8 *compile(struct jit_user *u, const char *text, u32 *n)
{
	static const u8 ways[GTP_TSV_MAX] = { [START] = AX_TSV_START, [END] = AX_TSV_END };
	struct ax_jit_item item = { .kind = AX_JIT_EXPR };
	struct ax_jit_request req = { .items = &item, .nitems = 1, .ways = ways };
	struct ax_point points[AX_MAX_LEN];
	struct ax_verified v;
	struct ax_error err;
	u8 code[AX_MAX_LEN];
	char why[256];
	int len = axasm(text, code, sizeof(code), why, sizeof(why));

	if (len < 0)
		fail_msg("%s", why);
	assert_int_equal(ax_verify(code, (u32)len, AX_ACTION, points, &v, &err), AX_OK);
	ax_settle_tsvs(&v, ways);
	item.v = &v;
	return (const u8 *)(uintptr_t)jit_user_compile_request(u, &req, n, NULL);
}

static void make(struct code *c, struct jit_user *u, const char *text)
{
	c->copy[0] = compile(u, text, &c->len);
	find_stops(c);
	for (u32 i = 1; i <= c->n; i++)
		c->copy[i] = compile(u, text, &c->len);
	assert_non_null(c->copy[c->n]);
	for (u32 copy = 0; copy <= c->n; copy++)
		for (u32 i = 0; i < c->n; i++)
			if (i != copy)
				u->write[c->copy[copy] - u->exec + c->at[i]] = INT3;
}

void pair_code_begin(void)
{
	/* While a handler waits, other CPUs stop, too. */
	struct sigaction sa = { .sa_sigaction = on_int3, .sa_flags = SA_SIGINFO | SA_NODEFER };
	struct jit_user *u = jit_user_new(1 << 16, 0);

	make(&w.start, u, "reg 5; setv 302; pop; end");
	make(&w.end, u, "reg 5; setv 303; pop; end");
	sigaction(SIGTRAP, &sa, NULL);
}
