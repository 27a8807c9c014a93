// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a tracepoint's actions in the interpreter and as machine code. Works in userspace and,
 * unchanged, in the kernel.
 */
#include "tests/fuzz/jitacts.h"
#include "aggregate/pair.h"
#include "aggregate/table.h"
#include "aggregate/tasks.h"
#include "hit/hit.h"

enum {
	ACTIONS = 5,
	HITS = 3,
	TSVS = 64,	  /* built-in variables, and those that expressions may set */
	ADDED = TSVS - 1, /* a variable to which all CPUs add atomically */
	OWN = TSVS,	  /* first of two per-CPU variables and three aggregations */
	START = OWN + 5,  /* the start of a pair that keeps the first per-CPU variable */
	END,		  /* its end, which sets the second one to the time */
	PAIR_WORDS = 128,
	TASKS = JITDIFF_PLAIN + 1, /* a variable that has a value for each task */
	TASK = 0x123450,	   /* the address of the running task, and its start time */
	BORN = 77,
	TABLES = 3,
	KEYS = 3, /* number of keys that fit into a table: so few that some keys do not fit */
	TABLE_WORDS = 512,
	LOG = 1024,
	BUFFER = 1 << 18, /* several times the most that a snippet of actions may collect */
	GUARD = 64,	  /* bytes after a frame that must not change */
};

struct jitacts_stats jitacts_stats;

/* struct side - one tracepoint and its run, executed by the interpreter or by machine code */
struct side {
	const struct jitdiff_world *world;
	struct gtp_run run;
	struct gtp_location loc;
	struct gtp_tracepoint tp;
	struct gtp_tsv tsv[TSVS];
	struct gtp_tp_stat stat;
	struct gtp_cpu cpu;
	u64 clock;
	struct gtp_calibration tsc;
	u32 log_len;
	char log[LOG];
	struct gtp_expr expr[ACTIONS];
	struct gtp_aggr_table *table[TABLES];
	u64 table_mem[TABLES][TABLE_WORDS];
	struct gtp_pair *pair;
	u64 pair_mem[PAIR_WORDS];
	struct gtp_tasks tasks;
	u64 action[ACTIONS][sizeof(struct gtp_action) / 8 + 1];
	u64 mem[BUFFER / 8];
};

struct jitacts {
	struct side interpreter, compiler;
	struct gtp_regs regs;
	struct ax_jit_item item[ACTIONS];
	u32 nactions;
	u8 code[ACTIONS][AXGEN_CODE_MAX];
	struct ax_point points[ACTIONS][AXGEN_CODE_MAX];
};

size_t jitacts_size(void)
{
	return sizeof(struct jitacts);
}

/* --- callbacks of hits --- */

static int side_read(void *ctx, void *dst, u64 addr, u32 len)
{
	return ((struct side *)ctx)->world->read(NULL, dst, addr, len);
}

static u64 side_clock(void *ctx)
{
	return ++((struct side *)ctx)->clock;
}

static u64 side_wall(void *ctx)
{
	return ((struct side *)ctx)->clock;
}

static s64 side_builtin(void *ctx, enum gtp_tsv_builtin which, u32 entered)
{
	return ((struct side *)ctx)->world->builtin(NULL, which, entered);
}

static u64 side_task(void *ctx, u64 *born)
{
	*born = BORN;
	return TASK;
}

static bool side_lock(void *ctx, unsigned long *flags)
{
	*flags = 0;
	return true;
}

static void side_unlock(void *ctx, unsigned long flags)
{
}

static void side_print(void *ctx, u32 tp, const char *text, u32 len)
{
	struct side *s = ctx;

	if (len > LOG - s->log_len)
		len = LOG - s->log_len;
	memcpy(s->log + s->log_len, text, len);
	s->log_len += len;
}

static void side_stopping(void *ctx)
{
}

static const struct gtp_hit_ops hit_ops = {
	.read = side_read,
	.clock = side_clock,
	.wall_ns = side_wall,
	.builtin = side_builtin,
	.task = side_task,
	.tsv_lock = side_lock,
	.tsv_unlock = side_unlock,
	.print = side_print,
	.stopping = side_stopping,
};

/* --- per-CPU variables, and a variable that expressions add to --- */

