// SPDX-License-Identifier: GPL-2.0-only
/* The list of tracepoints: find, free, source text, and the upload to a GDB that connects later. */
#include <gtp/parse.h>
#include "tracepoint/tracepoint.h"

struct gtp_tracepoint *gtp_tracepoint_find(const struct gtp_tracepoints *list, u32 num, u64 addr)
{
	struct gtp_tracepoint *tp;

	for (tp = list->first; tp; tp = tp->next)
		if (tp->num == num && tp->addr == addr)
			return tp;
	return NULL;
}

void gtp_tracepoint_free(const struct gtp_mem *mem, struct gtp_tracepoint *tp)
{
	while (tp->actions) {
		struct gtp_action *a = tp->actions;

		tp->actions = a->next;
		mem->free(mem->ctx, a->expr);
		mem->free(mem->ctx, a);
	}
	while (tp->sources) {
		struct gtp_source *s = tp->sources;

		tp->sources = s->next;
		mem->free(mem->ctx, s);
	}
	mem->free(mem->ctx, tp->cond);
	mem->free(mem->ctx, tp);
}

void gtp_tracepoint_remove(struct gtp_tracepoints *list, const struct gtp_mem *mem,
			   struct gtp_tracepoint *tp)
{
	struct gtp_tracepoint **at;

	for (at = &list->first; *at != tp; at = &(*at)->next)
		;
	*at = tp->next;
	list->count--;
	gtp_tracepoint_free(mem, tp);
}

void gtp_tracepoints_clear(struct gtp_tracepoints *list, const struct gtp_mem *mem)
{
	while (list->first)
		gtp_tracepoint_remove(list, mem, list->first);
}

/* --- memory --- */

u32 gtp_tracepoints_room(const struct gtp_tracepoints *list)
{
	const struct gtp_tracepoint *tp;
	u32 room = GTP_PARTS_MAX;

	for (tp = list->first; tp; tp = tp->next)
		room -= tp->part_bytes;
	return room;
}

void *gtp_tracepoint_part(struct gtp_tracepoint *tp, const struct gtp_mem *mem, size_t bytes,
			  u32 *room, struct gtp_why *why)
{
	void *p;

	if (bytes > *room) {
		gtp_why(why,
			"tracepoint %u: conditions, actions and their texts would take more than %u MiB in all; delete some tracepoints",
			tp->num, GTP_PARTS_MAX >> 20);
		return NULL;
	}
	p = mem->alloc(mem->ctx, bytes);
	if (!p) {
		gtp_why(why, "no memory for tracepoint %u", tp->num);
		return NULL;
	}
	*room -= (u32)bytes;
	tp->part_bytes += (u32)bytes;
	return p;
}

/* --- source text --- */

static int bad_source(struct gtp_why *why, const struct gtp_in *in, const char *what)
{
	gtp_why(why, "QTDPsrc: %s at column %u", what, gtp_in_column(in));
	return -EINVAL;
}

/* The type is echoed in qTfP, so nothing but letters gets in. */
static bool take_type(struct gtp_in *in, char *type, size_t size)
{
	size_t n = 0;

	while (n < size - 1 && gtp_in_peek(in) >= 'a' && gtp_in_peek(in) <= 'z')
		type[n++] = *in->p++;
	type[n] = '\0';
	return n > 0;
}

static void append_source(struct gtp_tracepoint *tp, struct gtp_source *s)
{
	struct gtp_source **at = &tp->sources;

	while (*at)
		at = &(*at)->next;
	*at = s;
}

