/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of parsing a packet that defines a tracepoint or dprintf. */
#ifndef _GTP_DEF_H
#define _GTP_DEF_H

#include "base/parse.h"
#include "tracepoint/tracepoint.h"

/**
 * struct gtp_def - the state of parsing a packet that defines a tracepoint or dprintf
 * @in: the rest of the packet, which has not been parsed yet
 * @packet: the packet's name, for refusals
 * @list: the list that counts the memory of the tracepoint
 * @mem: the source of memory for the definition
 * @tp: the tracepoint that the packet defines; not on a list yet
 * @why: receives the refusal
 */
struct gtp_def {
	struct gtp_in in;
	const char *packet;
	struct gtp_tracepoints *list;
	const struct gtp_mem *mem;
	struct gtp_tracepoint *tp;
	struct gtp_why *why;
};

/* gtp_def_bad - refuse the packet with the words "QTDP: @what at column N"; return -EINVAL */
int gtp_def_bad(struct gtp_def *d, const char *what);

/**
 * gtp_def_expr() - parse "LENGTH,HEX" and verify the expression
 * @d: the packet; @d->tp exists
 * @kind: whether the expression is a condition or an action
 * @where: the expression's name in a refusal: "condition", "action 2 (X)"
 * @out: receives the expression, in memory of @d->mem
 *
 * Context: may sleep. Return: 0, -EINVAL or -ENOMEM with @d->why.
 */
int gtp_def_expr(struct gtp_def *d, enum ax_kind kind, const char *where, struct gtp_expr **out);

/* gtp_def_condition - parse "LENGTH,HEX" and verify it as a condition, which cannot collect */
int gtp_def_condition(struct gtp_def *d, struct gtp_expr **out);

#endif /* _GTP_DEF_H */
