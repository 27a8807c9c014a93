// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page in the memory that a hit will read, if the code that was hit may sleep.
 *
 * gtp_fetch() interprets the expressions of the hit with callbacks whose ctx is the struct
 * gtp_fetch. Memory that an expression collects is only touched, one byte of each page. Values that
 * an expression sets and text that it prints are dropped.
 */
#include "aggregate/shape.h"
#include "hit/fetch.h"
#include "hit/variable.h"
#include "tracepoint/at_return.h"

enum {
	PAGE = 4096,
	STRING_PIECE = 64, /* bytes of a string that one read copies, as at the hit */
};

bool gtp_fetch_needed(const struct gtp_tracepoint *first)
{
	const struct gtp_tracepoint *tp;

	for (tp = first; tp; tp = gtp_acquire(&tp->next_here))
		if (tp->reads)
			return true;
	return false;
}

static int fetch_read(void *ctx, void *dst, u64 addr, u32 len)
{
	struct gtp_fetch *f = ctx;

	return f->read(f->ctx, dst, addr, len);
}

/* Touch each page of the memory. Return 0, or -EFAULT if a page cannot be read. */
static int touch(struct gtp_fetch *f, u64 addr, u64 len)
{
	u64 end = addr + len, at;
	u8 byte;

	if (len > GTP_FRAME_MAX || end < addr)
		return -E2BIG;
	for (at = addr; at < end; at = (at & ~(u64)(PAGE - 1)) + PAGE)
		if (f->read(f->ctx, &byte, at, 1))
			return -EFAULT;
	return 0;
}

static int fetch_trace(void *ctx, u64 addr, u64 len)
{
	return touch(ctx, addr, len);
}

/*
 * Read a string up to its NUL. Each read ends at a multiple of STRING_PIECE, so it touches no page
 * after the one in which the string ends. Return 0 or -EFAULT.
 */
static int touch_string(struct gtp_fetch *f, u64 addr, u64 max)
{
	u8 piece[STRING_PIECE];
	u32 n;

	if (max > GTP_FRAME_MAX)
		max = GTP_FRAME_MAX;
	for (; max; addr += n, max -= n) {
		n = STRING_PIECE - (u32)(addr % STRING_PIECE);
		if (n > max)
			n = (u32)max;
		if (f->read(f->ctx, piece, addr, n))
			return -EFAULT;
		if (memchr(piece, 0, n))
			return 0;
	}
	return 0;
}

static int fetch_trace_string(void *ctx, u64 addr, u64 max)
{
	return touch_string(ctx, addr, max);
}

/* Page in the part of the program's stack that the hit will read. */
static s64 fetch_ustack(struct gtp_fetch *f)
{
	struct gtp_ustack_from from;
	bool cut;

	f->ustack(f->ctx, f->env.regs, &from);
	gtp_ustack_take(&from, f->read, f->ctx, NULL, &cut);
	return 0;
}

/* Return the value of a variable that is built in, or that GDB has defined. */
static s64 fetch_other(const struct gtp_fetch *f, u16 num)
{
	const struct gtp_tsv *tsv = f->run->tsvs.slot[num];

	if (tsv && tsv->builtin)
		return f->run->hit_ops->builtin(f->run->ctx, num, 0);
	if (f->run->tsvs.ways[num] == AX_TSV_LOCAL)
		return f->cpu ? (s64)READ_ONCE(f->cpu->local[num]) : 0;
	if (f->run->tsvs.ways[num] == AX_TSV_TASK)
		return gtp_hit_task_value(f->run, num);
	return tsv ? READ_ONCE(tsv->value) : 0;
}

/*
 * Return the value that a variable has now; 0 for $kstack and $bt, which are taken only at the hit.
 */
static s64 fetch_getv(void *ctx, u16 num)
{
	struct gtp_fetch *f = ctx;

	switch (num) {
	case GTP_TSV_CPU_ID:
		return f->cpu ? f->cpu->id : 0;
	case GTP_TSV_CLOCK:
		return f->cpu ? (s64)gtp_hit_now_ns(f->cpu) : 0;
	case GTP_TSV_XTIME_SEC:
		return (s64)f->run->hit_ops->wall_ns(f->run->ctx) / GTP_NS_PER_SEC;
	case GTP_TSV_XTIME_NSEC:
		return (s64)f->run->hit_ops->wall_ns(f->run->ctx) % GTP_NS_PER_SEC;
	case GTP_TSV_SELF_TRACE:
		return 1;
	case GTP_TSV_KSTACK:
	case GTP_TSV_BT:
		return 0;
	case GTP_TSV_USTACK:
		return fetch_ustack(f);
	case GTP_TSV_RET:
	case GTP_TSV_KRET:
		return f->value;
	case GTP_TSV_ENTRY_CLOCK:
		return (s64)f->entered;
	case GTP_TSV_LATENCY:
		return (s64)f->latency;
	default:
		return fetch_other(f, num);
	}
}

