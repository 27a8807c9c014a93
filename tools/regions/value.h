/* SPDX-License-Identifier: GPL-2.0-only */
/* The known values of registers, as far as the proof of a jump table needs them. */
#ifndef _RGN_VALUE_H
#define _RGN_VALUE_H

#include <Zydis/Zydis.h>
#include "base/base.h"

enum { RGN_REGS = 16 };

enum rgn_value_kind {
	RGN_VALUE_UNKNOWN,
	RGN_VALUE_OUTSIDE, /* unchanged from memory or the caller */
	RGN_VALUE_CONST,   /* the constant @at */
	RGN_VALUE_ENTRY,   /* 4 bytes, sign-extended, of the table @at */
	RGN_VALUE_TARGET,  /* an ENTRY of a table, added to @base */
	RGN_VALUE_SLOT,	   /* 8 bytes of the table @at */
};

/**
 * struct rgn_value - the value of one register; compared bytewise, so it has no padding
 * @kind: enum rgn_value_kind
 * @bits, @max: the low @bits bits of the value, as a number, are at most @max; @bits is 0 if no
 *	bound is known
 * @same: the number of low bits that equal the low bits of the value @id
 * @id: the number of a value; registers with the same @id hold this value in their @same low bits;
 *	0: none
 * @last: the value is one of the entries 0 to @last of the table @at
 */
struct rgn_value {
	u32 kind;
	u16 bits;
	u16 same;
	u64 max;
	u64 id;
	u64 at;
	u64 base;
	u64 last;
};

/**
 * struct rgn_compare - a comparison with a constant: of the value @id, or of memory
 * @bits: the width of the comparison in bits; 0: there is none
 * @memory: true if memory is compared, at @disp from the register @base
 */
struct rgn_compare {
	u32 bits;
	u16 memory;
	u16 base;
	u64 id;
	s64 disp;
	u64 with;
};

/**
 * struct rgn_state - the known values of registers, flags and memory before an instruction
 * @flags: the comparison that set the flags
 * @memory: a comparison that showed that a value in memory is at most .with
 */
struct rgn_state {
	struct rgn_value reg[RGN_REGS];
	struct rgn_compare flags;
	struct rgn_compare memory;
};

struct rgn_insn {
	ZydisDecodedInstruction z;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	u64 addr;
};

/* rgn_state_entry - set the state at a function's entry: all registers come from the caller */
void rgn_state_entry(struct rgn_state *s);

/* rgn_state_unknown - set a state without known values; the ids of values depend on @addr */
void rgn_state_unknown(struct rgn_state *s, u64 addr);

/* rgn_state_join - merge the state @from into @to; return true if @to has changed */
bool rgn_state_join(struct rgn_state *to, const struct rgn_state *from, u64 addr);

/* rgn_state_step - set the state after an instruction that is neither a jump nor a call */
void rgn_state_step(struct rgn_state *s, const struct rgn_insn *insn);

/*
 * rgn_state_call - set the state after the call at @addr; @keeps is true if the called function
 * preserves registers as the ABI requires
 */
void rgn_state_call(struct rgn_state *s, u64 addr, bool keeps);

/* rgn_state_branch - set the state after a conditional jump; @taken says whether it jumps */
void rgn_state_branch(struct rgn_state *s, const struct rgn_insn *insn, bool taken);

/*
 * rgn_state_table - true if a memory operand is an entry of @scale bytes in a table, the table's
 * address is known, and the index has a bound
 */
bool rgn_state_table(const struct rgn_state *s, const struct rgn_insn *insn,
		     const ZydisDecodedOperand *op, u32 scale, struct rgn_value *v);

/* rgn_reg - return the number of a general register; RGN_REGS for other registers */
u32 rgn_reg(ZydisRegister reg);

#endif /* _RGN_VALUE_H */
