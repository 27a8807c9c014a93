// SPDX-License-Identifier: GPL-2.0-only
/* Run DWARF line programs of versions 2 to 5, only for the registers address and basic_block. */
#include <dwarf.h>
#include "tools/regions/reader.h"
#include "tools/regions/rows.h"

struct program {
	struct rgn_reader in;
	const u8 *lengths; /* the number of operands of each standard opcode */
	u64 addr;
	u8 min_len;
	u8 line_range;
	u8 opcode_base;
	bool block;
	struct rgn_rows *rows;
	void (*each)(void *ctx, u64 addr, bool block);
	void *ctx;
};

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
	u64 len = rgn_read_leb(&p->in, false);
	struct rgn_reader in;
	u8 op;

	if (len > rgn_read_left(&p->in) || !len) {
		p->in.failed = true;
		return;
	}
	in = (struct rgn_reader){ .p = p->in.p, .end = p->in.p + len };
	p->in.p = in.end;
	op = (u8)rgn_read(&in, 1);
	if (op == DW_LNE_end_sequence) {
		/* Do not count the row that ends a sequence: its address is after the code. */
		p->addr = 0;
		p->block = false;
	} else if (op == DW_LNE_set_address) {
		p->addr = rgn_read(&in, (u32)(rgn_read_left(&in) <= 8 ? rgn_read_left(&in) : 8));
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
		advance(p, rgn_read_leb(&p->in, false));
		break;
	case DW_LNS_set_basic_block:
		p->block = true;
		break;
	case DW_LNS_const_add_pc:
		advance(p, (255U - p->opcode_base) / p->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		p->addr += rgn_read(&p->in, 2);
		break;
	default:
		for (i = p->lengths[op - 1]; i; i--)
			rgn_read_leb(&p->in, false);
	}
}

static void run(struct program *p)
{
	while (p->in.p < p->in.end && !p->in.failed) {
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

/* Read a unit's header, up to the beginning of its line program. */
static bool header(struct program *p, struct rgn_reader *unit, u32 offset_size)
{
	u16 version = (u16)rgn_read(unit, 2);
	u64 header_len;

	if (version < 2 || version > 5)
		return false;
	if (version == 5)
		rgn_read(unit, 2); /* sizes of addresses and of selectors */
	header_len = rgn_read(unit, offset_size);
	if (header_len > rgn_read_left(unit))
		return false;
	p->in.p = unit->p + header_len;
	p->in.end = unit->end;
	p->min_len = (u8)rgn_read(unit, 1);
	if (version >= 4)
		rgn_read(unit, 1); /* maximum_operations_per_instruction */
	rgn_read(unit, 2);	   /* is_stmt, line_base */
	p->line_range = (u8)rgn_read(unit, 1);
	p->opcode_base = (u8)rgn_read(unit, 1);
	p->lengths = unit->p;
	return p->line_range && p->opcode_base && rgn_read_left(unit) >= p->opcode_base - 1U;
}

static bool next_unit(struct rgn_reader *all, struct rgn_reader *unit, u32 *offset_size)
{
	u64 len = rgn_read(all, 4);

	*offset_size = 4;
	if (len == 0xffffffff) {
		len = rgn_read(all, 8);
		*offset_size = 8;
	}
	if (!len || len > rgn_read_left(all))
		return false;
	*unit = (struct rgn_reader){ .p = all->p, .end = all->p + len };
	all->p = unit->end;
	return true;
}

void rgn_rows_read(const struct rgn_image *image, struct rgn_rows *rows,
		   void (*each)(void *ctx, u64 addr, bool block), void *ctx)
{
	const struct rgn_section *s = rgn_image_section(image, ".debug_line");
	struct rgn_reader all, unit;
	u32 offset_size;

	memset(rows, 0, sizeof(*rows));
	if (!s || !s->bytes)
		return;
	rows->bytes = s->size;
	all = (struct rgn_reader){ .p = s->bytes, .end = s->bytes + s->size };
	while (all.p < all.end) {
		struct program p = { .rows = rows, .each = each, .ctx = ctx };

		if (!next_unit(&all, &unit, &offset_size)) {
			rows->broken++;
			return;
		}
		if (header(&p, &unit, offset_size))
			run(&p);
		else
			p.in.failed = true;
		rows->broken += p.in.failed;
	}
}

static void mark_row(void *ctx, u64 addr, bool block)
{
	if (block)
		rgn_text_mark(ctx, addr, RGN_LEADER_ROW);
}

/*
 * True if the rows are complete: the function's entry and the target of each direct jump in the
 * function have a row.
 */
static bool covered(const struct rgn_span *span, const struct rgn_function *f)
{
	u32 at = rgn_function_start(span, f), end = rgn_function_end(span, f);

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
