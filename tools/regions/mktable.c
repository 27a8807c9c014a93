// SPDX-License-Identifier: GPL-2.0-only
/* Write and print tables of regions, in the format that regions/table.h describes. */
#include <err.h>
#include <stdlib.h>
#include "regions/table.h"
#include "tools/regions/mktable.h"
#include "tools/regions/verdict.h"
#include "tools/run/text.h"

struct buffer {
	u8 *bytes;
	size_t len;
	size_t room;
};

static u8 *extend(struct buffer *b, size_t n)
{
	u8 *at;

	if (b->room - b->len < n) {
		b->room = 2 * b->room + n + 4096;
		b->bytes = realloc(b->bytes, b->room);
		if (!b->bytes)
			text_errx(2, "out of memory");
	}
	at = b->bytes + b->len;
	memset(at, 0, n);
	b->len += n;
	return at;
}

static void put_varint(struct buffer *b, u32 v)
{
	for (; v >= 0x80; v >>= 7)
		*extend(b, 1) = (u8)(v | 0x80);
	*extend(b, 1) = (u8)v;
}

struct list {
	u32 *entries;
	u32 n;
};

static void list_add(struct list *l, u32 entry)
{
	if (!(l->n & (l->n - 1))) {
		l->entries = realloc(l->entries, (l->n ? 2 * (size_t)l->n : 1) * sizeof(u32));
		if (!l->entries)
			text_errx(2, "out of memory");
	}
	l->entries[l->n++] = entry;
}

static bool belongs(const struct rgn_text *text, const struct rgn_span *span,
		    const struct rgn_function *f, u32 at, enum gtp_table_kind kind)
{
	u32 leader = span->leader[at], site = span->site[at];
	bool inside = span->addr + at != f->addr;

	switch (kind) {
	case GTP_TABLE_HIDDEN:
		return inside && leader && !(leader & RGN_LEADER_SEEN);
	case GTP_TABLE_LEADER:
		return leader; /* even seen ones: the running kernel may have fewer symbols */
	case GTP_TABLE_FAULT:
		return site & RGN_SITE_FAULT;
	case GTP_TABLE_SITE:
		return site & RGN_SITE_RUNTIME && span->len[at];
	case GTP_TABLE_DENY:
		return span->len[at] && rgn_verdict_denied(text, span->addr + at);
	case GTP_TABLE_WRAP:
		return !inside && f->flags & RGN_FN_WRAP;
	case GTP_TABLE_FUNCTION:
		return !inside && rgn_function_trusted(f);
	case GTP_TABLE_LAST:
		return rgn_function_trusted(f) && at + 1 == rgn_function_end(span, f);
	case GTP_TABLE_PROVEN:
		return !inside && rgn_function_trusted(f) && f->flags & RGN_FN_IJMP &&
		       f->flags & (RGN_FN_PROVEN | RGN_FN_ROWS);
	default:
		return false;
	}
}

static struct list collect(const struct rgn_text *text, const struct rgn_span *span,
			   enum gtp_table_kind kind)
{
	struct list l = { NULL, 0 };
	u32 i, at;

	for (i = 0; i < span->functions_n; i++) {
		const struct rgn_function *f = &span->functions[i];

		for (at = rgn_function_start(span, f); at < rgn_function_end(span, f); at++) {
			if (belongs(text, span, f, at, kind))
				list_add(&l, at);
		}
	}
	return l;
}

/* Append the contents of a list; return their size. */
static u32 put_list(struct buffer *b, const struct list *l)
{
	u32 blocks = (l->n + GTP_TABLE_BLOCK - 1) / GTP_TABLE_BLOCK, i;
	size_t start = b->len;

	extend(b, (size_t)blocks * 8);
	for (i = 0; i < l->n; i++) {
		u8 *index;

		if (i % GTP_TABLE_BLOCK) {
			put_varint(b, l->entries[i] - l->entries[i - 1]);
			continue;
		}
		index = b->bytes + start + (size_t)i / GTP_TABLE_BLOCK * 8;
		gtp_put_le(index, l->entries[i], 4);
		gtp_put_le(index + 4, b->len - start, 4);
	}
	return (u32)(b->len - start);
}

static const enum gtp_table_kind kinds[] = {
	GTP_TABLE_HIDDEN,
	GTP_TABLE_DENY,
	GTP_TABLE_FAULT,
	GTP_TABLE_SITE,
	GTP_TABLE_LEADER,
	GTP_TABLE_WRAP,
	/* Only in tables of programs: */
	GTP_TABLE_FUNCTION,
	GTP_TABLE_LAST,
	GTP_TABLE_PROVEN,
};

enum { KERNEL_KINDS = 6 };

static u32 kinds_of(const struct rgn_text *text)
{
	return text->image->kernel ? KERNEL_KINDS : ARRAY_SIZE(kinds);
}

static const char *kind_text(u32 kind)
{
	static const struct {
		u32 kind;
		const char *text;
	} words[] = {
#define X(name, kind, text) { kind, text },
		GTP_TABLE_KINDS(X)
#undef X
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		if (words[i].kind == kind)
			return words[i].text;
	}
	return "of a kind unknown here";
}

