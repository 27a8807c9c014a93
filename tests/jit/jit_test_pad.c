// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests conditions of jump pads that read kernel memory, with page faults. The pad must call
 * pad_hit if and only if the interpreter predicts it, and every register must be unchanged in
 * pad_hit and after the pad.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/irqflags.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "aggregate/tasks.h"
#include "kernel/base/mem_kernel.h"
#include "kernel/hit/access_kernel.h"
#include "kernel/pad/place.h"
#include "tests/fuzz/axgen.h"
#include "tests/jit/jit_test_pad.h"
#include "tests/jit/jit_test_parts.h"
#include "tracepoint/tsv.h"

enum { NUMBER = 0x2aaaaaaa, RSP = 4, RSI = 6, RDI = 7, RBP = 5 };
enum { TASKS = 40 }; /* the first of two variables that have a value for each task */

struct jit_test_pad_regs jit_test_pad_out;
struct jit_test_pad_hit jit_test_pad_hit;
u64 jit_test_pad_rsp;

/* struct pad_test - one test case: a pad and its hit */
struct pad_test {
	struct axgen g;
	struct ax_point points[AX_MAX_LEN];
	u64 stack[AX_MAX_DEPTH];
	struct ax_verified v;
	struct gtp_region region;
	struct gtp_pad_request req;
	struct gtp_jit_pad pad;
	struct jit_test_pad_regs in;
	bool to_c;   /* the interpreter has come to a variable of tasks that the pad leaves to C */
	bool nested; /* the task is marked as already inside a pad that reads memory */
	u32 held, not_held, punted;
};

static int op_read(void *ctx, void *dst, u64 addr, u32 len)
{
	return gtp_access_read(NULL, dst, addr, len);
}

static const u8 ways[GTP_TSV_MAX] = { [TASKS] = AX_TSV_TASK, [TASKS + 1] = AX_TSV_TASK };

static u32 *used_here(void)
{
	return &gtp_tasks_used[gtp_tasks_bucket((u64)current)];
}

/*
 * Return the value of a built-in variable, computed in C. If a task of the bucket has a value, the
 * pad leaves the hit to C at the first variable of tasks.
 */
static s64 op_getv(void *ctx, u16 tsv)
{
	if (ways[tsv] == AX_TSV_TASK) {
		((struct pad_test *)ctx)->to_c |= *used_here() != 0;
		return 0;
	}
	return jit_test_builtin(tsv, 0);
}

static void op_setv(void *ctx, u16 tsv, s64 value)
{
	((struct pad_test *)ctx)->to_c = true;
}

static const struct ax_ops ops = { .read = op_read, .getv = op_getv, .setv = op_setv };

static void choose_state(struct pad_test *t)
{
	u32 i;

	for (i = 0; i < 16; i++)
		t->in.gpr[i] = axgen_value(&t->g);
	t->in.gpr[RSI] = axgen_addr(&t->g);
	t->in.gpr[RDI] = axgen_addr(&t->g);
	t->in.gpr[RBP] = axgen_addr(&t->g);
	t->in.flags = (arch_local_save_flags() & ~(u64)GTP_FLAGS_ARITH) |
		      (axgen_pick(&t->g, 256) * 16 & GTP_FLAGS_ARITH) |
		      (axgen_pick(&t->g, 256) & GTP_FLAGS_ARITH);
}

/*
 * True if a pad can evaluate the condition, and the condition does not read rsp. The test does not
 * know the value of rsp and the contents of the stack before it enters the pad.
 */
static bool usable(const struct ax_verified *v)
{
	return gtp_pad_can(v, gtp_jit_target(), ways) && !(v->regs_used >> GTP_REG_SP & 1);
}

static int choose_condition(struct pad_test *t)
{
	struct axgen *g = &t->g;
	struct ax_error err;

	do {
		axgen_make(g, 1 + axgen_pick(g, axgen_pick(g, 8) ? 16 : 60));
		if (ax_verify(g->code, g->len, AX_CONDITION, t->points, &t->v, &err) != AX_OK)
			return -EINVAL;
	} while (!usable(&t->v));
	return 0;
}

/* Return the address of the traced instruction: in some kernels an endbr64 precedes it. */
static u64 place(void)
{
	const u8 *p = (const u8 *)jit_test_pad_place;

	OPTIMIZER_HIDE_VAR(p); /* keep objtool from seeing addresses inside functions */
	return (u64)p + (p[0] == 0xf3 ? 4 : 0);
}

static int make_pad(struct pad_test *t)
{
	struct ax_jit_target target = *gtp_jit_target();
	int err;

	target.pad_hit = (u64)jit_test_pad_entry;
	t->region = (struct gtp_region){
		.len = 5,
		.n = 1,
		.falls_out = true,
		.insn = { { .len = 5 } },
		.flags_dead = !axgen_pick(&t->g, 4),
	};
	memcpy(t->region.bytes, (const void *)place(), 5);
	t->req = (struct gtp_pad_request){
		.region = &t->region,
		.cond = &t->v,
		.ways = ways,
		.target = &target,
		.number = NUMBER,
		.at = place(),
		.seed = axgen_pick(&t->g, 31),
	};
	err = gtp_jit_open();
	if (err)
		return err;
	err = gtp_pad_place(&t->req, &t->pad);
	gtp_jit_close();
	return err;
}

