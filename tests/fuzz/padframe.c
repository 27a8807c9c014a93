// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the frames that pads write without a call of C with the frames that the interpreter
 * makes.
 *
 * Before a pad writes a frame, it checks the state of the CPU, the run and the task. Sometimes one
 * of these values is set so that the pad must change nothing and call C.
 */
#include <stdlib.h>

#include "tests/fuzz/padframe.h"
#include "tools/axasm.h"

enum {
	ACTIONS = 4,
	ROOM = 1 << 16,
	GUARD = 64,
	SLOTS = 4,
	STRING = 64, /* most bytes of a string that a pad collects */
};

struct padframe_stats padframe_stats;

static struct {
	struct ax_jit_item item[ACTIONS];
	u32 nitems;
	u8 code[ACTIONS][AXGEN_CODE_MAX];
	struct ax_point points[ACTIONS][AXGEN_CODE_MAX];
	struct ax_verified v[ACTIONS];
	struct gtp_pad_frame frame;
	struct gtp_tracepoint tp;
	struct gtp_run run;
	struct gtp_cpu cpu, before;
	u64 quick[SLOTS];
	struct gtp_tp_stat stat[SLOTS];
	u32 string;	/* number of the action that collects a string, counted from 1; 0: none */
	s32 string_reg; /* register to add to @string_off for the string's address; -1: none */
	u64 string_off;
	u64 string_at; /* the string's address at this hit */
	u32 string_max;
	u8 string_code[32];
	struct ax_point string_points[32];
	struct ax_verified string_v;
	u64 mem[ROOM / 8], want_mem[ROOM / 8];
	u64 passes;
	struct gtp_buffer want;
	bool plain;
	u64 earliest;
} s;

/* --- making random actions --- */

static void make_regs(struct axgen *g, struct ax_jit_item *item)
{
	item->kind = AX_JIT_REGS;
	item->mask = axgen_pick(g, 3) ? axgen_value(g) & GTP_REGS_KNOWN : GTP_REGS_KNOWN;
}

static void make_mem(struct axgen *g, struct ax_jit_item *item)
{
	item->kind = AX_JIT_MEM;
	item->len = axgen_pick(g, axgen_pick(g, 16) ? 33 : 64);
	item->base = -1;
	item->offset = axgen_addr(g);
	if (!axgen_pick(g, 4))
		return;
	item->base = (s32)(axgen_pick(g, 8) ? 4 + axgen_pick(g, 3) : axgen_pick(g, 17));
	item->offset = (u64)(s64)((s32)axgen_pick(g, 128) - 32);
}

/* Make an action that a pad can run. A pad cannot run most random expressions, so try several. */
static bool make_expr(struct axgen *g, u32 n)
{
	const u16 can = AX_F_READS_MEM | AX_F_COLLECTS | AX_F_GETS_TSV;
	struct ax_error err;

	g->straight = true;
	for (u32 i = 0; i < 32; i++) {
		axgen_make(g, 1 + axgen_pick(g, axgen_pick(g, 8) ? 12 : 40));
		memcpy(s.code[n], g->code, g->len);
		if (ax_verify(s.code[n], g->len, AX_ACTION, s.points[n], &s.v[n], &err) != AX_OK) {
			fprintf(stderr, "the verifier refuses what the generator made\n");
			abort();
		}
		if (s.v[n].flags & ~can || !(s.v[n].flags & AX_F_COLLECTS))
			continue;
		g->straight = false;
		s.item[n].kind = AX_JIT_EXPR;
		s.item[n].v = &s.v[n];
		return true;
	}
	g->straight = false;
	return false;
}

static void make_items(struct axgen *g)
{
	u32 n = axgen_pick(g, ACTIONS + 1);

	s.nitems = 0;
	for (u32 i = 0; i < n; i++) {
		struct ax_jit_item *item = &s.item[s.nitems];
		u32 kind = axgen_pick(g, 4);

		*item = (struct ax_jit_item){ .base = -1 };
		if (!kind)
			make_regs(g, item);
		else if (kind == 1)
			make_mem(g, item);
		else if (!make_expr(g, s.nitems))
			continue;
		s.nitems++;
	}
}

/*
 * Sometimes add an action that collects a string, with a limit that may be less than a word. The
 * choices have a generator of their own, so that old seeds still make the same cases otherwise.
 */
