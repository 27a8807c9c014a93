// SPDX-License-Identifier: GPL-2.0-only
/* Run CFA programs to find the distance from the stack pointer to the return address. */
#include <dwarf.h>
#include "tools/regions/cfa.h"

enum { RSP = 7, ENTRY_OFFSET = 8, DEPTH = 8 };

struct cfa {
	u64 reg;
	u64 offset;
	bool known;
};

struct machine {
	const struct rgn_fde *fde;
	struct cfa now;
	struct cfa saved[DEPTH];
	u32 saved_n;
	u64 at;
	bool failed;
};

/*
 * Skip the operands (numbers, perhaps a block) of an opcode that does not change the CFA. Return
 * false if the opcode is not known.
 */
static bool skip(struct rgn_reader *r, u8 op)
{
	u64 len;

	switch (op) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_restore_extended:
	case DW_CFA_undefined:
	case DW_CFA_same_value:
	case DW_CFA_GNU_args_size:
		rgn_read_leb(r, false);
		return true;
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_register:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
	case DW_CFA_GNU_negative_offset_extended:
		rgn_read_leb(r, false);
		rgn_read_leb(r, false);
		return true;
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		rgn_read_leb(r, false);
		len = rgn_read_leb(r, false);
		if (len > rgn_read_left(r))
			return false;
		r->p += len;
		return true;
	default:
		return false;
	}
}

static void define(struct machine *m, struct rgn_reader *r, u8 op)
{
	u64 len;

	switch (op) {
	case DW_CFA_def_cfa:
		m->now.reg = rgn_read_leb(r, false);
		m->now.offset = rgn_read_leb(r, false);
		m->now.known = true;
		break;
	case DW_CFA_def_cfa_register:
		m->now.reg = rgn_read_leb(r, false);
		break;
	case DW_CFA_def_cfa_offset:
		m->now.offset = rgn_read_leb(r, false);
		break;
	case DW_CFA_def_cfa_expression:
		len = rgn_read_leb(r, false);
		m->failed |= len > rgn_read_left(r);
		r->p += m->failed ? 0 : len;
		m->now.known = false;
		break;
	case DW_CFA_remember_state:
		if (m->saved_n == DEPTH)
			m->failed = true;
		else
			m->saved[m->saved_n++] = m->now;
		break;
	case DW_CFA_restore_state:
		if (!m->saved_n)
			m->failed = true;
		else
			m->now = m->saved[--m->saved_n];
		break;
	default:
		m->failed |= !skip(r, op);
		break;
	}
}

/* True if the opcode advances to a later address; then set m->at to that address. */
static bool advance(struct machine *m, struct rgn_reader *r, u8 op)
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
	m->at += delta * m->fde->code_align;
	return true;
}

static void execute(struct machine *m, struct rgn_reader r, u64 addr)
{
	while (rgn_read_left(&r) && !m->failed) {
		u8 op = (u8)rgn_read(&r, 1);

		if (advance(m, &r, op)) {
			if (m->at > addr)
				return;
		} else if ((op & 0xc0) == DW_CFA_offset) {
			rgn_read_leb(&r, false);
		} else if ((op & 0xc0) != DW_CFA_restore) {
			define(m, &r, op);
		}
		m->failed |= r.failed;
	}
}

bool rgn_cfa_is_entry(const struct rgn_fde *fde, u64 addr)
{
	struct machine m = { .fde = fde, .at = fde->start };

	execute(&m, fde->common, addr);
	if (m.at == fde->start)
		execute(&m, fde->own, addr);
	return !m.failed && m.now.known && m.now.reg == RSP && m.now.offset == ENTRY_OFFSET;
}
