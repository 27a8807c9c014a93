// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps the bytecode's stack during compilation: records where the code has each value, and moves
 * values.
 *
 * No function in this file emits an instruction that changes the flags: while values are moved, the
 * top of the stack may be a comparison whose result is only in the flags.
 */
#include "jit/values.h"

u32 jit_log2_up(u64 d)
{
	u32 l = 0;

	while (l < 64 && d > 1ULL << l)
		l++;
	return l;
}

struct jit_val jit_const(u64 value)
{
	struct jit_val v = { .where = JIT_CONST, .bits = 64, .imm = (s64)value };
	u64 sign = (s64)value < 0 ? ~value : value;

	for (v.zbits = 0; v.zbits < 64 && value >> v.zbits; v.zbits++)
		;
	for (v.sbits = 1; sign >> (v.sbits - 1); v.sbits++)
		;
	return v;
}

struct jit_val jit_in_reg(enum x86_reg reg)
{
	return (struct jit_val){
		.where = JIT_REG,
		.loc = reg,
		.bits = 64,
		.zbits = 64,
		.sbits = 64,
	};
}

struct jit_val jit_flags(enum x86_cc cc)
{
	return (struct jit_val){
		.where = JIT_FLAGS,
		.loc = cc,
		.bits = 64,
		.zbits = 1,
		.sbits = 2,
	};
}

void jit_know(struct jit_val *v, u32 zbits, u32 sbits)
{
	v->zbits = zbits;
	v->sbits = sbits < zbits + 1 ? sbits : zbits < 63 ? zbits + 1 : 64;
}

void jit_ref(struct ax_jit *j, const struct jit_val *v)
{
	if (v->where == JIT_REG)
		j->regs[v->loc]++;
	else if (v->where == JIT_SLOT)
		j->slots[v->loc]++;
}

static void unref(struct ax_jit *j, const struct jit_val *v)
{
	if (v->where == JIT_REG)
		j->regs[v->loc]--;
	else if (v->where == JIT_SLOT)
		j->slots[v->loc]--;
}

void jit_unref_reg(struct ax_jit *j, enum x86_reg reg)
{
	j->regs[reg]--;
}

void jit_push(struct ax_jit *j, struct jit_val v)
{
	j->stack[j->depth++] = v;
}

void jit_pop(struct ax_jit *j)
{
	unref(j, &j->stack[--j->depth]);
}

void jit_set(struct ax_jit *j, struct jit_val *v, struct jit_val to)
{
	unref(j, v);
	*v = to;
}

void jit_set_const(struct ax_jit *j, struct jit_val *v, u64 value)
{
	jit_set(j, v, jit_const(value));
}

struct x86_mem jit_slot(const struct ax_jit *j, u32 slot)
{
	if (j->pad.on)
		return x86_at(X86_RSP, 8 * (s32)slot);
	return x86_at(X86_RBP, -8 * (s32)(slot + 1));
}

enum x86_reg jit_machine_reg(u32 n)
{
	static const u8 reg[] = {
		X86_RAX, X86_RBX, X86_RCX, X86_RDX, X86_RSI, X86_RDI, X86_RBP, X86_RSP,
	};

	return n < ARRAY_SIZE(reg) ? reg[n] : n;
}

/* Return the operand for a register of the hit that a pad has pushed. */
static struct x86_mem saved(const struct ax_jit *j, enum x86_reg reg)
{
	return x86_at(X86_RSP, 8 * (s32)(j->pad.words - j->pad.pos[reg]));
}

/* Return the value of a register of the hit that the machine's register still holds. */
static struct jit_val in_machine(struct ax_jit *j, enum x86_reg reg)
{
	struct jit_val v = jit_in_reg(reg);

	/* If the probed place calls the pad, a return address is on the stack, too. */
	if (reg == X86_RSP)
		v.imm = 8 * (s64)j->pad.words + (j->pad.words ? j->req.target->red_zone : 0) +
			(j->pad.region || j->pad.held ? 0 : 8);
	jit_ref(j, &v);
	return v;
}