static void make_string(const struct axgen *g)
{
	static struct axgen apart;
	char base[16], text[80], why[256];
	struct ax_error err;
	u32 n;
	int len;

	apart = *g;
	apart.rng = g->rng * 0x9e3779b97f4a7c15;
	s.string = 0;
	if (s.nitems == ACTIONS || !axgen_pick(&apart, 4))
		return;
	n = axgen_pick(&apart, s.nitems + 1);
	s.string_max = axgen_pick(&apart, 4) ? 200 : axgen_pick(&apart, 90);
	s.string_reg = axgen_pick(&apart, 8) ? (s32)(4 + axgen_pick(&apart, 3)) : -1;
	s.string_off = s.string_reg < 0 ? axgen_addr(&apart) : axgen_pick(&apart, 128) - 32ULL;
	if (s.string_reg < 0)
		snprintf(base, sizeof(base), "const8 0");
	else
		snprintf(base, sizeof(base), "reg %d", s.string_reg);
	snprintf(text, sizeof(text), "%s; const64 %lld; add; const16 %u; tracenz; end", base,
		 (s64)s.string_off, s.string_max);
	len = axasm(text, s.string_code, sizeof(s.string_code), why, sizeof(why));
	if (len < 0 || ax_verify(s.string_code, (u32)len, AX_ACTION, s.string_points, &s.string_v,
				 &err) != AX_OK) {
		fprintf(stderr, "%s is refused\n", text);
		abort();
	}
	memmove(&s.item[n + 1], &s.item[n], (s.nitems - n) * sizeof(s.item[0]));
	s.item[n] = (struct ax_jit_item){ .kind = AX_JIT_EXPR, .base = -1, .v = &s.string_v };
	s.nitems++;
	s.string = n + 1;
}

/*
 * Find the size of the actions' blocks with the compiler of snippets; return false if the actions
 * cannot be a snippet.
 */
static bool measure(const struct gtp_pad_request *req)
{
	struct ax_jit_request r = {
		.items = s.item,
		.nitems = s.nitems,
		.target = &padworld()->code->target,
		.pc = req->at,
	};
	struct ax_jit *work;
	bool good;

	s.tp.frame_bytes = 0;
	if (!s.nitems)
		return true;
	work = malloc(ax_jit_work_size(&r));
	good = ax_jit_plan(work, &r);
	s.tp.frame_bytes = good ? ax_jit_frame_bytes(work) : 0;
	free(work);
	return good;
}

/*
 * Choose a pass count. The choice has a generator of its own, so that old seeds still make the same
 * cases otherwise.
 */
static u64 choose_pass(const struct axgen *g)
{
	static struct axgen apart;

	apart.rng = g->rng * 0xd1342543de82ef95;
	if (axgen_pick(&apart, 4))
		return 0;
	if (!axgen_pick(&apart, 16))
		return ~(u64)axgen_pick(&apart, 2);
	return 2 + axgen_pick(&apart, 1000);
}

void padframe_choose(struct axgen *g, struct gtp_pad_request *req)
{
	make_items(g);
	make_string(g);
	/* If a string is collected, the pad computes the frame's size at each hit. */
	s.tp.actions = s.string ? (struct gtp_action *)&s : NULL;
	s.tp.frame_bytes = 0;
	if (!s.string && !measure(req))
		return;
	s.tp.slot = axgen_pick(g, SLOTS);
	s.tp.pass = choose_pass(g);
	padtask_frame(&s.frame, &s.tp, s.item, s.nitems);
	req->frame = &s.frame;
	req->keep_flags |= padtask_collects_flags(&s.frame);
	padframe_stats.asked++;
}

u64 padframe_make_without(struct gtp_pad_request *req, u32 *len)
{
	padframe_stats.refused++;
	req->frame = NULL;
	return padworld_make(req, len);
}

/* --- what the pad checks at a hit --- */

static bool rarely(struct axgen *g)
{
	bool yes = !axgen_pick(g, 32);

	s.plain &= !yes;
	return yes;
}

static void prepare_buffer(struct axgen *g)
{
	struct gtp_buffer *b = &s.cpu.buf;
	u32 bytes = (u32)sizeof(struct gtp_frame) + s.tp.frame_bytes;

	memset(s.mem, 0xa5, sizeof(s.mem));
	gtp_buffer_init(b, s.mem, ROOM, axgen_pick(g, 2));
	b->created = axgen_value(g);
	if (s.string) {
		/* The pad needs room for the longest string, and string_is_plain() expects this. */
		if (axgen_pick(g, 2))
			b->end = 8 * axgen_pick(g, 64);
		return;
	}
	/* Leave just enough room in the buffer, or a word too little. */
	b->head = axgen_pick(g, 4) ? 8 * axgen_pick(g, 16) : ROOM - GUARD - bytes;
	if (rarely(g))
		b->end = b->head + bytes - 8;
	else if (axgen_pick(g, 2))
		b->end = b->head + bytes;
}