/* If the variable is a string key, page in the string. Do not set the variable. */
static void fetch_setv(void *ctx, u16 num, s64 value)
{
	struct gtp_fetch *f = ctx;

	if (f->run->tsvs.ways[num] == AX_TSV_STRING)
		touch_string(f, (u64)value, GTP_AGGR_STRING);
}

static bool fetch_pair(void *ctx, u16 num, u64 key)
{
	return false;
}

static s64 fetch_addv(void *ctx, u16 num, s64 by)
{
	return fetch_getv(ctx, num) + by;
}

static int fetch_tracev(void *ctx, u16 num)
{
	struct gtp_fetch *f = ctx;
	const struct gtp_regs *regs = f->env.regs;

	if (num == GTP_TSV_USTACK)
		fetch_ustack(f);
	if (num == GTP_TSV_BT && f->run->hit_ops->stack_bytes)
		touch(f, gtp_regs_stack(regs),
		      f->run->hit_ops->stack_bytes(f->run->ctx, regs, f->env.pc));
	return 0;
}

static void fetch_print(void *ctx, const char *text, u32 len)
{
}

static const struct ax_ops fetch_ops = {
	.read = fetch_read,
	.getv = fetch_getv,
	.setv = fetch_setv,
	.pair = fetch_pair,
	.addv = fetch_addv,
	.trace = fetch_trace,
	.trace_string = fetch_trace_string,
	.tracev = fetch_tracev,
	.print = fetch_print,
};

static void fetch_action(struct gtp_fetch *f, const struct gtp_action *a)
{
	u64 addr = a->offset;

	if (gtp_expr_reads(a->expr))
		ax_interp(&a->expr->ax, &f->env, NULL);
	if (a->kind != GTP_ACTION_MEM)
		return;
	if (a->base == GTP_REG_PC)
		addr += f->env.pc;
	else if (a->base >= 0)
		addr += gtp_regs_get(f->env.regs, (u32)a->base);
	touch(f, addr, a->len);
}

/* True if a variable is certain to have the same value at the hit as now, before the hit. */
static bool stays(u16 num)
{
	switch (num) {
	case GTP_TSV_CURRENT_TASK:
	case GTP_TSV_CURRENT_TASK_PID:
	case GTP_TSV_CURRENT_TASK_USER:
	case GTP_TSV_TASK_PT_REGS:
	case GTP_TSV_RET:
	case GTP_TSV_KRET:
	case GTP_TSV_ENTRY_CLOCK:
	case GTP_TSV_SELF_TRACE:
		return true;
	default:
		return false;
	}
}

/* True if the expression reads a variable that may have another value at the hit. */
static bool may_change(const struct gtp_expr *e)
{
	struct ax_insn insn = { 0 };

	while (ax_next_reached(&e->ax, &insn))
		if (insn.op == AX_OP_getv && !stays((u16)insn.operand))
			return true;
	return false;
}

/* Page in the condition's memory. Return true if the actions' memory must be paged in, too. */
static bool fetch_cond(struct gtp_fetch *f, const struct gtp_tracepoint *tp)
{
	bool at_return = f->part == GTP_FETCH_RETURN;
	u64 holds = true;

	if (f->part != GTP_FETCH_HIT && tp->cond_at_return != at_return)
		return at_return;
	if (tp->cond && ax_interp(&tp->cond->ax, &f->env, &holds))
		return false;
	return (holds || may_change(tp->cond)) && f->part != GTP_FETCH_ENTRY;
}

void gtp_fetch(struct gtp_fetch *f, const struct gtp_tracepoint *first, const struct gtp_regs *regs)
{
	const struct gtp_tracepoint *tp;
	const struct gtp_action *a;
	u64 bit = 1;

	f->env = (struct ax_env){
		.ops = &fetch_ops,
		.ctx = f,
		.regs = regs,
		.stack = f->stack,
		.text = f->text,
	};
	for (tp = first; tp; tp = gtp_acquire(&tp->next_here), bit <<= 1) {
		if (!READ_ONCE(tp->on) || (f->part == GTP_FETCH_RETURN && !(f->wanted & bit)))
			continue;
		f->env.pc = tp->addr;
		for (a = fetch_cond(f, tp) ? tp->actions : NULL; a; a = a->next)
			fetch_action(f, a);
	}
}