int gtp_tracepoint_add_source(struct gtp_tracepoints *list, const struct gtp_mem *mem,
			      const char *text, struct gtp_why *why)
{
	struct gtp_tracepoint *tp;
	struct gtp_source head = { 0 }, *s;
	const char *hex;
	struct gtp_in in;
	size_t len;
	u64 addr;
	u32 num, room;

	gtp_in_init(&in, text, strlen(text));
	in.skipped = strlen("QTDPsrc:");
	if (!gtp_in_hex32(&in, &num) || !gtp_in_char(&in, ':'))
		return bad_source(why, &in, "tracepoint number is not a hex number");
	if (!gtp_in_hex64(&in, &addr) || !gtp_in_char(&in, ':'))
		return bad_source(why, &in, "address is not a hex number");
	if (!take_type(&in, head.type, sizeof(head.type)) || !gtp_in_char(&in, ':'))
		return bad_source(why, &in, "kind of source is not a short word");
	if (!gtp_in_hex32(&in, &head.start) || !gtp_in_char(&in, ':'))
		return bad_source(why, &in, "start is not a hex number");
	if (!gtp_in_hex32(&in, &head.len) || !gtp_in_char(&in, ':'))
		return bad_source(why, &in, "length is not a hex number");
	if (!gtp_hex_is(in.p, gtp_in_left(&in)))
		return bad_source(why, &in, "source text is not hex");
	len = gtp_in_rest(&in, &hex);

	tp = gtp_tracepoint_find(list, num, addr);
	if (!tp) {
		gtp_why(why, "QTDPsrc: there is no tracepoint %u at 0x%llx", num, addr);
		return -ENOENT;
	}
	if (tp->repeated)
		return 0;
	room = gtp_tracepoints_room(list);
	s = gtp_tracepoint_part(tp, mem, sizeof(*s) + len + 1, &room, why);
	if (!s)
		return -ENOMEM;
	*s = head;
	memcpy(s->hex, hex, len);
	append_source(tp, s);
	return 0;
}

/* --- upload --- */

static void put_head(struct gtp_out *out, char letter, const struct gtp_tracepoint *tp)
{
	gtp_out_printf(out, "%c%x:%llx:", letter, tp->num, tp->addr);
}

static void put_definition(struct gtp_out *out, const struct gtp_tracepoint *tp)
{
	put_head(out, 'T', tp);
	gtp_out_printf(out, "%c:0:%llx", READ_ONCE(tp->enabled) ? 'E' : 'D', tp->pass);
	if (tp->is_static)
		gtp_out_printf(out, ":S");
	if (tp->cond) {
		gtp_out_printf(out, ":X%x,", tp->cond->ax.len);
		gtp_out_hex(out, tp->cond->ax.code, tp->cond->ax.len);
	}
}

static bool put_action(struct gtp_out *out, const struct gtp_tracepoint *tp, u32 n)
{
	const struct gtp_action *a = tp->actions;

	while (a && n--)
		a = a->next;
	if (!a)
		return false;
	put_head(out, 'A', tp);
	gtp_out_text(out, a->text, strlen(a->text));
	return true;
}

/*
 * GDB sends "-m ID" or "-qualified -m ID" for a place, but does not take it back: it would give up
 * connecting. The address says the same, and GDB asks for the marker there.
 */
static bool is_marker_option(const struct gtp_tracepoint *tp, const struct gtp_source *s)
{
	return tp->is_static && !strcmp(s->type, "at") && !strncmp(s->hex, "2d", 2);
}

static void put_address(struct gtp_out *out, u64 addr)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "*0x%llx", addr);

	gtp_out_printf(out, "at:0:%x:", (u32)len);
	gtp_out_hex(out, text, (size_t)len);
}

static bool put_source(struct gtp_out *out, const struct gtp_tracepoint *tp, u32 n)
{
	const struct gtp_source *s = tp->sources;

	while (s && n--)
		s = s->next;
	if (!s)
		return false;
	put_head(out, 'Z', tp);
	if (is_marker_option(tp, s)) {
		put_address(out, tp->addr);
		return true;
	}
	gtp_out_printf(out, "%s:%x:%x:", s->type, s->start, s->len);
	gtp_out_text(out, s->hex, strlen(s->hex));
	return true;
}

int gtp_tracepoint_piece(const struct gtp_tracepoint *tp, u32 piece, char *buf, size_t size)
{
	struct gtp_out out;

	gtp_out_init(&out, buf, size);
	if (!piece)
		put_definition(&out, tp);
	else if (piece <= tp->nactions)
		put_action(&out, tp, piece - 1);
	else if (!put_source(&out, tp, piece - 1 - tp->nactions))
		return 0;
	return (int)out.len;
}
