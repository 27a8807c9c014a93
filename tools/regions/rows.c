// SPDX-License-Identifier: GPL-2.0-only
/* DWARF line programs, versions 2 to 5, for the address and basic_block registers alone. */
#include <dwarf.h>
#include "tools/regions/rows.h"

struct cursor {
	const u8 *p;
	const u8 *end;
};

struct program {
	struct cursor in;
	const u8 *lengths; /* of the standard opcodes' operands */
	u64 addr;
	u8 min_len;
	u8 line_range;
	u8 opcode_base;
	bool block;
	bool failed;
	struct rgn_rows *rows;
	void (*each)(void *ctx, u64 addr, bool block);
	void *ctx;
};

static u64 fixed(struct cursor *c, u32 n)
{
	u64 v;

	if ((u64)(c->end - c->p) < n) {
		c->p = c->end;
		return 0;
	}
	v = gtp_get_le(c->p, n);
	c->p += n;
	return v;
}

/* Unsigned; a signed one is only ever skipped, and that is the same. */
static u64 leb(struct cursor *c)
{
	u64 v = 0;
	u32 shift = 0;
	u8 b;

	while (c->p < c->end) {
		b = *c->p++;
		if (shift < 64)
			v |= (u64)(b & 0x7f) << shift;
		shift += 7;
		if (!(b & 0x80))
			break;
	}
	return v;
}

static void row(struct program *p)
{
	p->rows->rows++;
	p->rows->blocks += p->block;
	if (p->each)
		p->each(p->ctx, p->addr, p->block);
	p->block = false;
}

static void advance(struct program *p, u64 ops)
{
	p->addr += ops * p->min_len;
}

static void extended(struct program *p)
{
	u64 len = leb(&p->in);
	struct cursor in;
	u8 op;

	if (len > (u64)(p->in.end - p->in.p) || !len) {
		p->failed = true;
		return;
	}
	in.p = p->in.p;
	in.end = p->in.p + len;
	p->in.p = in.end;
	op = (u8)fixed(&in, 1);
	if (op == DW_LNE_end_sequence) {
		/* The address behind the code: no row of the program itself. */
		p->addr = 0;
		p->block = false;
	} else if (op == DW_LNE_set_address) {
		p->addr = fixed(&in, (u32)(in.end - in.p <= 8 ? in.end - in.p : 8));
	}
}

static void standard(struct program *p, u8 op)
{
	u32 i;

	switch (op) {
	case DW_LNS_copy:
		row(p);
		break;
	case DW_LNS_advance_pc:
		advance(p, leb(&p->in));
		break;
	case DW_LNS_set_basic_block:
		p->block = true;
		break;
	case DW_LNS_const_add_pc:
		advance(p, (255U - p->opcode_base) / p->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		p->addr += fixed(&p->in, 2);
		break;
	default:
		for (i = p->lengths[op - 1]; i; i--)
			leb(&p->in);
	}
}

static void run(struct program *p)
{
	while (p->in.p < p->in.end && !p->failed) {
		u8 op = *p->in.p++;

		if (op >= p->opcode_base) {
			advance(p, (u32)(op - p->opcode_base) / p->line_range);
			row(p);
		} else if (op) {
			standard(p, op);
		} else {
			extended(p);
		}
	}
}

/* One unit's header, up to where its program starts. */
static bool header(struct program *p, struct cursor *unit, u32 offset_size)
{
	u16 version = (u16)fixed(unit, 2);
	u64 header_len;

	if (version < 2 || version > 5)
		return false;
	if (version == 5)
		fixed(unit, 2); /* sizes of addresses and of selectors */
	header_len = fixed(unit, offset_size);
	if (header_len > (u64)(unit->end - unit->p))
		return false;
	p->in.p = unit->p + header_len;
	p->in.end = unit->end;
	p->min_len = (u8)fixed(unit, 1);
	if (version >= 4)
		fixed(unit, 1); /* operations in a long instruction word: one */
	fixed(unit, 2); /* is_stmt, line_base */
	p->line_range = (u8)fixed(unit, 1);
	p->opcode_base = (u8)fixed(unit, 1);
	p->lengths = unit->p;
	return p->line_range && p->opcode_base &&
	       (u64)(unit->end - unit->p) >= p->opcode_base - 1U;
}

static bool next_unit(struct cursor *all, struct cursor *unit, u32 *offset_size)
{
	u64 len = fixed(all, 4);

	*offset_size = 4;
	if (len == 0xffffffff) {
		len = fixed(all, 8);
		*offset_size = 8;
	}
	if (!len || len > (u64)(all->end - all->p))
		return false;
	unit->p = all->p;
	unit->end = all->p + len;
	all->p = unit->end;
	return true;
}

void rgn_rows_read(const struct rgn_image *image, struct rgn_rows *rows,
		   void (*each)(void *ctx, u64 addr, bool block), void *ctx)
{
	const struct rgn_section *s = rgn_image_section(image, ".debug_line");
	struct cursor all, unit;
	u32 offset_size;

	memset(rows, 0, sizeof(*rows));
	if (!s || !s->bytes)
		return;
	rows->bytes = s->size;
	all.p = s->bytes;
	all.end = s->bytes + s->size;
	while (all.p < all.end) {
		struct program p = { .rows = rows, .each = each, .ctx = ctx };

		if (!next_unit(&all, &unit, &offset_size)) {
			rows->broken++;
			return;
		}
		if (header(&p, &unit, offset_size))
			run(&p);
		else
			p.failed = true;
		rows->broken += p.failed;
	}
}

static void mark_row(void *ctx, u64 addr, bool block)
{
	if (block)
		rgn_text_mark(ctx, addr, RGN_LEADER_ROW);
}

/* Rows are trusted where they name the entry and miss nothing that a decode can find. */
static bool covered(const struct rgn_span *span, const struct rgn_function *f)
{
	u32 at = (u32)(f->addr - span->addr), end = at + f->size;

	if (!(span->leader[at] & RGN_LEADER_ROW))
		return false;
	for (; at < end; at++) {
		if (span->leader[at] & RGN_LEADER_JUMP && !(span->leader[at] & RGN_LEADER_ROW))
			return false;
	}
	return true;
}

void rgn_rows_mark(struct rgn_text *text, const struct rgn_image *debug)
{
	struct rgn_rows rows;
	u32 i, j;

	rgn_rows_read(debug, &rows, mark_row, text);
	for (i = 0; rows.blocks && i < text->spans_n; i++) {
		struct rgn_span *span = &text->spans[i];

		for (j = 0; j < span->functions_n; j++) {
			if (covered(span, &span->functions[j]))
				span->functions[j].flags |= RGN_FN_ROWS;
		}
	}
}
