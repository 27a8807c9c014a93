// SPDX-License-Identifier: GPL-2.0-only
/* Compares interpreter and compiler. Works in userspace and, unchanged, in the kernel. */
#include "tests/fuzz/jitdiff.h"

struct jitdiff_stats jitdiff_stats;

static int op_read(void *ctx, void *dst, u64 addr, u32 len)
{
	return ((struct jitdiff_run *)ctx)->world->read(NULL, dst, addr, len);
}

static void append(struct jitdiff_run *r, u8 kind, u64 where, u32 len)
{
	r->log[r->len] = kind;
	memcpy(r->log + r->len + 1, &where, 8);
	r->len += 9 + len;
}

static int op_trace(void *ctx, u64 addr, u64 len)
{
	struct jitdiff_run *r = ctx;

	if (len > JITDIFF_TRACE_MAX)
		return -E2BIG;
	if (r->len + 9 + len > r->room)
		return -ENOSPC;
	/* A read that fails halfway leaves bytes after the log's end, which are not compared. */
	if (op_read(ctx, r->log + r->len + 9, addr, (u32)len))
		return -EFAULT;
	append(r, 'M', addr, (u32)len);
	return 0;
}

static int op_trace_string(void *ctx, u64 addr, u64 max)
{
	u64 n = 0;
	u8 c = 1;

	while (n < max && c) {
		if (n == JITDIFF_TRACE_MAX)
			return -E2BIG;
		if (op_read(ctx, &c, addr + n, 1))
			return -EFAULT;
		n++;
	}
	return op_trace(ctx, addr, n);
}

static bool is_builtin(u16 tsv)
{
	return tsv == GTP_TSV_CURRENT_TASK || tsv == GTP_TSV_CURRENT_TASK_PID ||
	       (tsv >= JITDIFF_BUILTIN && tsv < JITDIFF_BUILTIN + JITDIFF_NBUILTIN);
}

static s64 op_getv(void *ctx, u16 tsv)
{
	struct jitdiff_run *r = ctx;

	if (is_builtin(tsv))
		return r->world->builtin(NULL, tsv, r->env.entered);
	return r->tsv[tsv];
}

/* Ignore an assignment to a built-in variable, which run control would have refused. */
static void op_setv(void *ctx, u16 tsv, s64 value)
{
	if (!is_builtin(tsv))
		((struct jitdiff_run *)ctx)->tsv[tsv] = value;
}

static s64 op_addv(void *ctx, u16 tsv, s64 by)
{
	s64 sum = (s64)((u64)op_getv(ctx, tsv) + (u64)by);

	op_setv(ctx, tsv, sum);
	return sum;
}

static int log_bytes(struct jitdiff_run *r, u8 kind, u64 where, const void *bytes, u32 len)
{
	if (r->len + 9 + len > r->room)
		return -ENOSPC;
	memcpy(r->log + r->len + 9, bytes, len);
	append(r, kind, where, len);
	return 0;
}

static int op_tracev(void *ctx, u16 tsv)
{
	s64 value = op_getv(ctx, tsv);

	return log_bytes(ctx, 'V', tsv, &value, sizeof(value));
}

static void op_print(void *ctx, const char *text, u32 len)
{
	log_bytes(ctx, 'P', len, text, len);
}

static const struct ax_ops ops = {
	.read = op_read,
	.getv = op_getv,
	.setv = op_setv,
	.addv = op_addv,
	.trace = op_trace,
	.trace_string = op_trace_string,
	.tracev = op_tracev,
	.print = op_print,
};

void jitdiff_regs(struct gtp_regs *regs, struct axgen *g)
{
	u64 *r = (u64 *)regs;
	u32 i;

	for (i = 0; i < sizeof(*regs) / sizeof(*r); i++)
		r[i] = axgen_value(g);
	regs->rsi = axgen_addr(g);
	regs->rdi = axgen_addr(g);
	regs->rbp = axgen_addr(g);
}

static void begin(const struct jitdiff_world *w, struct jitdiff_run *r, const struct gtp_regs *regs,
		  u32 room)
{
	u32 i;

	r->world = w;
	r->len = 0;
	r->room = room;
	for (i = 0; i < JITDIFF_TSVS; i++)
		r->tsv[i] = (s64)i - 2;
	r->env = (struct ax_env){
		.ops = &ops,
		.ctx = r,
		.regs = regs,
		.pc = w->pc,
		.stack = r->stack,
		.text = r->text,
		.local = (u64 *)r->tsv,
		.entered = JITDIFF_ENTERED,
	};
}

static bool same_error(const struct ax_error *a, const struct ax_error *b)
{
	return a->code == b->code && a->pc == b->pc && a->op == b->op && a->arg == b->arg &&
	       a->arg2 == b->arg2;
}

static bool same(const struct jitdiff_run *a, const struct jitdiff_run *b)
{
	return a->ret == b->ret && a->value == b->value &&
	       (a->ret != -EINVAL || same_error(&a->env.err, &b->env.err)) && a->len == b->len &&
	       !memcmp(a->log, b->log, a->len) && !memcmp(a->tsv, b->tsv, sizeof(a->tsv));
}

static void count(const struct jitdiff_run *r)
{
	jitdiff_stats.runs++;
	if (!r->ret)
		jitdiff_stats.values++;
	else if (r->ret == -ENOSPC)
		jitdiff_stats.full++;
	else
		jitdiff_stats.errors[r->env.err.code]++;
}

static int compare(const struct jitdiff_world *w, struct jitdiff_case *c,
		   const struct ax_verified *v, ax_jit_fn fn, struct axgen *g)
{
	u32 room = axgen_pick(g, 16) ? JITDIFF_LOG : 64 * axgen_pick(g, 16);

	jitdiff_regs(&c->regs, g);
	begin(w, &c->interpreter, &c->regs, room);
	begin(w, &c->compiler, &c->regs, room);
	c->interpreter.ret = ax_interp(v, &c->interpreter.env, &c->interpreter.value);
	c->compiler.ret = ax_jit_run(fn, &c->compiler.env, &c->compiler.value);
	count(&c->interpreter);
	if (same(&c->interpreter, &c->compiler))
		return 0;
	w->differ(c);
	return -EPROTO;
}

/* Check that the variable exists, as run control does before it compiles. */
static enum ax_err known(void *ctx, u16 tsv, bool sets)
{
	return tsv < JITDIFF_TSVS ? AX_OK : AX_E_UNKNOWN_TSV;
}

int jitdiff(const struct jitdiff_world *w, const u8 *code, u32 len, struct axgen *g)
{
	static struct ax_point points[AX_MAX_LEN];
	static struct jitdiff_case c;
	struct ax_verified v;
	struct ax_error err;
	ax_jit_fn fn;
	u32 i, n;
	int ret;

	if (ax_verify(code, len, AX_CONDITION, points, &v, &err) != AX_OK ||
	    ax_verify_tsvs(&v, known, NULL, &err) != AX_OK)
		return -EINVAL;
	ret = w->compile(&v, g, &fn, &n);
	if (ret)
		return ret;
	jitdiff_stats.programs++;
	jitdiff_stats.bytecode += len;
	jitdiff_stats.machine_code += n;
	c.code = code;
	c.len = len;
	for (i = 0; i < JITDIFF_RUNS && !ret; i++)
		ret = compare(w, &c, &v, fn, g);
	return ret;
}