struct x86_mem jit_hit(const struct ax_jit *j, const struct jit_val *v)
{
	if (j->pad.on)
		return saved(j, jit_machine_reg(v->loc));
	return x86_at(JIT_REGS, (s32)gtp_regs_offset(v->loc));
}

struct jit_val jit_hit_val(struct ax_jit *j, u32 n)
{
	struct jit_val v = { .where = JIT_HIT, .loc = (u8)n };

	if (n == GTP_REG_PC)
		return jit_const(j->req.pc);
	if (j->pad.on && !j->pad.pos[jit_machine_reg(n)])
		return in_machine(j, jit_machine_reg(n));
	v.bits = (u8)gtp_regs_bits(n);
	jit_know(&v, v.bits, 64);
	return v;
}

static void load_hit(struct ax_jit *j, enum x86_reg dst, const struct jit_val *v)
{
	x86_load(&j->b, dst, jit_hit(j, v), v->bits / 8, v->sign);
}

enum x86_reg jit_cached(const struct ax_jit *j, u32 hit)
{
	for (u32 i = 0; i < j->nalloc; i++)
		if (j->cached[j->order[i]] == (s8)hit)
			return j->order[i];
	return X86_NO_REG;
}

void jit_forget_cached(struct ax_jit *j)
{
	memset(j->cached, -1, sizeof(j->cached));
}

static u32 free_slot(struct ax_jit *j)
{
	u32 slot = 0;

	while (j->slots[slot])
		slot++;
	if (slot >= j->stack_met)
		j->stack_met = slot + 1;
	return slot;
}

/* Change the entries and references to a register or slot whose value was moved to another one. */
static void relocate(struct ax_jit *j, u32 where, u32 loc, u32 to, u32 to_loc)
{
	for (u32 i = 0; i < j->depth; i++) {
		struct jit_val *v = &j->stack[i];

		if (v->where != where || v->loc != loc)
			continue;
		unref(j, v);
		v->where = (u8)to;
		v->loc = (u8)to_loc;
		jit_ref(j, v);
	}
}

static void spill(struct ax_jit *j, enum x86_reg reg)
{
	u32 slot = free_slot(j);

	x86_store(&j->b, jit_slot(j, slot), reg, 8);
	relocate(j, JIT_REG, reg, JIT_SLOT, slot);
}

/* True if a register can be spilled: it holds no operand, and no emitter holds it. */
static bool can_spill(const struct ax_jit *j, enum x86_reg reg)
{
	u32 n = 0;

	for (u32 i = 0; i + j->held < j->depth; i++)
		n += j->stack[i].where == JIT_REG && j->stack[i].loc == reg;
	return n && n == j->regs[reg];
}

/*
 * Find a free register, preferably one that caches no register of the hit; return X86_NO_REG if
 * there is none.
 */
static enum x86_reg find_free(const struct ax_jit *j)
{
	enum x86_reg found = X86_NO_REG;

	for (u32 i = 0; i < j->nalloc; i++) {
		u32 r = j->order[i];

		if (j->regs[r])
			continue;
		if (j->cached[r] < 0)
			return r;
		if (found == X86_NO_REG)
			found = r;
	}
	return found;
}

enum x86_reg jit_alloc(struct ax_jit *j)
{
	enum x86_reg r = find_free(j);

	/* Spill the deepest entry of the stack, which is needed last. */
	for (u32 i = 0; r == X86_NO_REG && i + j->held < j->depth; i++) {
		const struct jit_val *v = &j->stack[i];

		if (v->where == JIT_REG && can_spill(j, v->loc)) {
			r = v->loc;
			spill(j, r);
		}
	}
	if (r == X86_NO_REG) { /* emitters hold all registers: a bug */
		j->b.failed = true;
		return X86_RAX;
	}
	j->regs[r]++;
	j->cached[r] = -1;
	j->pad.touched |= (u16)(1U << r);
	return r;
}

