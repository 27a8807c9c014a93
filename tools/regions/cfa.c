// SPDX-License-Identifier: GPL-2.0-only
/* Run CFA programs: where a function's caller has its registers, at each instruction. */
#include <dwarf.h>
#include "tools/regions/cfa.h"

enum { ENTRY_OFFSET = 8, DEPTH = 16 };

struct machine {
	const struct rgn_fde *fde;
	struct rgn_cfa_row now;
	struct rgn_cfa_row first; /* the rules of the CIE, to which "restore" goes back */
	struct rgn_cfa_row kept[DEPTH];
	u32 kept_n;
	bool failed;
	void (*each)(void *ctx, const struct rgn_cfa_row *row);
	void *ctx;
};

static s64 factored(const struct machine *m, struct rgn_reader *r, bool is_signed)
{
	return (s64)(rgn_read_leb(r, is_signed) * (u64)m->fde->data_align);
}

/* Read an expression: a length, and as many bytes. */
static struct rgn_reader expression(struct machine *m, struct rgn_reader *r)
{
	u64 len = rgn_read_leb(r, false);
	struct rgn_reader expr = *r;

	if (len > rgn_read_left(r)) {
		m->failed = true;
		len = 0;
	}
	expr.end = expr.p + len;
	r->p += len;
	return expr;
}

/* Return the rule for a register by DWARF's number, or NULL if it is not followed. */
static struct rgn_cfa_saved *rule_of(struct rgn_cfa_row *row, u64 reg)
{
	switch (reg) {
	case RGN_DWARF_BX:
		return &row->saved[RGN_CFA_BX];
	case RGN_DWARF_BP:
		return &row->saved[RGN_CFA_BP];
	case RGN_DWARF_SP:
		return &row->saved[RGN_CFA_SP];
	case RGN_DWARF_RA:
		return &row->saved[RGN_CFA_RA];
	default:
		return NULL;
	}
}

static void save(struct machine *m, u64 reg, struct rgn_cfa_saved saved)
{
	struct rgn_cfa_saved *rule = rule_of(&m->now, reg);

	if (rule)
		*rule = saved;
}

static void restore(struct machine *m, u64 reg)
{
	struct rgn_cfa_saved *rule = rule_of(&m->now, reg);

	if (rule)
		*rule = *rule_of(&m->first, reg);
}

static void save_at(struct machine *m, u64 reg, s64 offset)
{
	save(m, reg, (struct rgn_cfa_saved){ .how = RGN_CFA_AT, .offset = offset });
}

/* Handle an opcode that says where a register is. Return false if it is another one. */
static bool save_register(struct machine *m, struct rgn_reader *r, u8 op)
{
	u64 reg;

	switch (op) {
	case DW_CFA_restore_extended:
		restore(m, rgn_read_leb(r, false));
		return true;
	case DW_CFA_undefined:
	case DW_CFA_same_value:
		save(m, rgn_read_leb(r, false),
		     (struct rgn_cfa_saved){
			     .how = op == DW_CFA_undefined ? RGN_CFA_NOWHERE : RGN_CFA_SAME,
		     });
		return true;
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
		reg = rgn_read_leb(r, false);
		save_at(m, reg, factored(m, r, op == DW_CFA_offset_extended_sf));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		reg = rgn_read_leb(r, false);
		save_at(m, reg, -factored(m, r, false));
		return true;
	case DW_CFA_register:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		reg = rgn_read_leb(r, false);
		rgn_read_leb(r, false);
		save(m, reg, (struct rgn_cfa_saved){ .how = RGN_CFA_ELSE });
		return true;
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		reg = rgn_read_leb(r, false);
		save(m, reg,
		     (struct rgn_cfa_saved){
			     .how = op == DW_CFA_expression ? RGN_CFA_EXPR : RGN_CFA_ELSE,
			     .expr = expression(m, r),
		     });
		return true;
	default:
		return false;
	}
}

