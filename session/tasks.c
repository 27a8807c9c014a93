// SPDX-License-Identifier: GPL-2.0-only
/* Allocates the tables of a run's variables $task_NAME, which have a value for each task. */
#include "session/tasks.h"

enum { VARIABLES_MAX = 8 };

int gtp_tasks_check(const struct gtp_trace *t, const struct gtp_tracepoint *tp,
		    const struct ax_verified *v, u32 action, struct gtp_why *why)
{
	struct ax_insn insn = { 0 };

	if (!tp->dprintf)
		return 0;
	while (ax_next_reached(v, &insn)) {
		if (insn.op != AX_OP_getv && insn.op != AX_OP_setv && insn.op != AX_OP_tracev)
			continue;
		if (t->run.tsvs.ways[insn.operand] == AX_TSV_TASK)
			return gtp_tracepoint_refuse(
				tp, action, why,
				"$%s has a value for each task in a run of tracepoints; a dprintf cannot use it",
				t->run.tsvs.slot[insn.operand]->name);
	}
	return 0;
}

static int give_table(struct gtp_trace *t, struct gtp_tsv *tsv, struct gtp_why *why)
{
	struct gtp_tasks *tasks = NULL;

	if (sizeof(*tasks) <= t->target->memory_most(t->ctx))
		tasks = t->mem.alloc(t->mem.ctx, sizeof(*tasks));
	if (!tasks) {
		gtp_why(why, "no memory for the values of $%s, %u KiB", tsv->name,
			(u32)(sizeof(*tasks) >> 10));
		return -ENOMEM;
	}
	gtp_publish(&tsv->tasks, tasks);
	return 0;
}

int gtp_tasks_alloc(struct gtp_trace *t, struct gtp_why *why)
{
	u32 n = 0;
	int rc = 0;

	for (u32 num = GTP_TSV_NR_BUILTIN; num < GTP_TSV_MAX && !rc; num++) {
		struct gtp_tsv *tsv = t->run.tsvs.slot[num];

		if (!tsv || t->run.tsvs.ways[num] != AX_TSV_TASK)
			continue;
		if (++n > VARIABLES_MAX) {
			gtp_why(why,
				"$%s is one variable of tasks more than the %u that a run can have",
				tsv->name, VARIABLES_MAX);
			return -EINVAL;
		}
		if (!tsv->tasks)
			rc = give_table(t, tsv, why);
	}
	return rc;
}

void gtp_tasks_drop(struct gtp_trace *t)
{
	for (u32 num = GTP_TSV_NR_BUILTIN; num < GTP_TSV_MAX; num++) {
		struct gtp_tsv *tsv = t->run.tsvs.slot[num];

		if (!tsv || !tsv->tasks)
			continue;
		t->mem.free(t->mem.ctx, tsv->tasks);
		tsv->tasks = NULL;
	}
	gtp_tasks_forget_all();
}