void jit_claim(struct ax_jit *j, enum x86_reg reg)
{
	/*
	 * In a pad, a register that is not in @usable has one more reference, from pin(). Such a
	 * register holds the hit's value, and @touched makes the next try push it; or it has been
	 * pushed, for a fixed role. An instruction may still have left its result in the register.
	 */
	u32 pinned = j->pad.on && !(j->pad.usable >> reg & 1);
	enum x86_reg to;

	j->pad.touched |= (u16)(1U << reg);
	if (j->regs[reg] > pinned) {
		to = jit_alloc(j);
		if (to == reg)
			return; /* jit_alloc() has spilled it */
		x86_mov(&j->b, to, reg);
		relocate(j, JIT_REG, reg, JIT_REG, to);
		jit_unref_reg(j, to); /* drop jit_alloc()'s; each entry has its own */
		if (j->regs[reg] > pinned)
			j->b.failed = true; /* an emitter holds the register: a bug */
	}
	j->regs[reg]++;
	j->cached[reg] = -1;
}

void jit_move(struct ax_jit *j, enum x86_reg dst, const struct jit_val *v)
{
	switch (v->where) {
	case JIT_CONST:
		x86_mov_imm(&j->b, dst, (u64)v->imm);
		return;
	case JIT_FLAGS:
		/*
		 * Clear the register before setcc: a movzx after it would have to wait for its
		 * result.
		 */
		x86_mov_imm(&j->b, dst, 0);
		x86_setcc(&j->b, v->loc, dst);
		return;
	case JIT_REG:
		if (v->imm)
			x86_lea(&j->b, X86_64, dst, x86_at(v->loc, (s32)v->imm));
		else if (v->bits < 64 || v->loc != dst)
			x86_extend(&j->b, dst, v->loc, v->bits / 8, v->sign);
		return;
	case JIT_HIT:
		load_hit(j, dst, v);
		break;
	case JIT_SLOT:
		x86_load(&j->b, dst, jit_slot(j, v->loc), v->bits / 8, v->sign);
		break;
	}
	if (v->imm)
		x86_lea(&j->b, X86_64, dst, x86_at(dst, (s32)v->imm));
}

/* Move a value into a new register, and keep what is known of the value. */
static void into_new(struct ax_jit *j, struct jit_val *v)
{
	struct jit_val to = jit_in_reg(jit_alloc(j));

	jit_know(&to, v->zbits, v->sbits);
	jit_move(j, to.loc, v);
	jit_set(j, v, to);
}

/*
 * Load a whole register of the hit, unless a machine register still holds it from an earlier load.
 */
static void force_hit(struct ax_jit *j, struct jit_val *v)
{
	u32 n = v->loc;
	s64 imm = v->imm;
	enum x86_reg r = jit_cached(j, n);

	v->imm = 0;
	if (r == X86_NO_REG) {
		into_new(j, v);
		j->cached[v->loc] = (s8)n;
	} else {
		v->where = JIT_REG;
		v->loc = (u8)r;
		jit_ref(j, v);
	}
	v->imm = imm;
}

void jit_force_base(struct ax_jit *j, struct jit_val *v)
{
	if (v->bits < 64 || v->where == JIT_CONST || v->where == JIT_FLAGS) {
		jit_force(j, v);
	} else if (v->where == JIT_HIT) {
		force_hit(j, v);
	} else if (v->where == JIT_SLOT) {
		s64 imm = v->imm;

		v->imm = 0;
		into_new(j, v);
		v->imm = imm;
	}
}

void jit_force(struct ax_jit *j, struct jit_val *v)
{
	if (v->where == JIT_HIT && v->bits == 64)
		force_hit(j, v);
	if (v->where == JIT_REG && v->bits == 64 && !v->imm)
		return;
	if (v->where == JIT_REG && j->regs[v->loc] == 1) {
		jit_move(j, v->loc, v);
		j->cached[v->loc] = -1;
		v->bits = 64;
		v->imm = 0;
		return;
	}
	into_new(j, v);
}

enum x86_reg jit_own(struct ax_jit *j, struct jit_val *v)
{
	if (v->where != JIT_REG || j->regs[v->loc] > 1)
		into_new(j, v);
	else
		jit_force(j, v);
	j->cached[v->loc] = -1;
	return v->loc;
}