/* Handle an opcode that says where the CFA is. Return false if it is another one. */
static bool define(struct machine *m, struct rgn_reader *r, u8 op)
{
	switch (op) {
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
		m->now.reg = rgn_read_leb(r, false);
		m->now.offset = op == DW_CFA_def_cfa ? (s64)rgn_read_leb(r, false) :
						       factored(m, r, true);
		m->now.known = true;
		m->now.by_expr = false;
		return true;
	case DW_CFA_def_cfa_register:
		m->now.reg = rgn_read_leb(r, false);
		return true;
	case DW_CFA_def_cfa_offset:
		m->now.offset = (s64)rgn_read_leb(r, false);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		m->now.offset = factored(m, r, true);
		return true;
	case DW_CFA_def_cfa_expression:
		m->now.expr = expression(m, r);
		m->now.known = true;
		m->now.by_expr = true;
		return true;
	default:
		return false;
	}
}

/* Keep or restore all rules. The address is not part of them. */
static void keep_or_restore(struct machine *m, u8 op)
{
	u64 at = m->now.at;

	if (op == DW_CFA_remember_state && m->kept_n < DEPTH) {
		m->kept[m->kept_n++] = m->now;
	} else if (op == DW_CFA_restore_state && m->kept_n) {
		m->now = m->kept[--m->kept_n];
		m->now.at = at;
	} else {
		m->failed = true;
	}
}

/* True if the opcode advances to a later address; *@to is that address. */
static bool advance(const struct machine *m, struct rgn_reader *r, u8 op, u64 *to)
{
	u64 delta;

	if ((op & 0xc0) == DW_CFA_advance_loc)
		delta = op & 0x3f;
	else if (op == DW_CFA_advance_loc1)
		delta = rgn_read(r, 1);
	else if (op == DW_CFA_advance_loc2)
		delta = rgn_read(r, 2);
	else if (op == DW_CFA_advance_loc4)
		delta = rgn_read(r, 4);
	else
		return false;
	*to = m->now.at + delta * m->fde->code_align;
	return true;
}

/* End the row before @to, which is in the FDE's code or after its end. */
static void end_row(struct machine *m, u64 to)
{
	u64 end = m->fde->start + m->fde->size;

	if (to > end || to < m->now.at)
		m->failed = true;
	if (m->failed)
		return;
	m->now.end = to;
	if (m->now.end > m->now.at && m->each)
		m->each(m->ctx, &m->now);
	m->now.at = to;
}

static void handle(struct machine *m, struct rgn_reader *r, u8 op)
{
	u64 to;

	if (advance(m, r, op, &to)) {
		if (!r->failed)
			end_row(m, to);
	} else if ((op & 0xc0) == DW_CFA_offset) {
		save_at(m, op & 0x3f, factored(m, r, false));
	} else if ((op & 0xc0) == DW_CFA_restore) {
		restore(m, op & 0x3f);
	} else if (op == DW_CFA_remember_state || op == DW_CFA_restore_state) {
		keep_or_restore(m, op);
	} else if (op == DW_CFA_GNU_args_size) {
		rgn_read_leb(r, false);
	} else if (op != DW_CFA_nop && !define(m, r, op) && !save_register(m, r, op)) {
		m->failed = true;
	}
	m->failed |= r->failed;
}

static void execute(struct machine *m, struct rgn_reader r)
{
	while (rgn_read_left(&r) && !m->failed)
		handle(m, &r, (u8)rgn_read(&r, 1));
}

bool rgn_cfa_rows(const struct rgn_fde *fde, void (*each)(void *ctx, const struct rgn_cfa_row *row),
		  void *ctx)
{
	struct machine m = { .fde = fde, .now = { .at = fde->start }, .ctx = ctx };

	execute(&m, fde->common);
	m.first = m.now;
	m.each = each;
	execute(&m, fde->own);
	end_row(&m, fde->start + fde->size);
	return !m.failed;
}

/* struct sought - the row at an address */
struct sought {
	u64 addr;
	bool is_entry;
};

static void seek(void *ctx, const struct rgn_cfa_row *row)
{
	struct sought *s = ctx;

	if (s->addr >= row->at && s->addr < row->end)
		s->is_entry = row->known && !row->by_expr && row->reg == RGN_DWARF_SP &&
			      row->offset == ENTRY_OFFSET;
}

bool rgn_cfa_is_entry(const struct rgn_fde *fde, u64 addr)
{
	struct sought s = { .addr = addr };

	return rgn_cfa_rows(fde, seek, &s) && s.is_entry;
}