static const u8 own_ways[GTP_TSV_MAX] = {
	[OWN] = AX_TSV_LOCAL,	   [OWN + 1] = AX_TSV_LOCAL, [OWN + 2] = AX_TSV_UPDATE,
	[OWN + 3] = AX_TSV_UPDATE, [OWN + 4] = AX_TSV_COUNT, [ADDED] = AX_TSV_ADDED,
	[START] = AX_TSV_START,	   [END] = AX_TSV_END,	     [TASKS] = AX_TSV_TASK,
};

static void set_up_pair(struct side *s)
{
	memset(s->pair_mem, 0, sizeof(s->pair_mem));
	s->pair = gtp_pair_init(s->pair_mem, 1, 1, 1);
	s->pair->kept[0] = OWN;
	s->pair->since = OWN + 1;
	gtp_tsv_set_pair(s->cpu.local, START, s->pair, 0);
	gtp_tsv_set_pair(s->cpu.local, END, s->pair, 0);
}

static bool pairs_differ(const struct side *a, const struct side *b)
{
	struct gtp_pair_entry x[GTP_PAIR_SLOTS], y[GTP_PAIR_SLOTS];
	u32 nr;

	if (memcmp(a->pair->counts, b->pair->counts, sizeof(*a->pair->counts)))
		return true;
	memset(x, 0, sizeof(x));
	memset(y, 0, sizeof(y));
	for (nr = 0; nr < a->pair->nbuckets; nr++)
		if (gtp_pair_read(a->pair, nr, x) != gtp_pair_read(b->pair, nr, y) ||
		    memcmp(x, y, sizeof(x)))
			return true;
	jitacts_stats.pairs += a->pair->counts->ended;
	return false;
}

/* Set up three aggregations: a histogram by one key or none, statistics by two, a count. */
static void set_up_own(struct side *s, bool hist_by_key)
{
	static const char *const name[TABLES] = { "hist_a", "stats_a", "count_a" };
	const u8 keys[TABLES] = { hist_by_key, 2, 0 };
	static struct gtp_aggr_shape shape[TABLES];
	u32 i, k;

	memset(s->cpu.local, 0, sizeof(s->cpu.local));
	memcpy(s->run.tsvs.ways, own_ways, sizeof(own_ways));
	memset(s->table_mem, 0, sizeof(s->table_mem));
	for (i = 0; i < TABLES; i++) {
		gtp_aggr_parse(name[i], &shape[i]);
		for (k = 0; k < keys[i]; k++)
			gtp_aggr_add_key(&shape[i], (u16)(OWN + k));
		s->table[i] = gtp_aggr_table_init(s->table_mem[i], &shape[i], KEYS);
		s->cpu.local[GTP_TSV_TABLE + OWN + 2 + i] = (u64)(unsigned long)s->table[i];
	}
	set_up_pair(s);
}

static bool own_differ(const struct side *a, const struct side *b)
{
	u32 i;

	if (a->cpu.local[OWN] != b->cpu.local[OWN] ||
	    a->cpu.local[OWN + 1] != b->cpu.local[OWN + 1] || pairs_differ(a, b))
		return true;
	for (i = 0; i < TABLES; i++) {
		const struct gtp_aggr_table *x = a->table[i], *y = b->table[i];

		if (x->used != y->used ||
		    memcmp(x->entry, y->entry, (size_t)x->most * x->words * sizeof(u64)))
			return true;
		jitacts_stats.entries += x->used - 1 + !!x->entry[0];
	}
	return false;
}

/* --- making a tracepoint --- */

static void make_regs(struct axgen *g, struct ax_jit_item *item)
{
	item->kind = AX_JIT_REGS;
	item->mask = axgen_pick(g, 3) ? axgen_value(g) & GTP_REGS_KNOWN : GTP_REGS_KNOWN;
}

static u64 some_length(struct axgen *g)
{
	if (axgen_pick(g, 8))
		return axgen_pick(g, 48);
	if (axgen_pick(g, 4))
		return axgen_pick(g, 256) * 17;
	return axgen_pick(g, 2) ? axgen_pick(g, 256) * 300 : axgen_value(g);
}