static void put_span(struct buffer *b, const struct rgn_text *text, const struct rgn_span *span)
{
	u8 *p = extend(b, GTP_TABLE_SPAN);

	if (strlen(span->name) >= GTP_TABLE_NAME)
		text_errx(1, "section name %s is too long for a table", span->name);
	memcpy(p, span->name, strlen(span->name));
	gtp_put_le(p + GTP_TABLE_NAME, text->image->relocatable ? 0 : span->addr, 8);
	gtp_put_le(p + GTP_TABLE_NAME + 8, span->size, 4);
	if (!text->image->kernel)
		gtp_put_le(p + GTP_TABLE_NAME + 12, GTP_TABLE_PROGRAM, 4);
	else if (text->relocations)
		gtp_put_le(p + GTP_TABLE_NAME + 12, GTP_TABLE_COMPLETE, 4);
}

static u32 spans_of(const struct rgn_text *text)
{
	u32 i, n = 0;

	for (i = 0; i < text->spans_n; i++)
		n += text->spans[i].kind == RGN_SPAN_TEXT;
	return n;
}

static void put_head(struct buffer *b, const struct rgn_text *text)
{
	const struct rgn_image *image = text->image;
	u32 i;

	memcpy(extend(b, GTP_TABLE_HEAD), GTP_TABLE_MAGIC, 8);
	if (image->build_id_len <= GTP_TABLE_ID) {
		b->bytes[16] = (u8)image->build_id_len;
		memcpy(b->bytes + 17, image->build_id, image->build_id_len);
	}
	gtp_put_le(b->bytes + 48, spans_of(text), 4);
	gtp_put_le(b->bytes + 52, spans_of(text) * kinds_of(text), 4);
	for (i = 0; i < text->spans_n; i++) {
		if (text->spans[i].kind == RGN_SPAN_TEXT)
			put_span(b, text, &text->spans[i]);
	}
}

/* Append the lists of a span, and write their heads at *@directory, which is advanced. */
static void put_lists(struct buffer *b, const struct rgn_text *text, const struct rgn_span *span,
		      u32 number, size_t *directory)
{
	u32 k;

	for (k = 0; k < kinds_of(text); k++, *directory += GTP_TABLE_LIST) {
		struct list l = collect(text, span, kinds[k]);
		u32 offset = (u32)b->len, size = put_list(b, &l);
		u8 *p = b->bytes + *directory;

		gtp_put_le(p, number, 4);
		gtp_put_le(p + 4, kinds[k], 4);
		gtp_put_le(p + 8, l.n, 4);
		gtp_put_le(p + 12, offset, 4);
		gtp_put_le(p + 16, size, 4);
		free(l.entries);
	}
}

u8 *rgn_mktable_make(const struct rgn_text *text, u32 *size)
{
	struct buffer b = { NULL, 0, 0 };
	size_t directory;
	u32 i, n = 0;

	put_head(&b, text);
	directory = b.len;
	extend(&b, spans_of(text) * kinds_of(text) * GTP_TABLE_LIST);
	for (i = 0; i < text->spans_n; i++) {
		if (text->spans[i].kind == RGN_SPAN_TEXT)
			put_lists(&b, text, &text->spans[i], n++, &directory);
	}
	gtp_put_le(b.bytes + 8, b.len, 4);
	gtp_put_le(b.bytes + 12, gtp_table_crc(b.bytes + 16, b.len - 16), 4);
	*size = (u32)b.len;
	return b.bytes;
}

static void print_lists(const struct gtp_table *t, bool entries)
{
	struct gtp_table_list l;
	struct gtp_table_span s;
	u32 i, from, found;

	for (i = 0; i < t->lists_n; i++) {
		gtp_table_list(t, i, &l);
		gtp_table_span(t, l.span, &s);
		if (l.n || !entries)
			text_printf(stdout, "%-16s %7u entries %8u bytes  %s\n", s.name, l.n,
				    l.size, kind_text(l.kind));
		for (from = 0; entries && gtp_table_next(&l, from, &found); from = found + 1)
			text_printf(stdout, "  %#llx\n", s.addr + found);
	}
}

void rgn_mktable_write(const struct rgn_text *text, const char *path)
{
	const struct rgn_image *image = text->image;
	struct gtp_table t;
	const char *why;
	FILE *out;
	u8 *bytes;
	u32 size;

	if (!image->build_id_len || image->build_id_len > GTP_TABLE_ID)
		text_errx(1, "%s: has no build-id that the module could compare", image->path);
	bytes = rgn_mktable_make(text, &size);
	out = fopen(path, "wb");
	if (!out)
		err(2, "%s", path);
	if (fwrite(bytes, 1, size, out) != size || fclose(out))
		err(2, "%s", path);
	if (gtp_table_open(&t, bytes, size, &why))
		text_errx(3, "%s: what was written is wrong: %s", path, why);
	text_printf(stdout, "%s: %u bytes\n", path, size);
	print_lists(&t, false);
	free(bytes);
}

void rgn_mktable_show(const char *path, bool entries)
{
	struct buffer b = { NULL, 0, 0 };
	FILE *in = fopen(path, "rb");
	struct gtp_table t;
	const char *why;
	const u8 *id;
	size_t n;
	u32 i;

	if (!in)
		err(2, "%s", path);
	do {
		n = fread(extend(&b, 65536), 1, 65536, in);
		b.len -= 65536 - n;
	} while (n && b.len <= GTP_TABLE_MAX);
	if (ferror(in))
		err(2, "%s", path);
	fclose(in);
	if (gtp_table_open(&t, b.bytes, b.len, &why))
		text_errx(1, "%s: %s", path, why);
	text_printf(stdout, "%s: %zu bytes, build-id ", path, b.len);
	n = gtp_table_build_id(&t, &id);
	for (i = 0; i < n; i++)
		text_printf(stdout, "%02x", id[i]);
	text_printf(stdout, "\n");
	print_lists(&t, entries);
	free(b.bytes);
}
