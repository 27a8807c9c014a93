// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps the list of tracepoints and their source texts, and uploads both to a GDB that connects
 * later.
 */
#include "base/parse.h"
#include "tracepoint/tracepoint.h"

const char *gtp_tracepoint_title(const struct gtp_tracepoint *tp, char *buf)
{
	if (tp->dprintf)
		snprintf(buf, GTP_TITLE_MAX, "dprintf at 0x%llx", tp->addr);
	else
		snprintf(buf, GTP_TITLE_MAX, "tracepoint %u", tp->num);
	return buf;
}

int gtp_tracepoint_refuse(const struct gtp_tracepoint *tp, u32 action, struct gtp_why *why,
			  const char *fmt, ...)
{
	char text[200], title[GTP_TITLE_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	gtp_tracepoint_title(tp, title);
	if (action)
		gtp_why(why, "%s, action %u (X): %s", title, action, text);
	else
		gtp_why(why, "%s, condition: %s", title, text);
	return -EINVAL;
}

/* --- the list and its two hash tables --- */

static u32 bucket_of_key(u32 num, u64 addr)
{
	/*
	 * Addresses and numbers differ mostly in their low bits; the multiplication spreads these.
	 */
	u64 mixed = (addr ^ (u64)num << 20) * 0x9e3779b97f4a7c15ULL;

	return (u32)(mixed >> 32) % GTP_TRACEPOINT_BUCKETS;
}

static u32 bucket_of_num(u32 num)
{
	return num % GTP_TRACEPOINT_BUCKETS;
}

struct gtp_tracepoint *gtp_tracepoint_find(const struct gtp_tracepoints *list, u32 num, u64 addr)
{
	struct gtp_tracepoint *tp = list->by_key[bucket_of_key(num, addr)];

	while (tp && (tp->num != num || tp->addr != addr))
		tp = tp->next_key;
	return tp;
}

static struct gtp_tracepoint *same_number(struct gtp_tracepoint *tp, u32 num)
{
	while (tp && tp->num != num)
		tp = tp->next_num;
	return tp;
}

struct gtp_tracepoint *gtp_tracepoint_newest(const struct gtp_tracepoints *list, u32 num)
{
	return same_number(list->by_num[bucket_of_num(num)], num);
}

struct gtp_tracepoint *gtp_tracepoint_older(const struct gtp_tracepoint *tp)
{
	return same_number(tp->next_num, tp->num);
}

/* If other tracepoints have the same number, set @several of all of them. */
static void note_several(struct gtp_tracepoints *list, struct gtp_tracepoint *tp)
{
	struct gtp_tracepoint *other = gtp_tracepoint_newest(list, tp->num);

	if (!other)
		return;
	WRITE_ONCE(other->several, true);
	tp->several = true;
}

void gtp_tracepoints_append(struct gtp_tracepoints *list, struct gtp_tracepoint *tp)
{
	struct gtp_tracepoint **key = &list->by_key[bucket_of_key(tp->num, tp->addr)];
	struct gtp_tracepoint **num = &list->by_num[bucket_of_num(tp->num)];

	note_several(list, tp);
	tp->next_key = *key;
	*key = tp;
	tp->next_num = *num;
	*num = tp;
	tp->prev = list->last;
	if (list->last)
		list->last->next = tp;
	else
		list->first = tp;
	list->last = tp;
	list->count++;
}

void gtp_tracepoint_free(struct gtp_tracepoints *list, const struct gtp_mem *mem,
			 struct gtp_tracepoint *tp)
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
	list->part_bytes -= tp->part_bytes;
	mem->free(mem->ctx, tp->cond);
	mem->free(mem->ctx, tp->dprintf);
	mem->free(mem->ctx, tp);
}

static void unindex(struct gtp_tracepoints *list, const struct gtp_tracepoint *tp)
{
	struct gtp_tracepoint **at;

	for (at = &list->by_key[bucket_of_key(tp->num, tp->addr)]; *at != tp; at = &(*at)->next_key)
		;
	*at = tp->next_key;
	for (at = &list->by_num[bucket_of_num(tp->num)]; *at != tp; at = &(*at)->next_num)
		;
	*at = tp->next_num;
}

void gtp_tracepoint_remove(struct gtp_tracepoints *list, const struct gtp_mem *mem,
			   struct gtp_tracepoint *tp)
{
	if (tp->prev)
		tp->prev->next = tp->next;
	else
		list->first = tp->next;
	if (tp->next)
		tp->next->prev = tp->prev;
	else
		list->last = tp->prev;
	unindex(list, tp);
	list->count--;
	list->removed++;
	gtp_tracepoint_free(list, mem, tp);
}

void gtp_tracepoints_clear(struct gtp_tracepoints *list, const struct gtp_mem *mem)
{
	u64 removed = list->removed + 1;

	while (list->first) {
		struct gtp_tracepoint *tp = list->first;

		list->first = tp->next;
		gtp_tracepoint_free(list, mem, tp);
	}
	memset(list, 0, sizeof(*list));
	list->removed = removed;
}

/* --- memory for tracepoints --- */

void *gtp_tracepoint_part(struct gtp_tracepoints *list, struct gtp_tracepoint *tp,
			  const struct gtp_mem *mem, size_t bytes, struct gtp_why *why)
{
	char title[GTP_TITLE_MAX];
	void *p;

	if (bytes > GTP_PARTS_MAX - list->part_bytes) {
		gtp_why(why,
			"%s: conditions, actions and their texts would take more than %u MiB in all; delete some %ss",
			gtp_tracepoint_title(tp, title), GTP_PARTS_MAX >> 20,
			tp->dprintf ? "dprintf" : "tracepoint");
		return NULL;
	}
	p = mem->alloc(mem->ctx, bytes);
	if (!p) {
		gtp_why(why, "no memory for %s", gtp_tracepoint_title(tp, title));
		return NULL;
	}
	list->part_bytes += (u32)bytes;
	tp->part_bytes += (u32)bytes;
	return p;
}

/* --- source texts --- */

static int bad_source(struct gtp_why *why, const struct gtp_in *in, const char *what)
{
	gtp_why(why, "QTDPsrc: %s at column %u", what, gtp_in_column(in));
	return -EINVAL;
}

/* Parse the type of a source text. Accept only letters, because the reply to qTfP repeats it. */
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
	u32 num;

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
	s = gtp_tracepoint_part(list, tp, mem, sizeof(*s) + len + 1, why);
	if (!s)
		return -ENOMEM;
	*s = head;
	memcpy(s->hex, hex, len);
	append_source(tp, s);
	return 0;
}

/* --- upload to GDB --- */

static void put_head(struct gtp_out *out, char letter, const struct gtp_tracepoint *tp)
{
	gtp_out_printf(out, "%c%x:%llx:", letter, tp->num, tp->addr);
}

static void put_definition(struct gtp_out *out, const struct gtp_tracepoint *tp)
{
	put_head(out, 'T', tp);
	gtp_out_printf(out, "%c:0:%llx", tp->enabled ? 'E' : 'D', tp->pass);
	if (tp->fast)
		gtp_out_printf(out, ":F%x", tp->fast_len);
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
 * True if the source text of the location is "-m ID" or "-qualified -m ID". GDB sends such a text,
 * but does not accept it in an upload: it would stop connecting. Send the address instead, which
 * GDB uses to ask for the marker.
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