static void make_mem(struct axgen *g, struct ax_jit_item *item)
{
	item->kind = AX_JIT_MEM;
	item->len = some_length(g);
	item->base = -1;
	item->offset = axgen_addr(g);
	if (!axgen_pick(g, 3))
		return;
	item->base =
		(s32)(axgen_pick(g, 8) ? 4 + axgen_pick(g, 3) : axgen_pick(g, GTP_NR_SAVED_REGS));
	item->offset = axgen_pick(g, 8) ? (u64)(s64)((s32)axgen_pick(g, 128) - 32) : axgen_value(g);
}

/* Make an expression that starts or ends a pair. There are so few keys that ends find starts. */
static void make_pair(struct axgen *g)
{
	const u8 code[] = { AX_OP_reg,
			    0,
			    (u8)axgen_pick(g, 16),
			    AX_OP_const8,
			    (u8)axgen_pick(g, 4),
			    AX_OP_bit_and,
			    AX_OP_setv,
			    0,
			    (u8)(START + axgen_pick(g, 2)),
			    AX_OP_pop,
			    AX_OP_end };

	memcpy(g->code, code, sizeof(code));
	g->len = sizeof(code) - 1;
	if (axgen_pick(g, 2))
		g->len++;
	else
		g->code[g->len - 1] = AX_OP_end;
}

/*
 * Make an expression, mostly without jumps. With jumps it cannot be part of a snippet of actions.
 */
static int make_expr(struct jitacts *m, struct axgen *g, u32 n)
{
	struct gtp_expr *e = &m->interpreter.expr[n];
	struct ax_error err;

	g->straight = axgen_pick(g, 16);
	if (!axgen_pick(g, 4))
		make_pair(g);
	else if (axgen_pick(g, 4))
		axgen_make(g, 1 + axgen_pick(g, 30));
	else
		axgen_make_add(g, 1 + axgen_pick(g, 10));
	g->straight = false;
	memcpy(m->code[n], g->code, g->len);
	if (ax_verify(m->code[n], g->len, AX_ACTION, m->points[n], &e->ax, &err) != AX_OK)
		return -EINVAL;
	ax_settle_tsvs(&e->ax, own_ways);
	jitacts_stats.adds += !!(e->ax.flags & AX_F_ADDS);
	e->compiled = NULL;
	m->compiler.expr[n] = *e;
	m->item[n].kind = AX_JIT_EXPR;
	m->item[n].v = &e->ax;
	return 0;
}

static int make_items(struct jitacts *m, struct axgen *g)
{
	int err = 0;
	u32 n;

	m->nactions = 1 + axgen_pick(g, ACTIONS);
	for (n = 0; n < m->nactions && !err; n++) {
		m->item[n] = (struct ax_jit_item){ .base = -1 };
		switch (axgen_pick(g, 4)) {
		case 0:
			make_regs(g, &m->item[n]);
			break;
		case 1:
			make_mem(g, &m->item[n]);
			break;
		default:
			err = make_expr(m, g, n);
		}
	}
	return err;
}

static struct gtp_action *action(struct side *s, u32 n)
{
	return (struct gtp_action *)s->action[n];
}

static void set_action(struct side *s, u32 n, const struct ax_jit_item *item)
{
	static const u8 kind[] = {
		[AX_JIT_REGS] = GTP_ACTION_REGS,
		[AX_JIT_MEM] = GTP_ACTION_MEM,
		[AX_JIT_EXPR] = GTP_ACTION_EXPR,
	};
	struct gtp_action *a = action(s, n);

	a->next = NULL;
	a->kind = kind[item->kind];
	a->mask = item->mask;
	a->base = item->base;
	a->offset = item->offset;
	a->len = item->len;
	a->expr = item->v ? &s->expr[n] : NULL;
	if (n)
		action(s, n - 1)->next = a;
}

static void set_up(struct jitacts *m, struct side *s, const struct jitdiff_world *w, u32 bytes,
		   bool circular)
{
	u32 n;

	s->world = w;
	s->clock = 0;
	s->log_len = 0;
	s->run.hit_ops = &hit_ops;
	s->run.ctx = s;
	for (n = 1; n < TSVS; n++) {
		s->tsv[n].value = (s64)n - 5;
		s->run.tsvs.slot[n] = &s->tsv[n];
	}
	s->tsv[TASKS].tasks = &s->tasks;
	gtp_tasks_set(&s->tasks, TASK, BORN, circular ? -7 : 0);
	set_up_own(s, circular);
	s->stat = (struct gtp_tp_stat){ 0 };
	s->tp = (struct gtp_tracepoint){ .num = 7, .addr = w->pc, .on = true };
	s->tp.actions = action(s, 0);
	s->tp.nactions = m->nactions;
	for (n = 0; n < m->nactions; n++)
		set_action(s, n, &m->item[n]);
	s->loc = (struct gtp_location){ .addr = w->pc, .first = &s->tp, .run = &s->run };
	s->cpu.stat = &s->stat;
	gtp_buffer_init(&s->cpu.buf, s->mem, bytes, circular);
	gtp_hit_prepare(&s->cpu, &s->run);
}