void jit_own_in(struct ax_jit *j, struct jit_val *v, enum x86_reg reg)
{
	struct jit_val to = jit_in_reg(reg);

	if (v->where == JIT_REG && v->loc == reg && j->regs[reg] == 1) {
		jit_own(j, v);
		return;
	}
	jit_know(&to, v->zbits, v->sbits);
	jit_claim(j, reg);
	jit_move(j, reg, v);
	jit_set(j, v, to);
}

/* Drop a pending extension from 32 bits, which does not affect the low 32 bits. */
static void low_view(struct jit_val *v)
{
	if (v->bits == 32) {
		v->bits = 64;
		jit_know(v, 64, 64);
	}
}

enum x86_reg jit_own_low(struct ax_jit *j, struct jit_val *v)
{
	if (v->where == JIT_REG)
		low_view(v);
	return jit_own(j, v);
}

void jit_force_low(struct ax_jit *j, struct jit_val *v)
{
	if (v->where == JIT_REG)
		low_view(v);
	jit_force(j, v);
}

void jit_spill_all(struct ax_jit *j)
{
	for (u32 i = 0; i + j->held < j->depth; i++)
		if (j->stack[i].where == JIT_REG)
			spill(j, j->stack[i].loc);
}

/* Free a slot: move its value to another slot, by a push and a pop. */
static void claim_slot(struct ax_jit *j, u32 slot)
{
	u32 to;

	if (slot >= j->stack_met)
		j->stack_met = slot + 1;
	if (!j->slots[slot])
		return;
	to = free_slot(j);
	x86_push_mem(&j->b, jit_slot(j, slot));
	x86_pop_mem(&j->b, jit_slot(j, to));
	relocate(j, JIT_SLOT, slot, JIT_SLOT, to);
}

static void canonical_slot(struct ax_jit *j, struct jit_val *v, u32 slot)
{
	struct jit_val to = { .where = JIT_SLOT,
			      .loc = (u8)slot,
			      .bits = 64,
			      .zbits = 64,
			      .sbits = 64 };

	if (v->where == JIT_SLOT && v->loc == slot && v->bits == 64 && !v->imm &&
	    j->slots[slot] == 1)
		return;
	jit_force(j, v);
	claim_slot(j, slot);
	x86_store(&j->b, jit_slot(j, slot), v->loc, 8);
	jit_set(j, v, to);
	j->slots[slot]++;
}

/*
 * jit_canonical - move every value to the place where joins of paths expect it. Each of the first
 * few entries of the stack has its register; every other entry has the slot with its number
 *
 * Fill the slots first, while registers can still be spilled. Each value moves once, or twice if it
 * is in the place of an earlier value.
 */
void jit_canonical(struct ax_jit *j)
{
	j->held = 0;
	for (u32 i = JIT_NR_JOIN; i < j->depth; i++)
		canonical_slot(j, &j->stack[i], i);
	for (u32 i = 0; i < j->depth && i < JIT_NR_JOIN; i++)
		jit_own_in(j, &j->stack[i], j->order[i]);
}

/* In a pad, add a reference to each register that is not usable, so that it is not allocated. */
static void pin(struct ax_jit *j)
{
	for (u32 r = 0; j->pad.on && r < X86_NR_REGS; r++)
		j->regs[r] = !(j->pad.usable >> r & 1);
}

void jit_after_join(struct ax_jit *j, u32 depth)
{
	memset(j->regs, 0, sizeof(j->regs));
	memset(j->slots, 0, sizeof(j->slots));
	jit_forget_cached(j);
	pin(j);
	for (j->depth = 0; j->depth < depth;) {
		struct jit_val v = jit_in_reg(X86_RAX);

		v.where = j->depth < JIT_NR_JOIN ? JIT_REG : JIT_SLOT;
		v.loc = (u8)(j->depth < JIT_NR_JOIN ? j->order[j->depth] : j->depth);
		jit_ref(j, &v);
		jit_push(j, v);
	}
}
