// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make tracepoints from QTDP packets. A packet defines nothing unless every field is valid and
 * every expression is verified.
 *
 *	QTDP:N:ADDR:E|D:STEP:PASS[:Flen][:S][:Xlen,hex][-]
 *	QTDP:-N:ADDR:{Rmask|Mbase,offset,len|Xlen,hex}...[-]
 */
#include "base/regs.h"
#include "trace/frame.h"
#include "tracepoint/at_return.h"
#include "tracepoint/def.h"

/* --- the beginning of both packets --- */

static int read_key(struct gtp_def *d, u32 *num, u64 *addr)
{
	if (!gtp_in_hex32(&d->in, num))
		return gtp_def_bad(d, "tracepoint number is not a hex number");
	if (!*num || *num > GTP_TP_NUM_MAX) {
		gtp_why(d->why, "QTDP: tracepoint number %u is not in 1 to %u", *num,
			GTP_TP_NUM_MAX);
		return -EINVAL;
	}
	if (!gtp_in_char(&d->in, ':'))
		return gtp_def_bad(d, "no colon after the tracepoint number");
	if (!gtp_in_hex64(&d->in, addr))
		return gtp_def_bad(d, "address is not a hex number");
	if (!gtp_in_char(&d->in, ':'))
		return gtp_def_bad(d, "no colon after the address");
	return 0;
}

/* Cut off a trailing '-' (more packets follow) first: "M-1" has a '-' as well. */
static bool cut_more(struct gtp_in *in)
{
	if (gtp_in_end(in) || in->end[-1] != '-')
		return false;
	in->end--;
	return true;
}

/* --- QTDP: the fields after the pass count --- */

static int field_fast(struct gtp_def *d)
{
	if (!gtp_in_hex32(&d->in, &d->tp->fast_len))
		return gtp_def_bad(d, "length of the instruction is not a hex number");
	d->tp->fast = true;
	return 0;
}

static int field_static(struct gtp_def *d)
{
	d->tp->is_static = true;
	return 0;
}

static int field_condition(struct gtp_def *d)
{
	if (d->tp->cond)
		return gtp_def_bad(d, "second condition");
	return gtp_def_condition(d, &d->tp->cond);
}

static const struct field {
	char letter;
	int (*read)(struct gtp_def *d);
} fields[] = {
	{ 'F', field_fast },
	{ 'S', field_static },
	{ 'X', field_condition },
};

static int read_field(struct gtp_def *d)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if (gtp_in_char(&d->in, fields[i].letter))
			return fields[i].read(d);
	return gtp_def_bad(d, "unknown field");
}

static int refuse_stepping(struct gtp_def *d)
{
	gtp_why(d->why,
		"while-stepping is not supported: use gtp path, and delete this action of tracepoint %u",
		d->tp->num);
	return -EOPNOTSUPP;
}

static int read_definition(struct gtp_def *d)
{
	u64 step;
	int rc = 0;

	gtp_tracepoint_switch(d->tp, gtp_in_peek(&d->in) == 'E');
	if (!gtp_in_char(&d->in, 'E') && !gtp_in_char(&d->in, 'D'))
		return gtp_def_bad(d, "neither E nor D");
	if (!gtp_in_char(&d->in, ':'))
		return gtp_def_bad(d, "no colon after E or D");
	if (!gtp_in_hex64(&d->in, &step))
		return gtp_def_bad(d, "step count is not a hex number");
	if (!gtp_in_char(&d->in, ':'))
		return gtp_def_bad(d, "no colon after the step count");
	if (!gtp_in_hex64(&d->in, &d->tp->pass))
		return gtp_def_bad(d, "pass count is not a hex number");
	if (step)
		return refuse_stepping(d);
	while (!rc && !gtp_in_end(&d->in))
		rc = gtp_in_char(&d->in, ':') ? read_field(d) : gtp_def_bad(d, "unexpected text");
	return rc;
}

