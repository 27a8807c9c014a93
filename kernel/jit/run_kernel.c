// SPDX-License-Identifier: GPL-2.0-only
/* Compiles a run's expressions to machine code in the kernel. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/printk.h>

#include "jit/item.h"
#include "kernel/base/lock_kernel.h"
#include "kernel/base/mem_kernel.h"
#include "kernel/base/params_kernel.h"
#include "kernel/jit/exec_kernel.h"
#include "kernel/jit/run_kernel.h"

static bool available; /* the arena has its common stubs */
static bool making;    /* between gtp_jit_code_begin() and gtp_jit_code_end() */
static bool refused;   /* a request has failed, so code compiled before it will not be armed */
static u32 used_before;
static const struct gtp_tsvs *variables; /* the session's trace state variables */

/*
 * Make the arena ready. If this fails, there is no machine code, and the interpreter evaluates all
 * expressions.
 */
void gtp_jit_start(void)
{
	int err = gtp_jit_init();

	available = !err;
	if (err)
		pr_warn("no memory for machine code (%d): expressions are interpreted\n", err);
}

int gtp_jit_code_begin(void *ctx, const struct gtp_tsvs *tsvs, struct gtp_why *why)
{
	u32 size;
	int err;

	lockdep_assert_held(&gtp_lock);
	making = false;
	refused = false;
	variables = tsvs;
	gtp_jit_usage(&used_before, &size);
	if (!available || !READ_ONCE(gtp_jit))
		return 0;
	err = gtp_jit_open();
	if (err)
		gtp_why(why, "no memory to write machine code; monitor jit off does without");
	making = !err;
	return err;
}

static int compile(struct ax_jit_request *req, struct gtp_jit_code *code, struct gtp_why *why)
{
	int err = gtp_jit_compile(req, code);

	if (!err || err == -EOPNOTSUPP || err == -ENOSPC)
		return err;
	refused = true;
	gtp_why(why, "its machine code cannot be made (%d); monitor jit off does without", err);
	return err;
}

int gtp_jit_code_make(void *ctx, struct gtp_expr *e, u64 pc, struct gtp_why *why)
{
	struct ax_jit_request req = {
		.v = &e->ax,
		.pc = pc,
		.ways = variables->ways,
		.slots = variables->slot,
	};
	struct gtp_jit_code code;
	int err;

	if (!making)
		return 0;
	err = compile(&req, &code, why);
	if (err)
		return err;
	e->compiled = (void *)code.fn;
	e->compiled_len = code.len;
	e->early = ax_jit_can_early(&e->ax, gtp_jit_target());
	return 0;
}

/* True if a snippet of the actions has work to do; false if all of them collect $_sdata. */
static bool has_work(const struct gtp_tracepoint *tp)
{
	const struct gtp_action *a = tp->actions;

	while (a && a->kind == GTP_ACTION_STATIC)
		a = a->next;
	return a;
}

int gtp_jit_code_make_actions(void *ctx, struct gtp_tracepoint *tp, struct gtp_why *why)
{
	struct ax_jit_request req = {
		.pc = tp->addr,
		.ways = variables->ways,
		.slots = variables->slot,
	};
	const struct gtp_action *a;
	struct ax_jit_item *items;
	struct gtp_jit_code code;
	int err;

	if (!making || !has_work(tp))
		return -EOPNOTSUPP;
	items = gtp_mem_alloc(tp->nactions * sizeof(*items));
	if (!items) {
		refused = true;
		gtp_why(why, "no memory to make machine code");
		return -ENOMEM;
	}
	for (a = tp->actions; a; a = a->next)
		items[req.nitems++] = gtp_jit_item(a);
	req.items = items;
	err = compile(&req, &code, why);
	gtp_mem_free(items);
	if (err)
		return err;
	tp->code = (void *)code.fn;
	tp->code_len = code.len;
	tp->frame_bytes = code.frame_bytes;
	return 0;
}

void gtp_jit_code_end(void *ctx)
{
	if (refused)
		gtp_jit_rewind(used_before);
	if (making)
		gtp_jit_close();
	making = false;
}

void gtp_jit_code_forget(void *ctx)
{
	gtp_jit_reset();
}