/*
 * Compile like run control: all actions as one snippet, or if that fails, each expression by
 * itself.
 */
static int compile(struct jitacts *m, struct axgen *g)
{
	struct side *s = &m->compiler;
	struct ax_jit_request req = {
		.items = m->item,
		.nitems = m->nactions,
		.pc = s->tp.addr,
		.ways = own_ways,
		.slots = s->run.tsvs.slot,
	};
	ax_jit_fn fn;
	u32 n;
	int err;

	s->world->forget();
	err = s->world->request(&req, g, &fn, &s->tp.frame_bytes);
	if (!err) {
		s->tp.code = (void *)fn;
		jitacts_stats.whole++;
	}
	if (err != -EOPNOTSUPP)
		return err;
	err = 0;
	for (n = 0; n < m->nactions && !err; n++) {
		if (!m->item[n].v)
			continue;
		req = (struct ax_jit_request){
			.v = m->item[n].v,
			.pc = s->tp.addr,
			.ways = own_ways,
			.slots = s->run.tsvs.slot,
		};
		err = s->world->request(&req, g, &fn, NULL);
		s->expr[n].compiled = (void *)fn;
	}
	return err;
}

/* --- hitting the tracepoint, and comparing --- */

static const struct gtp_frame *newest(const struct gtp_buffer *b)
{
	const struct gtp_frame *f = NULL, *next;

	while ((next = gtp_buffer_next(b, f)))
		f = next;
	return f;
}

static u32 meant_bytes(const struct gtp_block *b)
{
	return (u32)sizeof(*b) + (b->type == GTP_BLOCK_MEM ? 8 + b->len : b->len);
}

/* Return whether two frames have the same blocks. The padding after a block is not compared. */
static bool same_blocks(const struct gtp_frame *a, const struct gtp_frame *b)
{
	const struct gtp_block *x = gtp_frame_next_block(a, NULL);
	const struct gtp_block *y = gtp_frame_next_block(b, NULL);

	while (x && y) {
		if (memcmp(x, y, sizeof(*x)) || memcmp(x, y, meant_bytes(x)))
			return false;
		jitacts_stats.blocks++;
		x = gtp_frame_next_block(a, x);
		y = gtp_frame_next_block(b, y);
	}
	return !x && !y;
}

static const char *frames_differ(const struct side *a, const struct side *b)
{
	const struct gtp_frame *x, *y;

	if (a->cpu.buf.created != b->cpu.buf.created)
		return "number of frames";
	if (!a->cpu.buf.created)
		return NULL;
	x = newest(&a->cpu.buf);
	y = newest(&b->cpu.buf);
	if (!x || !y)
		return x || y ? "frames that are left" : NULL;
	if (x->size != y->size || x->tp != y->tp || x->flags != y->flags || x->pc != y->pc ||
	    (!a->cpu.env.tsc && x->time != y->time))
		return "head of a frame";
	return same_blocks(x, y) ? NULL : "blocks";
}

static const char *ends_differ(const struct gtp_run *a, const struct gtp_run *b)
{
	const struct ax_error *x = &a->failure.error, *y = &b->failure.error;

	if (a->ending != b->ending)
		return "one run ends";
	if (a->ending != GTP_ENDING_NO && a->ended_by != b->ended_by)
		return "end of the run";
	if (a->failing != b->failing)
		return "one fails";
	if (a->failing == GTP_ENDING_NO)
		return NULL;
	if (a->failure.action != b->failure.action || a->failure.kind != b->failure.kind)
		return "action that failed";
	return x->code == y->code && x->pc == y->pc && x->op == y->op && x->arg == y->arg &&
			       x->arg2 == y->arg2 ?
		       NULL :
		       "error";
}

