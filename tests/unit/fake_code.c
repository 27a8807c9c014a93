// SPDX-License-Identifier: GPL-2.0-only
/* Compiles the expressions of the fake machine's tracepoints, as the module does in the kernel. */
#include "fake_code.h"
#include "jit/item.h"

static struct jit_user *arena;
static struct gtp_target_ops with_code;

static int code_begin(void *ctx, const struct gtp_tsvs *tsvs, struct gtp_why *why)
{
	arena->ways = tsvs->ways;
	arena->slots = tsvs->slot;
	return 0;
}

static int code_make(void *ctx, struct gtp_expr *e, u64 pc, struct gtp_why *why)
{
	e->compiled = (void *)jit_user_compile(arena, &e->ax, pc, 0, NULL);
	e->early = ax_jit_can_early(&e->ax, &arena->target);
	return e->compiled ? 0 : -ENOSPC;
}

u32 fake_code_items(const struct gtp_tracepoint *tp, struct ax_jit_item items[FAKE_CODE_ITEMS])
{
	const struct gtp_action *a;
	u32 n = 0;

	for (a = tp->actions; a && n < FAKE_CODE_ITEMS; a = a->next)
		items[n++] = gtp_jit_item(a);
	return a ? 0 : n;
}

int fake_code_actions(struct jit_user *u, struct gtp_tracepoint *tp, u32 seed)
{
	struct ax_jit_item items[FAKE_CODE_ITEMS];
	struct ax_jit_request req = {
		.items = items,
		.nitems = fake_code_items(tp, items),
		.pc = tp->addr,
		.ways = u->ways,
		.slots = u->slots,
		.seed = seed,
	};

	tp->code = req.nitems ? (void *)jit_user_compile_request(u, &req, NULL, &tp->frame_bytes) :
				NULL;
	return tp->code ? 0 : -EOPNOTSUPP;
}

static int code_make_actions(void *ctx, struct gtp_tracepoint *tp, struct gtp_why *why)
{
	return fake_code_actions(arena, tp, 0);
}

static void code_end(void *ctx)
{
}

static void code_forget(void *ctx)
{
	jit_user_reset(arena);
}

void fake_code_on(struct gtp_trace *t, struct jit_user *u)
{
	arena = u;
	with_code = *t->target;
	with_code.code_begin = code_begin;
	with_code.code_make = code_make;
	with_code.code_make_actions = code_make_actions;
	with_code.code_end = code_end;
	with_code.code_forget = code_forget;
	t->target = &with_code;
}