/* Return the word that the pad must push for pad_hit; 0 if the pad must not call pad_hit. */
static u64 expected(struct pad_test *t)
{
	/* Indexed by GDB's register numbers, whose first eight differ from the processor's. */
	static const u8 reg[] = { 0, 3, 1, 2, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15 };
	struct gtp_regs regs = { 0 };
	struct ax_env env = {
		.ops = &ops,
		.ctx = t,
		.regs = &regs,
		.stack = t->stack,
		.pc = t->req.at,
	};
	u64 value;
	u32 i;

	if (t->nested && t->v.flags & AX_F_READS_MEM)
		return NUMBER << 1;
	for (i = 0; i < 16; i++)
		*(u64 *)((char *)&regs + gtp_regs_offset(i)) = t->in.gpr[reg[i]];
	t->to_c = false;
	if (ax_interp(&t->v, &env, &value) || t->to_c)
		return NUMBER << 1;
	return value ? NUMBER << 1 | GTP_PAD_HELD : 0;
}

static bool same(const struct pad_test *t, const struct jit_test_pad_regs *r, u64 but)
{
	u32 i;

	for (i = 0; i < 16; i++)
		if (r->gpr[i] != (i == RSP ? jit_test_pad_rsp : t->in.gpr[i]))
			return false;
	return !((r->flags ^ t->in.flags) & GTP_FLAGS_ARITH & ~but);
}

/*
 * True if the pad may leave the hit to C although the interpreter knows the result: it does so for
 * a constant address that no instruction can encode.
 */
static bool may_leave(const struct pad_test *t)
{
	struct ax_insn insn;
	u32 pc;

	for (pc = 0; pc < t->v.len; pc = insn.next)
		if (ax_decode(t->v.code, t->v.len, pc, &insn) != AX_OK || insn.op == AX_OP_const64)
			return true;
	return false;
}

static const char *judge(const struct pad_test *t, u64 want)
{
	u64 but = t->region.flags_dead ? GTP_FLAGS_ARITH : 0;
	const struct jit_test_pad_hit *hit = &jit_test_pad_hit;

	if (hit->count != !!want || (want && hit->number != want))
		return "pad_hit is not called as it should";
	if (want && !same(t, &hit->regs, but))
		return "pad_hit sees other registers";
	return same(t, &jit_test_pad_out, but) ? NULL : "registers differ in the end";
}

static void tell(const struct pad_test *t, const char *what, u64 want)
{
	u32 i;

	pr_err("pad: %s: called %llu times, with 0x%llx, not 0x%llx\n", what,
	       jit_test_pad_hit.count, jit_test_pad_hit.number, want);
	for (i = 0; i < 16; i++)
		pr_err("reg %u = 0x%llx\n", i, t->in.gpr[i]);
	for (i = 0; i < t->g.len; i += 32)
		pr_err("%*phN\n", (int)min(t->g.len - i, 32U), t->g.code + i);
}

static int run_pad(struct pad_test *t)
{
	u64 want = expected(t);
	const char *what;
	bool left, marked;
	int faults;

	memset(&jit_test_pad_hit, 0, sizeof(jit_test_pad_hit));
	if (t->nested)
		current->pagefault_disabled += AX_JIT_MARK;
	faults = current->pagefault_disabled;
	jit_test_pad_enter(&t->in, t->pad.addr);
	marked = current->pagefault_disabled != faults;
	if (t->nested)
		current->pagefault_disabled -= AX_JIT_MARK;
	left = jit_test_pad_hit.count == 1 && jit_test_pad_hit.number == NUMBER << 1;
	if (left && may_leave(t))
		want = NUMBER << 1;
	what = marked ? "the task is left with another mark" : judge(t, want);
	if (what) {
		tell(t, what, want);
		return -EPROTO;
	}
	t->held += want & GTP_PAD_HELD;
	t->punted += want && !(want & GTP_PAD_HELD);
	t->not_held += !want;
	return 0;
}

static int one(struct pad_test *t)
{
	int err;

	choose_state(t);
	t->nested = gtp_jit_target()->task && !axgen_pick(&t->g, 8);
	t->g.plain = axgen_pick(&t->g, 3) ? 0 : TASKS;
	*used_here() = !axgen_pick(&t->g, 3);
	err = choose_condition(t);
	if (!err)
		err = make_pad(t);
	if (err)
		return err;
	preempt_disable(); /* the interpreter and the pad must see the same $cpu_id */
	err = run_pad(t);
	preempt_enable();
	gtp_jit_pad_free(&t->pad);
	return err;
}

static u64 mix(u64 x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return (x ^ x >> 31) | 1;
}

int jit_test_pad(const struct axgen *where, u32 first, u32 programs)
{
	struct pad_test *t = kvzalloc(sizeof(*t), GFP_KERNEL);
	int err = t ? 0 : -ENOMEM;
	u32 n, tries;

	for (n = first; n < first + programs && !err; n++) {
		tries = 0;
		do {
			t->g = *where;
			t->g.rng = mix(n);
			err = one(t);
		} while (jit_test_again(err, &tries));
		cond_resched();
	}
	if (err)
		pr_err("random pad %u: %d\n", n - 1, err);
	else
		pr_info("%u random pads: %u conditions held, %u did not, %u were left to C\n",
			programs, t->held, t->not_held, t->punted);
	kvfree(t);
	return err;
}
