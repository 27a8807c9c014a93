// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make dprintfs from Z0 packets with commands. A packet defines nothing unless all of it is valid.
 *
 *	Z0,ADDR,KIND[;Xlen,hex...];cmds:PERSIST,Xlen,hex...
 */
#include "tracepoint/at_return.h"
#include "tracepoint/def.h"
#include "tracepoint/dprintf.h"

/* struct parse - the state of parsing a packet: the dprintf, and conditions without commands yet */
struct parse {
	struct gtp_def d;
	struct gtp_dprintf *dp;
	u32 ncpus;
	struct gtp_tracepoint *conds; /* a tracepoint for each condition; not in @dp yet */
	u32 nconds;
};

static struct gtp_tracepoint **end_of(struct gtp_tracepoint **at)
{
	while (*at)
		at = &(*at)->next;
	return at;
}

/* Append a tracepoint to a list; its number is its ordinal in the list. */
static int append(struct parse *p, struct gtp_tracepoint **list, u32 num)
{
	const struct gtp_mem *mem = p->d.mem;
	struct gtp_tracepoint *tp;

	if (num > GTP_DPRINTF_HERE_MAX) {
		gtp_why(p->d.why, "there are more than %u dprintfs at 0x%llx; delete some",
			GTP_DPRINTF_HERE_MAX, p->dp->addr);
		return -EINVAL;
	}
	tp = mem->alloc(mem->ctx, sizeof(*tp));
	if (tp)
		tp->dprintf = mem->alloc(mem->ctx, p->ncpus * sizeof(*tp->dprintf));
	if (!tp || !tp->dprintf) {
		mem->free(mem->ctx, tp);
		gtp_why(p->d.why, "no memory for a dprintf at 0x%llx", p->dp->addr);
		return -ENOMEM;
	}
	tp->num = num;
	tp->addr = p->dp->addr;
	gtp_tracepoint_switch(tp, true);
	tp->slot = GTP_SLOT_NONE;
	*end_of(list) = tp;
	p->d.tp = tp;
	return 0;
}

static int read_conditions(struct parse *p)
{
	int rc = 0;

	while (!rc && gtp_in_char(&p->d.in, 'X')) {
		rc = append(p, &p->conds, ++p->nconds);
		if (!rc)
			rc = gtp_def_condition(&p->d, &p->d.tp->cond);
	}
	return rc;
}

/* Prepare the tracepoint of the next command: the one of its condition, or a new one. */
static int next_command(struct parse *p)
{
	struct gtp_tracepoint *tp = p->conds;

	p->dp->n++;
	if (!p->nconds)
		return append(p, &p->dp->tps, p->dp->n);
	if (!tp)
		return gtp_def_bad(&p->d, "more commands than conditions");
	p->conds = tp->next;
	tp->next = NULL;
	*end_of(&p->dp->tps) = tp;
	p->d.tp = tp;
	return 0;
}

/* Read a command of a dprintf, which may only print. */
static int read_command(struct parse *p)
{
	struct gtp_tracepoint *tp;
	struct gtp_action *a;
	int rc = next_command(p);

	if (rc)
		return rc;
	tp = p->d.tp;
	a = gtp_tracepoint_part(p->d.list, tp, p->d.mem, sizeof(*a) + 1, p->d.why);
	if (!a)
		return -ENOMEM;
	a->kind = GTP_ACTION_EXPR;
	tp->actions = a;
	tp->nactions = 1;
	rc = gtp_def_expr(&p->d, AX_ACTION, "command", &a->expr);
	if (rc)
		return rc;
	if ((a->expr->ax.flags & (AX_F_PRINTS | AX_F_COLLECTS)) == AX_F_PRINTS)
		return 0;
	gtp_why(p->d.why, "dprintf at 0x%llx: a command has to print, and cannot collect",
		tp->addr);
	return -EINVAL;
}

static int read_commands(struct parse *p)
{
	u32 persist;
	int rc = 0;

	if (!gtp_in_word(&p->d.in, "cmds:"))
		return gtp_def_bad(&p->d, "neither X nor cmds:");
	if (!gtp_in_hex32(&p->d.in, &persist) || persist > 1 || !gtp_in_char(&p->d.in, ','))
		return gtp_def_bad(&p->d, "neither 0, nor 1,");
	p->dp->persist = persist;
	while (!rc && gtp_in_char(&p->d.in, 'X'))
		rc = read_command(p);
	if (rc)
		return rc;
	if (!gtp_in_end(&p->d.in) || !p->dp->n)
		return gtp_def_bad(&p->d, "no command");
	return p->conds ? gtp_def_bad(&p->d, "more conditions than commands") : 0;
}

static int read_packet(struct parse *p)
{
	u32 kind;
	int rc;

	if (!gtp_in_hex64(&p->d.in, &p->dp->addr))
		return gtp_def_bad(&p->d, "address is not a hex number");
	if (!gtp_in_char(&p->d.in, ',') || !gtp_in_hex32(&p->d.in, &kind))
		return gtp_def_bad(&p->d, "kind is not a hex number");
	if (!gtp_in_char(&p->d.in, ';'))
		return gtp_def_bad(&p->d, "no ';' after the kind");
	rc = read_conditions(p);
	if (rc)
		return rc;
	if (p->nconds && !gtp_in_char(&p->d.in, ';'))
		return gtp_def_bad(&p->d, "no ';' after the conditions");
	return read_commands(p);
}

/*
 * Find out whether the dprintfs are reported when the function returns. If one of them is, all are,
 * because they share one location.
 */
static void settle(struct gtp_dprintf *dp)
{
	struct gtp_tracepoint *tp;
	bool at_return = false;

	for (tp = dp->tps; tp; tp = tp->next) {
		gtp_at_return_settle(tp);
		at_return |= tp->at_return;
	}
	for (tp = dp->tps; tp; tp = tp->next)
		tp->at_return = at_return;
}

static void free_all(struct gtp_tracepoints *list, const struct gtp_mem *mem,
		     struct gtp_tracepoint *tp)
{
	while (tp) {
		struct gtp_tracepoint *next = tp->next;

		gtp_tracepoint_free(list, mem, tp);
		tp = next;
	}
}

int gtp_dprintf_parse(struct gtp_tracepoints *list, const struct gtp_mem *mem, const char *text,
		      u32 ncpus, struct gtp_dprintf **out, struct gtp_why *why)
{
	struct parse p = {
		.d = { .packet = "Z0", .list = list, .mem = mem, .why = why },
		.ncpus = ncpus,
	};
	size_t len = strlen(text);
	int rc;

	p.dp = mem->alloc(mem->ctx, sizeof(*p.dp) + len + 1);
	if (!p.dp) {
		gtp_why(why, "no memory for a dprintf");
		return -ENOMEM;
	}
	memcpy(p.dp->text, text, len);
	p.dp->inserted = true;
	gtp_in_init(&p.d.in, text, len);
	p.d.in.skipped = strlen("Z0,");
	rc = read_packet(&p);
	free_all(list, mem, p.conds);
	if (rc) {
		gtp_dprintf_free(list, mem, p.dp);
		return rc;
	}
	settle(p.dp);
	*out = p.dp;
	return 0;
}

void gtp_dprintf_free(struct gtp_tracepoints *list, const struct gtp_mem *mem,
		      struct gtp_dprintf *dp)
{
	free_all(list, mem, dp->tps);
	mem->free(mem->ctx, dp);
}