static const char *differ(const struct jitacts *m)
{
	const struct side *a = &m->interpreter, *b = &m->compiler;
	const char *what = ends_differ(&a->run, &b->run);
	u32 n;

	if (!what)
		what = frames_differ(a, b);
	if (!what && memcmp(&a->stat, &b->stat, sizeof(a->stat)))
		what = "counters";
	if (!what && (a->log_len != b->log_len || memcmp(a->log, b->log, a->log_len)))
		what = "printed text";
	if (!what && gtp_tasks_get(&a->tasks, TASK, BORN) != gtp_tasks_get(&b->tasks, TASK, BORN))
		what = "the task's own variable";
	if (!what && own_differ(a, b))
		what = "what is this CPU's own";
	for (n = 1; n < TSVS && !what; n++)
		if (a->tsv[n].value != b->tsv[n].value)
			what = "variables";
	return what;
}

/*
 * Let the times come from the host's clock, or from the time stamp counter: then let it be @ns at
 * both sides, which may be less than at the last hit.
 */
static void set_clock(struct side *s, bool by_counter, u64 ns)
{
	s->tsc = (struct gtp_calibration){ .ns = ns };
	s->cpu.env.tsc = by_counter ? &s->tsc : NULL;
}

static void hit(struct side *s, const struct gtp_regs *regs)
{
	s->run.ending = GTP_ENDING_NO;
	s->run.failing = GTP_ENDING_NO;
	s->run.active = true;
	gtp_hit(s->loc.first, &s->cpu, regs, JITDIFF_ENTERED);
}

/* Return where the snippet's frame must end, if there is room for a guard after it. */
static u8 *guard_of(struct side *s)
{
	struct gtp_buffer *b = &s->cpu.buf;
	u32 end = b->head + (u32)sizeof(struct gtp_frame) + s->tp.frame_bytes;

	if (!s->tp.code || gtp_buffer_used(b) != b->head || end + GUARD > b->size)
		return NULL;
	return b->mem + end;
}

static bool hit_guarded(struct side *s, const struct gtp_regs *regs)
{
	u8 *p = guard_of(s);
	bool good = true;
	u32 i;

	if (p)
		memset(p, 0xa5, GUARD);
	hit(s, regs);
	for (i = 0; p && i < GUARD; i++)
		good = good && p[i] == 0xa5;
	return good;
}

static void count(const struct side *s)
{
	jitacts_stats.hits++;
	if (s->run.ending != GTP_ENDING_NO && s->run.ended_by == GTP_STOP_FULL)
		jitacts_stats.full++;
	else if (s->run.failing != GTP_ENDING_NO)
		jitacts_stats.partial++;
	else
		jitacts_stats.frames++;
}

int jitacts(struct jitacts *m, const struct jitdiff_world *w, struct axgen *g)
{
	u32 bytes = axgen_pick(g, 8) ? BUFFER : GTP_BUFFER_MIN + 8 * axgen_pick(g, 256);
	bool circular = axgen_pick(g, 2), by_counter = axgen_pick(g, 2);
	const char *what = NULL;
	u32 n;
	int err;

	g->tsv = JITDIFF_FIRST_TSV;
	g->own = OWN;
	g->added = ADDED;
	err = make_items(m, g);
	g->own = 0;
	if (err)
		return err;
	set_up(m, &m->interpreter, w, bytes, circular);
	set_up(m, &m->compiler, w, bytes, circular);
	m->interpreter.run.pass_errors = axgen_pick(g, 2);
	m->compiler.run.pass_errors = m->interpreter.run.pass_errors;
	err = compile(m, g);
	if (err)
		return err;
	jitacts_stats.tracepoints++;
	for (n = 0; n < HITS && !what; n++) {
		u64 ns = 1000 + 100 * axgen_pick(g, 4);

		jitdiff_regs(&m->regs, g);
		set_clock(&m->interpreter, by_counter, ns);
		set_clock(&m->compiler, by_counter, ns);
		hit(&m->interpreter, &m->regs);
		if (!hit_guarded(&m->compiler, &m->regs))
			what = "bytes behind the frame";
		count(&m->interpreter);
		if (!what)
			what = differ(m);
	}
	if (!what)
		return 0;
	w->complain(what, m->item, m->nactions, &m->regs);
	return -EPROTO;
}
