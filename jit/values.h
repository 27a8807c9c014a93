/* SPDX-License-Identifier: GPL-2.0-only */
/* Keeps the bytecode's stack during compilation, and the registers that hold its values. */
#ifndef _GTP_VALUES_H
#define _GTP_VALUES_H

#include "jit/jit_internal.h"

/* jit_arg - return the stack entry that is @from_top entries below the topmost */
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

/* jit_log2_up - return ceil(log2 d), for d > 0 */
u32 jit_log2_up(u64 d);

/*
 * Return a value: a constant; a register that the caller holds; the result of the comparison that
 * was emitted last.
 */
struct jit_val jit_const(u64 value);
struct jit_val jit_in_reg(enum x86_reg reg);
struct jit_val jit_flags(enum x86_cc cc);

/* jit_hit_val - return the value of GDB's register @n of the hit; the caller gets a reference */
struct jit_val jit_hit_val(struct ax_jit *j, u32 n);

/* jit_know - record that a value is below 2^zbits and sign-extended from sbits; 64: not known */
void jit_know(struct jit_val *v, u32 zbits, u32 sbits);

/* jit_push - push an entry, which takes over the reference; jit_pop - drop the topmost entry */
void jit_push(struct ax_jit *j, struct jit_val v);
void jit_pop(struct ax_jit *j);

/* jit_set - replace an entry's value, taking over the new reference and dropping the old one */
void jit_set(struct ax_jit *j, struct jit_val *v, struct jit_val to);
void jit_set_const(struct ax_jit *j, struct jit_val *v, u64 value);

/* jit_ref - add a reference to the value's location; jit_unref_reg - drop one to a register */
void jit_ref(struct ax_jit *j, const struct jit_val *v);
void jit_unref_reg(struct ax_jit *j, enum x86_reg reg);

/*
 * The following functions may emit moves. Moves do not change the flags, so the top of the stack
 * may be a comparison whose result is only in the flags.
 */

/* jit_alloc - get a register, held by the caller; may spill a value */
enum x86_reg jit_alloc(struct ax_jit *j);

/* jit_claim - get register @reg, held by the caller; moves its old value elsewhere */
void jit_claim(struct ax_jit *j, enum x86_reg reg);

/* jit_move - emit dst = v; the entry @v does not change */
void jit_move(struct ax_jit *j, enum x86_reg dst, const struct jit_val *v);

/* jit_force - bring the whole value into a register; other entries may share the register */
void jit_force(struct ax_jit *j, struct jit_val *v);

/* jit_force_base - bring the value into a register, but leave @v->imm pending */
void jit_force_base(struct ax_jit *j, struct jit_val *v);

/*
 * jit_force_low - bring the low 32 bits of the value into a register. The upper bits are undefined,
 * so drop the entry after its use
 */
void jit_force_low(struct ax_jit *j, struct jit_val *v);

/* jit_own - bring the value into a register of its own, which may be overwritten */
enum x86_reg jit_own(struct ax_jit *j, struct jit_val *v);

/* jit_own_low - like jit_own(), but only the low 32 bits of the register are defined */
enum x86_reg jit_own_low(struct ax_jit *j, struct jit_val *v);

/* jit_own_in - like jit_own(), in register @reg, whose old value is moved elsewhere */
void jit_own_in(struct ax_jit *j, struct jit_val *v, enum x86_reg reg);

/* jit_spill_all - spill all values except the operands, for example before a call */
void jit_spill_all(struct ax_jit *j);

/* jit_settle_flags - if the top is a comparison that is only in the flags, make it a number */
static inline void jit_settle_flags(struct ax_jit *j)
{
	if (j->depth && jit_arg(j, 0)->where == JIT_FLAGS)
		jit_force(j, jit_arg(j, 0));
}

/*
 * jit_canonical - move every value to the place where joins of paths expect it, which depends on
 * its depth
 */
void jit_canonical(struct ax_jit *j);

/*
 * jit_after_join - set the state after a join of paths: @depth values, in the places to which
 * jit_canonical() moves values
 */
void jit_after_join(struct ax_jit *j, u32 depth);

/* jit_slot - return the memory operand of a slot */
struct x86_mem jit_slot(const struct ax_jit *j, u32 slot);

/* jit_hit - return the memory operand of a value that is JIT_HIT */
struct x86_mem jit_hit(const struct ax_jit *j, const struct jit_val *v);

/*
 * jit_cached - return the register that holds the value of the hit's register @hit, or X86_NO_REG
 */
enum x86_reg jit_cached(const struct ax_jit *j, u32 hit);

/* jit_forget_cached - assume that no register holds a register of the hit any more */
void jit_forget_cached(struct ax_jit *j);

/* jit_machine_reg - return the machine's number of GDB's register @n, up to 15 */
enum x86_reg jit_machine_reg(u32 n);

#endif /* _GTP_VALUES_H */
