// SPDX-License-Identifier: GPL-2.0-only
/*
 * QTDP packets to tracepoints: every field is checked, every expression verified, or nothing is
 * defined.
 *
 *	QTDP:N:ADDR:E|D:STEP:PASS[:Flen][:S][:Xlen,hex][-]
 *	QTDP:-N:ADDR:{Rmask|Mbase,offset,len|Xlen,hex}...[-]
 */
#include "base/parse.h"
#include "base/regs.h"
#include "trace/frame.h"
#include "tracepoint/tracepoint.h"

/* struct def - a packet being parsed and its tracepoint */
struct def {
	struct gtp_in in;
	struct gtp_tracepoints *list;
	const struct gtp_mem *mem;
	struct gtp_tracepoint *tp;
	struct gtp_why *why;
};

static int bad(struct def *d, const char *what)
{
	gtp_why(d->why, "QTDP: %s at column %u", what, gtp_in_column(&d->in));
	return -EINVAL;
}

/* --- the head of both packets --- */

static int read_key(struct def *d, u32 *num, u64 *addr)
{
	if (!gtp_in_hex32(&d->in, num))
		return bad(d, "tracepoint number is not a hex number");
	if (!*num || *num > GTP_TP_NUM_MAX) {
		gtp_why(d->why, "QTDP: tracepoint number %u is not in 1 to %u", *num,
			GTP_TP_NUM_MAX);
		return -EINVAL;
	}
	if (!gtp_in_char(&d->in, ':'))
		return bad(d, "no colon after the tracepoint number");
	if (!gtp_in_hex64(&d->in, addr))
		return bad(d, "address is not a hex number");
	if (!gtp_in_char(&d->in, ':'))
		return bad(d, "no colon after the address");
	return 0;
}

/* A trailing '-' is cut off before anything else is read: "M-1" must not end with one. */
static bool cut_more(struct gtp_in *in)
{
	if (gtp_in_end(in) || in->end[-1] != '-')
		return false;
	in->end--;
	return true;
}

/* --- expressions --- */

/* One allocation: the expression, the verifier's findings, the bytecode. */
static struct gtp_expr *new_expr(struct def *d, u32 len, struct ax_point **points, u8 **code)
{
	size_t bytes = sizeof(struct gtp_expr) + len * sizeof(struct ax_point) + len;
	struct gtp_expr *e = gtp_tracepoint_part(d->list, d->tp, d->mem, bytes, d->why);

	if (!e)
		return NULL;
	*points = (struct ax_point *)(e + 1);
	*code = (u8 *)(*points + len);
	return e;
}

/* @where: "condition", "action 2 (X)" */
static int refuse_expr(struct def *d, const char *where, const struct ax_error *err)
{
	char text[128];

	ax_error_format(err, text, sizeof(text));
	gtp_why(d->why, "tracepoint %u, %s: %s", d->tp->num, where, text);
	return -EINVAL;
}

static int read_expr(struct def *d, enum ax_kind kind, const char *where, struct gtp_expr **out)
{
	struct ax_point *points;
	struct ax_error err;
	struct gtp_expr *e;
	u8 *code;
	u32 len;
	int rc;

	if (!gtp_in_hex32(&d->in, &len))
		return bad(d, "length of the expression is not a hex number");
	if (!len || len > AX_MAX_LEN)
		return bad(d, "the expression is empty or too long");
	if (d->tp->code_bytes + len > GTP_CODE_MAX) {
		gtp_why(d->why, "the expressions of tracepoint %u have more than %u bytes in all",
			d->tp->num, GTP_CODE_MAX);
		return -EINVAL;
	}
	if (!gtp_in_char(&d->in, ','))
		return bad(d, "no comma after the expression's length");
	if (gtp_in_left(&d->in) < 2 * (size_t)len)
		return bad(d, "the expression is shorter than its length says");
	e = new_expr(d, len, &points, &code);
	if (!e)
		return -ENOMEM;
	if (!gtp_in_bytes(&d->in, code, len)) {
		rc = bad(d, "the expression is not hex");
		goto err_free;
	}
	if (ax_verify(code, len, kind, points, &e->ax, &err)) {
		rc = refuse_expr(d, where, &err);
		goto err_free;
	}
	d->tp->code_bytes += len;
	*out = e;
	return 0;

err_free:
	d->mem->free(d->mem->ctx, e);
	return rc;
}

/* --- QTDP: the fields behind the pass count --- */

static int field_fast(struct def *d)
{
	if (!gtp_in_hex32(&d->in, &d->tp->fast_len))
		return bad(d, "length of the instruction is not a hex number");
	d->tp->fast = true;
	return 0;
}

static int field_static(struct def *d)
{
	d->tp->is_static = true;
	return 0;
}

static int field_condition(struct def *d)
{
	int rc;

	if (d->tp->cond)
		return bad(d, "second condition");
	rc = read_expr(d, AX_CONDITION, "condition", &d->tp->cond);
	if (rc)
		return rc;
	/* A condition runs before its frame is opened: it has nowhere to collect to. */
	if (d->tp->cond->ax.flags & AX_F_COLLECTS) {
		gtp_why(d->why, "tracepoint %u, condition: a condition cannot collect", d->tp->num);
		return -EINVAL;
	}
	return 0;
}

