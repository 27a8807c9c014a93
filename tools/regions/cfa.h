/* SPDX-License-Identifier: GPL-2.0-only */
/* Run the CFA program of a function: where its caller's registers are, at each instruction. */
#ifndef _RGN_CFA_H
#define _RGN_CFA_H

#include "tools/regions/fde.h"

/* DWARF's numbers of registers; RGN_DWARF_RA stands for the return address. */
enum { RGN_DWARF_BX = 3, RGN_DWARF_BP = 6, RGN_DWARF_SP = 7, RGN_DWARF_RA = 16 };

/* The registers whose rules are followed. */
enum rgn_cfa_reg { RGN_CFA_BX, RGN_CFA_BP, RGN_CFA_SP, RGN_CFA_RA, RGN_CFA_REGS };

enum rgn_cfa_how {
	RGN_CFA_SAME, /* still in the register */
	RGN_CFA_NOWHERE,
	RGN_CFA_AT,   /* in memory at the CFA + the offset */
	RGN_CFA_EXPR, /* in memory at the address that the expression computes */
	RGN_CFA_ELSE, /* in another way */
};

/* struct rgn_cfa_saved - where the caller's value of a register is */
struct rgn_cfa_saved {
	enum rgn_cfa_how how;
	s64 offset;
	struct rgn_reader expr;
};

/**
 * struct rgn_cfa_row - a row of the table that a CFA program describes
 * @at: the first address
 * @end: the address after the last one
 * @known: false if the CFA has not been defined
 * @by_expr: the CFA is the value of @expr; otherwise it is @offset + the register with DWARF's
 *	number @reg
 * @saved: the caller's registers
 */
struct rgn_cfa_row {
	u64 at, end;
	bool known;
	bool by_expr;
	u64 reg;
	s64 offset;
	struct rgn_reader expr;
	struct rgn_cfa_saved saved[RGN_CFA_REGS];
};

/*
 * rgn_cfa_rows - call @each for each row of an FDE, in order; return false if the program has an
 * unknown form, after the rows before that place
 */
bool rgn_cfa_rows(const struct rgn_fde *fde, void (*each)(void *ctx, const struct rgn_cfa_row *row),
		  void *ctx);

/*
 * rgn_cfa_is_entry - true if at @addr only the return address is on the stack, as at a function's
 * entry; false also if the CFA program has an unknown form
 */
bool rgn_cfa_is_entry(const struct rgn_fde *fde, u64 addr);

#endif /* _RGN_CFA_H */