/*
 * Set the count of hits so that the next hit is an early one, or the last one that the pad may
 * count, or one that the pad must leave to C.
 */
static void prepare_pass_count(struct axgen *g)
{
	if (!s.tp.pass)
		return;
	s.tp.pass_hits = s.tp.pass - 2;
	if (rarely(g))
		s.tp.pass_hits += 1 + axgen_pick(g, 2);
	else if (axgen_pick(g, 2))
		s.tp.pass_hits = 0;
	s.passes = s.tp.pass_hits;
}

void padframe_prepare(struct axgen *g)
{
	struct padtask *task = &padworld()->task;
	struct padtask_low *low = padtask_low();

	s.plain = true;
	s.cpu = (struct gtp_cpu){ .run = &s.run, .quick = s.quick, .stat = s.stat };
	memset(s.stat, 0, sizeof(s.stat));
	prepare_buffer(g);
	prepare_pass_count(g);
	s.cpu.in_hit = rarely(g) ? 1 + axgen_pick(g, 2) : 0;
	s.run.active = !rarely(g);
	s.tp.plan.in_pad = rarely(g) ? NULL : &s;
	s.tp.plan.start = sizeof(struct gtp_frame) + s.tp.frame_bytes;
	s.tp.plan.start |= axgen_value(g) << 32;
	task->part = rarely(g) ? 0 : (u64)(uintptr_t)&s.cpu;
	task->tgid = (s32)axgen_pick(g, 1000);
	low->location = !rarely(g);
	low->mask = ~0U;
	low->value = rarely(g) ? (u32)task->tgid : (u32)task->tgid + 1;
	for (u32 i = 0; i < SLOTS; i++)
		s.quick[i] = i;
	s.before = s.cpu;
	s.earliest = gtp_read_tsc();
}

/* --- the frame that the interpreter makes --- */

static int ref_trace(void *ctx, u64 addr, u64 len)
{
	return gtp_buffer_add_mem(&s.want, addr, len, padworld_ops.read, ctx);
}

static int ref_trace_string(void *ctx, u64 addr, u64 max)
{
	return gtp_buffer_add_string(&s.want, addr, max, padworld_ops.read, ctx);
}

static int ref_tracev(void *ctx, u16 num)
{
	return gtp_buffer_add_var(&s.want, num, padworld_ops.getv(ctx, num));
}

static int by_interpreter(const struct ax_jit_item *item, struct ax_env *env)
{
	u64 addr = item->offset;

	switch (item->kind) {
	case AX_JIT_REGS:
		padframe_stats.regs++;
		return item->mask ? gtp_buffer_add_regs(&s.want, env->regs, env->pc, item->mask) :
				    0;
	case AX_JIT_MEM:
		if (item->base >= 0)
			addr += item->base == GTP_REG_PC ? env->pc :
							   gtp_regs_get(env->regs, item->base);
		return ref_trace(env->ctx, addr, item->len);
	default:
		return ax_interp(item->v, env, NULL);
	}
}

/*
 * Return 1 if the pad must write the frame with this string: the string ends within the words that
 * a pad reads, all these words can be read, and the buffer has room for the longest string. Return
 * 0 if the pad must leave the hit to C. Return -1 if this is not known, because the pad may read
 * more bytes than the interpreter.
 */
static int string_is_plain(void)
{
	u32 most = (s.string_max < STRING ? s.string_max : STRING) & ~7U;
	struct padworld_read read = { 0 };
	const struct gtp_frame *w = (const struct gtp_frame *)s.want_mem;
	u8 bytes[STRING], *end;

	if (!most)
		return 0;
	if (padworld_ops.read(&read, bytes, s.string_at, most) || read.careful || read.below)
		return -1;
	end = memchr(bytes, 0, most);
	return end && w->size - gtp_round8((u32)(end - bytes) + 1) + STRING <= s.before.buf.end;
}

