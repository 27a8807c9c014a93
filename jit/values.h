/* SPDX-License-Identifier: GPL-2.0-only */
/* The expression's stack while it is compiled, and the registers that hold its values. */
#ifndef _GTP_VALUES_H
#define _GTP_VALUES_H

#include "jit/jit_internal.h"

/* jit_arg - the entry that is @from_top below the topmost */
static inline struct jit_val *jit_arg(struct ax_jit *j, u32 from_top)
{
	return &j->stack[j->depth - 1 - from_top];
}

static inline bool jit_is_const(const struct jit_val *v)
{
	return v->where == JIT_CONST;
}

static inline bool jit_is_power_of_2(u64 v)
{
	return v && !(v & (v - 1));
}

/* jit_log2_up - ceil(log2 d), for d > 0 */
u32 jit_log2_up(u64 d);

/* Values: a constant; a register that the caller holds; the outcome of a comparison just made. */
struct jit_val jit_const(u64 value);
struct jit_val jit_in_reg(enum x86_reg reg);
struct jit_val jit_flags(enum x86_cc cc);

/* jit_hit_val - GDB's register @n of the hit; the reference is the caller's */
struct jit_val jit_hit_val(struct ax_jit *j, u32 n);

/* jit_know - limits of the value: less than 2^zbits, sign-extended from sbits; 64: nothing known */
void jit_know(struct jit_val *v, u32 zbits, u32 sbits);

/* jit_push - one more entry, which takes over the reference; jit_pop - the topmost goes */
void jit_push(struct ax_jit *j, struct jit_val v);
void jit_pop(struct ax_jit *j);

/* jit_set - an entry becomes another value and takes over its reference; the old one is dropped */
void jit_set(struct ax_jit *j, struct jit_val *v, struct jit_val to);
void jit_set_const(struct ax_jit *j, struct jit_val *v, u64 value);

/* jit_ref - one more entry names the same place; jit_unref_reg - a register is held once less */
void jit_ref(struct ax_jit *j, const struct jit_val *v);
void jit_unref_reg(struct ax_jit *j, enum x86_reg reg);

/*
 * Later code may emit moves, which change no flags: a comparison may be on top of the stack as
 * nothing but flags while values are moved about.
 */

/* jit_alloc - a register, held by the caller; something may be spilled for it */
enum x86_reg jit_alloc(struct ax_jit *j);

/* jit_claim - this register, held by the caller; what was in it goes elsewhere */
void jit_claim(struct ax_jit *j, enum x86_reg reg);

/* jit_move - emit dst = v, and nothing else: @v stays where it was */
void jit_move(struct ax_jit *j, enum x86_reg dst, const struct jit_val *v);

/* jit_force - the value is in a whole register now, perhaps a shared one */
void jit_force(struct ax_jit *j, struct jit_val *v);

/* jit_force_base - the same, but @v->imm stays to be added */
void jit_force_base(struct ax_jit *j, struct jit_val *v);

/* jit_force_low - the same, but only the low 32 bits are right: the entry must go after its use */
void jit_force_low(struct ax_jit *j, struct jit_val *v);

/* jit_own - the value is in a register that no other entry shares: it may be overwritten */
enum x86_reg jit_own(struct ax_jit *j, struct jit_val *v);

/* jit_own_low - the same, but only the low 32 bits are right */
enum x86_reg jit_own_low(struct ax_jit *j, struct jit_val *v);

/* jit_own_in - the same in this register; what was in it goes elsewhere */
void jit_own_in(struct ax_jit *j, struct jit_val *v, enum x86_reg reg);

/* jit_spill_all - all but the operands leave their registers, as in front of a call */
void jit_spill_all(struct ax_jit *j);

/* jit_settle_flags - a comparison on top that is only in the flags becomes a number */
static inline void jit_settle_flags(struct ax_jit *j)
{
	if (j->depth && jit_arg(j, 0)->where == JIT_FLAGS)
		jit_force(j, jit_arg(j, 0));
}

/* jit_canonical - every value goes to the place where joins expect the one of its depth */
void jit_canonical(struct ax_jit *j);

/* jit_after_join - what is known behind a join: @depth values in those places, and nothing else */
void jit_after_join(struct ax_jit *j, u32 depth);

/* jit_slot - where a slot is in memory */
struct x86_mem jit_slot(const struct ax_jit *j, u32 slot);

/* jit_hit - where the value of a JIT_HIT is in memory */
struct x86_mem jit_hit(const struct ax_jit *j, const struct jit_val *v);

/* jit_cached - the register that holds the hit's register @hit unchanged, or X86_NO_REG */
enum x86_reg jit_cached(const struct ax_jit *j, u32 hit);

/* jit_forget_cached - no register holds any of them any more */
void jit_forget_cached(struct ax_jit *j);

/* jit_machine_reg - the machine's number of GDB's register @n, up to 15 */
enum x86_reg jit_machine_reg(u32 n);

#endif /* _GTP_VALUES_H */