static int new_tracepoint(struct gtp_def *d, u32 num, u64 addr)
{
	if (d->list->count >= GTP_TRACEPOINTS_MAX) {
		gtp_why(d->why, "%u tracepoints are defined, more are not possible",
			d->list->count);
		return -EINVAL;
	}
	d->tp = d->mem->alloc(d->mem->ctx, sizeof(*d->tp));
	if (!d->tp) {
		gtp_why(d->why, "no memory for tracepoint %u", num);
		return -ENOMEM;
	}
	d->tp->num = num;
	d->tp->addr = addr;
	d->tp->slot = GTP_SLOT_NONE;
	return 0;
}

int gtp_tracepoint_define(struct gtp_tracepoints *list, const struct gtp_mem *mem, const char *text,
			  struct gtp_tracepoint **out, struct gtp_why *why)
{
	struct gtp_def d = { .packet = "QTDP", .list = list, .mem = mem, .why = why };
	struct gtp_tracepoint *old;
	bool more;
	u64 addr;
	u32 num;
	int rc;

	*out = NULL;
	gtp_in_init(&d.in, text, strlen(text));
	d.in.skipped = strlen("QTDP:");
	more = cut_more(&d.in);
	rc = read_key(&d, &num, &addr);
	if (rc)
		return rc;
	old = gtp_tracepoint_find(list, num, addr);
	if (old) {
		old->defining = false;
		old->repeated = true;
		return 0;
	}
	rc = new_tracepoint(&d, num, addr);
	if (rc)
		return rc;
	rc = read_definition(&d);
	if (rc) {
		gtp_tracepoint_free(list, mem, d.tp);
		return rc;
	}
	d.tp->defining = more;
	gtp_at_return_settle(d.tp);
	gtp_tracepoints_append(list, d.tp);
	*out = d.tp;
	return 0;
}

/* --- QTDP:- and its actions --- */

static int action_regs(struct gtp_def *d, struct gtp_action *a)
{
	int digit = gtp_hex_digit(gtp_in_peek(&d->in));

	if (digit < 0)
		return gtp_def_bad(d, "register mask is not a hex number");
	/*
	 * The mask has a bit for each of GDB's registers, which may be more than 64. The known
	 * registers have the lowest bits, so let the highest digits be shifted out.
	 */
	for (; digit >= 0; digit = gtp_hex_digit(gtp_in_peek(&d->in))) {
		a->mask = a->mask << 4 | (u64)digit;
		d->in.p++;
	}
	a->mask &= GTP_REGS_KNOWN;
	return 0;
}

static int read_base(struct gtp_def *d, s32 *base)
{
	u32 n;

	if (gtp_in_word(&d->in, "-1,")) {
		*base = -1;
		return 0;
	}
	if (!gtp_in_hex32(&d->in, &n))
		return gtp_def_bad(d, "base register is neither a hex number nor -1");
	if (n >= GTP_NR_SAVED_REGS) {
		gtp_why(d->why, "tracepoint %u, action %u (M): register %u is not known at a hit",
			d->tp->num, d->tp->nactions + 1, n);
		return -EINVAL;
	}
	if (!gtp_in_char(&d->in, ','))
		return gtp_def_bad(d, "no comma after the base register");
	*base = (s32)n;
	return 0;
}

static int action_mem(struct gtp_def *d, struct gtp_action *a)
{
	int rc = read_base(d, &a->base);

	if (rc)
		return rc;
	if (!gtp_in_hex64(&d->in, &a->offset))
		return gtp_def_bad(d, "offset is not a hex number");
	if (!gtp_in_char(&d->in, ','))
		return gtp_def_bad(d, "no comma after the offset");
	if (!gtp_in_hex64(&d->in, &a->len))
		return gtp_def_bad(d, "length is not a hex number");
	if (!a->len || a->len > GTP_FRAME_MAX) {
		gtp_why(d->why,
			"tracepoint %u, action %u (M): collects %llu bytes; 1 to %u are possible",
			d->tp->num, d->tp->nactions + 1, a->len, GTP_FRAME_MAX);
		return -EINVAL;
	}
	return 0;
}

