// SPDX-License-Identifier: GPL-2.0-only
/* $kstack's table: a run has one when an expression of it asks for the stack. */
#include "session/kstack.h"

static enum ax_err note_use(void *ctx, u16 tsv, bool sets)
{
	bool *used = ctx;

	*used |= tsv == GTP_TSV_KSTACK;
	return AX_OK;
}

static bool reads(const struct gtp_expr *e)
{
	struct ax_error err;
	bool used = false;

	if (e)
		ax_verify_tsvs(&e->ax, note_use, &used, &err);
	return used;
}

bool gtp_kstack_used(const struct gtp_tracepoint *tp)
{
	const struct gtp_action *a;

	if (reads(tp->cond))
		return true;
	for (a = tp->actions; a; a = a->next)
		if (reads(a->expr))
			return true;
	return false;
}

static bool is_needed(const struct gtp_trace *t, const struct gtp_tracepoint *only)
{
	const struct gtp_tracepoint *tp;

	if (only)
		return gtp_kstack_used(only);
	for (tp = t->tps.first; tp; tp = tp->next)
		if (gtp_kstack_used(tp))
			return true;
	return false;
}

static u32 wanted_bytes(const struct gtp_trace *t)
{
	u64 bytes = t->target->stacks_bytes ? t->target->stacks_bytes(t->ctx) :
					      GTP_KSTACK_BYTES_DEFAULT;

	if (bytes < GTP_STACKS_BYTES_MIN)
		return GTP_STACKS_BYTES_MIN;
	return bytes < GTP_STACKS_BYTES_MAX ? (u32)bytes : GTP_STACKS_BYTES_MAX;
}

int gtp_kstack_get(struct gtp_trace *t, const struct gtp_tracepoint *only, struct gtp_why *why)
{
	u32 bytes = wanted_bytes(t);
	size_t all = gtp_stacks_bytes(bytes, t->run.ncpus);
	void *mem = NULL;

	if (t->run.stacks || !is_needed(t, only))
		return 0;
	if (all <= t->target->memory_most(t->ctx))
		mem = t->mem.alloc(t->mem.ctx, all);
	if (!mem) {
		gtp_why(why,
			"no memory for $kstack's table of %u KiB: set the module parameter stacks_kb to less",
			bytes >> 10);
		return -ENOMEM;
	}
	gtp_publish(&t->run.stacks, gtp_stacks_init(mem, bytes, t->run.ncpus));
	return 0;
}

void gtp_kstack_drop(struct gtp_trace *t)
{
	t->mem.free(t->mem.ctx, t->run.stacks);
	t->run.stacks = NULL;
}