static const struct field {
	char letter;
	int (*read)(struct def *d);
} fields[] = {
	{ 'F', field_fast },
	{ 'S', field_static },
	{ 'X', field_condition },
};

static int read_field(struct def *d)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if (gtp_in_char(&d->in, fields[i].letter))
			return fields[i].read(d);
	return bad(d, "unknown field");
}

static int refuse_stepping(struct def *d)
{
	gtp_why(d->why,
		"while-stepping is not supported; delete the while-stepping action of tracepoint %u",
		d->tp->num);
	return -EOPNOTSUPP;
}

static int read_definition(struct def *d)
{
	u64 step;
	int rc = 0;

	d->tp->enabled = gtp_in_peek(&d->in) == 'E';
	if (!gtp_in_char(&d->in, 'E') && !gtp_in_char(&d->in, 'D'))
		return bad(d, "neither E nor D");
	if (!gtp_in_char(&d->in, ':'))
		return bad(d, "no colon after E or D");
	if (!gtp_in_hex64(&d->in, &step))
		return bad(d, "step count is not a hex number");
	if (!gtp_in_char(&d->in, ':'))
		return bad(d, "no colon after the step count");
	if (!gtp_in_hex64(&d->in, &d->tp->pass))
		return bad(d, "pass count is not a hex number");
	if (step)
		return refuse_stepping(d);
	while (!rc && !gtp_in_end(&d->in))
		rc = gtp_in_char(&d->in, ':') ? read_field(d) : bad(d, "unexpected text");
	return rc;
}

static int new_tracepoint(struct def *d, u32 num, u64 addr)
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
	struct def d = { .list = list, .mem = mem, .why = why };
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
	gtp_tracepoints_append(list, d.tp);
	*out = d.tp;
	return 0;
}

/* --- QTDP:- : actions --- */

static int action_regs(struct def *d, struct gtp_action *a)
{
	int digit = gtp_hex_digit(gtp_in_peek(&d->in));

	if (digit < 0)
		return bad(d, "register mask is not a hex number");
	/* The mask is as wide as GDB's register file: drop the high digits. */
	for (; digit >= 0; digit = gtp_hex_digit(gtp_in_peek(&d->in))) {
		a->mask = a->mask << 4 | (u64)digit;
		d->in.p++;
	}
	a->mask &= GTP_REGS_KNOWN;
	return 0;
}

static int read_base(struct def *d, s32 *base)
{
	u32 n;

	if (gtp_in_word(&d->in, "-1,")) {
		*base = -1;
		return 0;
	}
	if (!gtp_in_hex32(&d->in, &n))
		return bad(d, "base register is neither a hex number nor -1");
	if (n >= GTP_NR_SAVED_REGS) {
		gtp_why(d->why, "tracepoint %u, action %u (M): register %u is not known at a hit",
			d->tp->num, d->tp->nactions + 1, n);
		return -EINVAL;
	}
	if (!gtp_in_char(&d->in, ','))
		return bad(d, "no comma after the base register");
	*base = (s32)n;
	return 0;
}

static int action_mem(struct def *d, struct gtp_action *a)
{
	int rc = read_base(d, &a->base);

	if (rc)
		return rc;
	if (!gtp_in_hex64(&d->in, &a->offset))
		return bad(d, "offset is not a hex number");
	if (!gtp_in_char(&d->in, ','))
		return bad(d, "no comma after the offset");
	if (!gtp_in_hex64(&d->in, &a->len))
		return bad(d, "length is not a hex number");
	if (!a->len || a->len > GTP_FRAME_MAX) {
		gtp_why(d->why,
			"tracepoint %u, action %u (M): collects %llu bytes; 1 to %u are possible",
			d->tp->num, d->tp->nactions + 1, a->len, GTP_FRAME_MAX);
		return -EINVAL;
	}
	return 0;
}

static int action_expr(struct def *d, struct gtp_action *a)
{
	char where[32];

	snprintf(where, sizeof(where), "action %u (X)", d->tp->nactions + 1);
	return read_expr(d, AX_ACTION, where, &a->expr);
}

static int action_static(struct def *d, struct gtp_action *a __always_unused)
{
	d->tp->sdata = true;
	return 0;
}

static int refuse_step_action(struct def *d, struct gtp_action *a __always_unused)
{
	return refuse_stepping(d);
}

static const struct letter {
	char letter;
	enum gtp_action_kind kind;
	int (*read)(struct def *d, struct gtp_action *a);
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

/* The action is stored with its text, whose length is known only once it is parsed. */
static int keep_action(struct def *d, const struct gtp_action *head, const char *from)
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

static int read_action(struct def *d)
{
	struct gtp_action head = { 0 };
	const char *from = d->in.p;
	const struct letter *l = find_letter(&d->in);
	int rc;

	if (!l)
		return bad(d, "unknown action");
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
	struct def d = { .list = list, .mem = mem, .why = why };
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
	if (rc)
		gtp_tracepoint_remove(list, mem, d.tp);
	else
		d.tp->defining = more;
	return rc;
}
