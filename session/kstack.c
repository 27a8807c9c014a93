// SPDX-License-Identifier: GPL-2.0-only
/* Allocates the table of stacks for a run, if any of its expressions uses $kstack or $ustack. */
#include "base/space.h"
#include "session/kstack.h"

struct use {
	bool kstack, ustack, bt;
};

static enum ax_err note_use(void *ctx, u16 tsv, bool sets)
{
	struct use *use = ctx;

	use->kstack |= tsv == GTP_TSV_KSTACK;
	use->ustack |= tsv == GTP_TSV_USTACK;
	use->bt |= tsv == GTP_TSV_BT;
	return AX_OK;
}

static void look(const struct gtp_expr *e, struct use *use)
{
	struct ax_error err;

	if (e)
		ax_verify_tsvs(&e->ax, note_use, use, &err);
}

static struct use uses(const struct gtp_tracepoint *tp)
{
	struct use use = { false };
	const struct gtp_action *a;

	look(tp->cond, &use);
	for (a = tp->actions; a; a = a->next)
		look(a->expr, &use);
	return use;
}

/*
 * At a return, expressions see the registers of the entry, whose rsp points to the return address
 * of the call. The callers' frames have not changed since, so $kstack is right. But $bt is refused:
 * if a kretprobe reports the return, the collected bytes would begin with the address of its
 * trampoline.
 */
int gtp_kstack_check(const struct gtp_tracepoint *tp, struct gtp_why *why)
{
	struct use use = uses(tp);
	char title[GTP_TITLE_MAX];

	if (tp->at_return && use.bt) {
		gtp_why(why,
			"%s names $bt, and is reported at the function's return ($ret, $latency, $entry_clock): the stack's bytes are not the entry's any more; collect $kstack, or $bt at another tracepoint, without these",
			gtp_tracepoint_title(tp, title));
		return -EINVAL;
	}
	if (use.kstack && gtp_space_is(tp->addr)) {
		gtp_why(why,
			"%s names $kstack, and is in a program: the kernel's stack is empty there; $ustack is the program's",
			gtp_tracepoint_title(tp, title));
		return -EINVAL;
	}
	if (tp->dprintf && (use.kstack || use.ustack)) {
		gtp_why(why,
			"a dprintf has no table of stacks: collect $%s, or set a key to it, at a tracepoint",
			use.kstack ? "kstack" : "ustack");
		return -EINVAL;
	}
	return 0;
}

static bool needs_table(const struct gtp_tracepoint *tp)
{
	struct use use = uses(tp);

	return use.kstack || use.ustack;
}

static bool is_needed(const struct gtp_trace *t, const struct gtp_tracepoint *only)
{
	const struct gtp_tracepoint *tp;

	if (only)
		return needs_table(only);
	for (tp = t->tps.first; tp; tp = tp->next)
		if (needs_table(tp))
			return true;
	return false;
}

static u32 wanted_bytes(const struct gtp_trace *t)
{
	u64 bytes = t->target->stacks_bytes(t->ctx);

	if (bytes < GTP_STACKS_BYTES_MIN)
		return GTP_STACKS_BYTES_MIN;
	return bytes < GTP_STACKS_BYTES_MAX ? (u32)bytes : GTP_STACKS_BYTES_MAX;
}

int gtp_kstack_get(struct gtp_trace *t, const struct gtp_tracepoint *only, struct gtp_why *why)
{
	void *mem = NULL;
	size_t all;
	u32 bytes;

	if (t->run.stacks || !is_needed(t, only))
		return 0;
	bytes = wanted_bytes(t);
	all = gtp_stacks_bytes(bytes, t->run.ncpus);
	if (all <= t->target->memory_most(t->ctx))
		mem = t->mem.alloc(t->mem.ctx, all);
	if (!mem) {
		gtp_why(why,
			"no memory for the table of stacks of %u KiB: set the module parameter stacks_kb to less",
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