static int action_expr(struct gtp_def *d, struct gtp_action *a)
{
	char where[32];

	snprintf(where, sizeof(where), "action %u (X)", d->tp->nactions + 1);
	return gtp_def_expr(d, AX_ACTION, where, &a->expr);
}

static int action_static(struct gtp_def *d, struct gtp_action *a __always_unused)
{
	d->tp->sdata = true;
	return 0;
}

static int refuse_step_action(struct gtp_def *d, struct gtp_action *a __always_unused)
{
	return refuse_stepping(d);
}

static const struct letter {
	char letter;
	enum gtp_action_kind kind;
	int (*read)(struct gtp_def *d, struct gtp_action *a);
} letters[] = {
	{ 'R', GTP_ACTION_REGS, action_regs }, { 'M', GTP_ACTION_MEM, action_mem },
	{ 'X', GTP_ACTION_EXPR, action_expr }, { 'L', GTP_ACTION_STATIC, action_static },
	{ 'S', 0, refuse_step_action },
};

static const struct letter *find_letter(struct gtp_in *in)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(letters); i++)
		if (gtp_in_char(in, letters[i].letter))
			return &letters[i];
	return NULL;
}

/* Store the text of an action in the action. Its length is known only after parsing. */
static int keep_action(struct gtp_def *d, const struct gtp_action *head, const char *from)
{
	size_t len = (size_t)(d->in.p - from);
	struct gtp_action *a =
		gtp_tracepoint_part(d->list, d->tp, d->mem, sizeof(*a) + len + 1, d->why);
	struct gtp_action **at = &d->tp->actions;

	if (!a)
		return -ENOMEM;
	*a = *head;
	memcpy(a->text, from, len);
	while (*at)
		at = &(*at)->next;
	*at = a;
	d->tp->nactions++;
	return 0;
}

static int read_action(struct gtp_def *d)
{
	struct gtp_action head = { 0 };
	const char *from = d->in.p;
	const struct letter *l = find_letter(&d->in);
	int rc;

	if (!l)
		return gtp_def_bad(d, "unknown action");
	if (d->tp->nactions >= GTP_ACTIONS_MAX) {
		gtp_why(d->why, "tracepoint %u has more than %u actions", d->tp->num,
			GTP_ACTIONS_MAX);
		return -EINVAL;
	}
	head.kind = l->kind;
	rc = l->read(d, &head);
	if (!rc)
		rc = keep_action(d, &head, from);
	if (rc)
		d->mem->free(d->mem->ctx, head.expr);
	return rc;
}

int gtp_tracepoint_add_actions(struct gtp_tracepoints *list, const struct gtp_mem *mem,
			       const char *text, struct gtp_why *why)
{
	struct gtp_def d = { .packet = "QTDP", .list = list, .mem = mem, .why = why };
	bool more;
	u64 addr;
	u32 num;
	int rc;

	gtp_in_init(&d.in, text, strlen(text));
	d.in.skipped = strlen("QTDP:-");
	more = cut_more(&d.in);
	rc = read_key(&d, &num, &addr);
	if (rc)
		return rc;
	d.tp = gtp_tracepoint_find(list, num, addr);
	if (!d.tp) {
		gtp_why(why, "QTDP: actions for tracepoint %u at 0x%llx, which is not defined", num,
			addr);
		return -ENOENT;
	}
	if (!d.tp->defining)
		return 0;
	while (!rc && !gtp_in_end(&d.in))
		rc = read_action(&d);
	if (rc) {
		gtp_tracepoint_remove(list, mem, d.tp);
		return rc;
	}
	d.tp->defining = more;
	gtp_at_return_settle(d.tp);
	return 0;
}