int padframe_make(const struct gtp_regs *regs, u64 pc)
{
	static u64 stack[AX_MAX_DEPTH];
	struct ax_ops ops = padworld_ops;
	struct padworld_read read = { .rsp = regs->rsp };
	struct gtp_regs all = *regs;
	struct ax_env env = { .ops = &ops, .ctx = &read, .regs = &all, .stack = stack, .pc = pc };
	bool failed = false;
	int plain;

	ops.trace = ref_trace;
	ops.trace_string = ref_trace_string;
	s.string_at = s.string_off;
	if (s.string && s.string_reg >= 0)
		s.string_at += gtp_regs_get(regs, (u32)s.string_reg);
	ops.tracev = ref_tracev;
	all.cs = PADTASK_CS;
	all.ss = PADTASK_SS;
	gtp_buffer_init(&s.want, s.want_mem, ROOM, false);
	gtp_buffer_begin(&s.want, 0, pc, 0);
	for (u32 i = 0; i < s.nitems && !failed; i++)
		failed = by_interpreter(&s.item[i], &env);
	gtp_buffer_commit(&s.want, 0);
	if (read.below)
		return -1;
	if (!s.plain || failed)
		return 0;
	if (!s.string)
		return !read.careful;
	plain = string_is_plain();
	/* It is not known whether the careful read was for the string or for another action. */
	return read.careful && plain ? -1 : plain;
}

static bool same_frame(const struct gtp_frame *f)
{
	const struct gtp_frame *w = (const struct gtp_frame *)s.want_mem;
	const struct gtp_block *x = gtp_frame_next_block(f, NULL);
	const struct gtp_block *y = gtp_frame_next_block(w, NULL);

	if (f->size != w->size || f->pc != w->pc)
		return false;
	while (x && y) {
		u32 meant = (u32)sizeof(*x) + (x->type == GTP_BLOCK_MEM ? 8 + x->len : x->len);

		if (memcmp(x, y, sizeof(*x)) || memcmp(x, y, meant))
			return false;
		padframe_stats.blocks++;
		x = gtp_frame_next_block(f, x);
		y = gtp_frame_next_block(w, y);
	}
	return !x && !y;
}

static const char *check_written(int wanted)
{
	const struct gtp_frame *f = gtp_buffer_room(&s.before.buf);
	u32 bytes = s.string ? f->size : (u32)sizeof(*f) + s.tp.frame_bytes;
	const u8 *behind = (const u8 *)f + bytes;
	const u32 skip = s.string ? sizeof(f->size) : 0;

	padframe_stats.written++;
	padframe_stats.strings += !!s.string;
	if (memcmp((const u8 *)f + skip, (const u8 *)&s.tp.plan.start + skip,
		   sizeof(s.tp.plan.start) - skip))
		return "the frame begins with something else";
	if (f->time < s.earliest || f->time > gtp_read_tsc())
		return "the frame has another time";
	if (wanted > 0 && !same_frame(f))
		return "the frame differs";
	for (u32 i = 0; i < GUARD; i++)
		if (behind[i] != 0xa5)
			return "bytes behind the frame";
	s.before.buf.head += bytes;
	s.before.buf.created++;
	if (s.string) {
		struct gtp_tp_stat *stat = &s.stat[s.tp.slot];

		if (stat->hits-- != 1 || stat->usage != bytes)
			return "the frame is not counted";
		stat->usage = 0;
	} else if (s.quick[s.tp.slot]-- != s.tp.slot + 1) {
		return "the frame is not counted";
	}
	if (s.tp.pass && s.tp.pass_hits-- != s.passes + 1)
		return "the frame does not count as one that passes";
	return NULL;
}

const char *padframe_check(int wanted, bool to_c)
{
	bool written = s.cpu.buf.head != s.before.buf.head;
	const char *what = written ? check_written(wanted) : NULL;

	if (!what && written && (!wanted || to_c))
		what = "a frame that nobody wants";
	if (!what && !written && wanted > 0)
		what = "no frame";
	if (!what && memcmp(&s.cpu, &s.before, sizeof(s.cpu)))
		what = "this CPU's part differs";
	if (!what && s.tp.pass && s.tp.pass_hits != s.passes)
		what = "the pass count differs";
	for (u32 i = 0; i < SLOTS && !what; i++)
		if (s.quick[i] != i || s.stat[i].hits || s.stat[i].usage)
			what = "counters differ";
	padframe_stats.left += to_c;
	return what;
}

void padframe_complain(void)
{
	for (u32 i = 0; i < s.nitems; i++) {
		const struct ax_jit_item *a = &s.item[i];

		fprintf(stderr, "action %u: %u, mask 0x%llx, base %d, 0x%llx, len %llu\n", i + 1,
			a->kind, a->mask, a->base, a->offset, a->len);
		if (a->v)
			axasm_listing(a->v->code, a->v->len, NULL, stderr);
	}
}
