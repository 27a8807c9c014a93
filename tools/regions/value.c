// SPDX-License-Identifier: GPL-2.0-only
/*
 * Track the known values of registers from one instruction to the next. After an instruction that
 * this file does not handle, everything that it writes is unknown.
 *
 * Memory that was compared with a bound keeps that bound until the next store or call. Compilers
 * rely on that, too: they compare the index in memory, and load it again for the access.
 */
#include "tools/regions/value.h"

enum { RAX, RCX, RDX, RSI = 6, RDI, R8, R9, R10, R11, RIP = 17, NOWHERE = 18 };

static u32 width_of(ZydisRegister reg)
{
	return ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, reg);
}

u32 rgn_reg(ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
		return RGN_REGS;
	return (u32)(whole - ZYDIS_REGISTER_RAX);
}

static bool high_byte(ZydisRegister reg)
{
	return reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH;
}

static u64 mask(u32 bits)
{
	return bits >= 64 ? ~0ULL : (1ULL << bits) - 1;
}

static u64 min_u64(u64 a, u64 b)
{
	return a < b ? a : b;
}

static struct rgn_value bounded(u64 max)
{
	return (struct rgn_value){ .bits = 64, .max = max };
}

static struct rgn_value constant(u64 at)
{
	return (struct rgn_value){ .kind = RGN_VALUE_CONST, .at = at, .bits = 64, .max = at };
}

static u64 new_id(u64 addr, u32 reg)
{
	return addr * 64 + reg + 1;
}

static u64 join_id(u64 addr, u32 reg)
{
	return addr * 64 + 32 + reg + 1;
}

void rgn_state_entry(struct rgn_state *s)
{
	u32 i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < RGN_REGS; i++) {
		s->reg[i].kind = RGN_VALUE_OUTSIDE;
		s->reg[i].id = i + 1;
		s->reg[i].same = 64;
	}
}

void rgn_state_unknown(struct rgn_state *s, u64 addr)
{
	u32 i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < RGN_REGS; i++) {
		s->reg[i].id = join_id(addr, i);
		s->reg[i].same = 64;
	}
}

static void join_value(struct rgn_value *a, const struct rgn_value *b, u64 addr, u32 reg)
{
	bool table = a->kind >= RGN_VALUE_ENTRY;

	if (a->kind != b->kind || a->at != b->at || a->base != b->base) {
		a->kind = RGN_VALUE_UNKNOWN;
		a->at = 0;
		a->base = 0;
		a->last = 0;
	} else if (table && b->last > a->last) {
		a->last = b->last;
	}
	a->bits = a->bits < b->bits ? a->bits : b->bits;
	if (!a->bits)
		a->max = 0;
	else if (b->max > a->max)
		a->max = b->max;
	if (a->id != b->id) {
		a->id = join_id(addr, reg);
		a->same = 64;
	} else if (b->same < a->same) {
		a->same = b->same;
	}
}

static bool is_join_id(u64 id, u64 addr)
{
	return id > join_id(addr, 0) - 1 && id <= join_id(addr, RGN_REGS - 1);
}

bool rgn_state_join(struct rgn_state *to, const struct rgn_state *from, u64 addr)
{
	struct rgn_state old = *to;
	u32 i;

	for (i = 0; i < RGN_REGS; i++) {
		join_value(&to->reg[i], &from->reg[i], addr, i);
		/*
		 * A join at this address gives each register its own id. If the id is that of
		 * another register, an earlier visit of this address made it.
		 */
		if (is_join_id(to->reg[i].id, addr) && to->reg[i].id != join_id(addr, i)) {
			to->reg[i].id = join_id(addr, i);
			to->reg[i].same = 64;
		}
	}
	if (memcmp(&to->flags, &from->flags, sizeof(to->flags)) ||
	    (!to->flags.memory && is_join_id(to->flags.id, addr)))
		memset(&to->flags, 0, sizeof(to->flags));
	if (memcmp(&to->memory, &from->memory, sizeof(to->memory)))
		memset(&to->memory, 0, sizeof(to->memory));
	return memcmp(&old, to, sizeof(old));
}

/*
 * Set a register to a new value. If another register has the same id, it holds the result of an
 * earlier execution of the same instruction.
 */
static void set(struct rgn_state *s, u32 reg, struct rgn_value v, u64 addr)
{
	u64 id = new_id(addr, reg);
	u32 i;

	if (s->memory.base == reg)
		s->memory.bits = 0;
	if (s->flags.memory && s->flags.base == reg)
		s->flags.bits = 0;
	if (!v.id) {
		for (i = 0; i < RGN_REGS; i++) {
			if (s->reg[i].id == id)
				s->reg[i].id = 0;
		}
		if (!s->flags.memory && s->flags.id == id)
			s->flags.bits = 0;
		v.id = id;
		v.same = 64;
	}
	s->reg[reg] = v;
}

static void forget_memory(struct rgn_state *s)
{
	s->memory.bits = 0;
	if (s->flags.memory)
		s->flags.bits = 0;
}

/* Forget all registers, memory and flags that the instruction writes. */
static void forget_written(struct rgn_state *s, const struct rgn_insn *insn)
{
	const ZydisAccessedFlags *f = insn->z.cpu_flags;
	u32 i;

	for (i = 0; i < insn->z.operand_count; i++) {
		const ZydisDecodedOperand *op = &insn->ops[i];

		if (!(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
			forget_memory(s);
		else if (op->type == ZYDIS_OPERAND_TYPE_REGISTER &&
			 rgn_reg(op->reg.value) < RGN_REGS)
			set(s, rgn_reg(op->reg.value), (struct rgn_value){ 0 }, insn->addr);
	}
	if (f && (f->modified | f->set_0 | f->set_1 | f->undefined))
		s->flags.bits = 0;
}

/* Return the low @bits bits of a value, zero-extended. */
static struct rgn_value zero_extended(struct rgn_value v, u32 bits)
{
	if (bits == 64)
		return v;
	if (v.kind == RGN_VALUE_CONST && v.at <= mask(bits))
		return v;
	v.kind = RGN_VALUE_UNKNOWN;
	v.at = 0;
	v.base = 0;
	v.last = 0;
	v.max = v.bits >= bits ? min_u64(v.max, mask(bits)) : mask(bits);
	v.bits = 64;
	if (v.same > bits)
		v.same = (u16)bits;
	return v;
}

/* Return the low @bits bits of a value, sign-extended. */
static struct rgn_value sign_extended(struct rgn_value v, u32 bits)
{
	bool positive = v.bits >= bits && v.max < 1ULL << (bits - 1);
	u16 same = v.same > bits ? (u16)bits : v.same;
	u64 id = v.id;

	v = positive ? bounded(v.max) : (struct rgn_value){ 0 };
	v.id = id;
	v.same = same;
	return v;
}

static void address_of(const struct rgn_insn *insn, const ZydisDecodedOperand *op, u16 *base,
		       s64 *disp)
{
	*base = NOWHERE;
	*disp = op->mem.disp.has_displacement ? op->mem.disp.value : 0;
	if (op->mem.index != ZYDIS_REGISTER_NONE || op->mem.segment == ZYDIS_REGISTER_FS ||
	    op->mem.segment == ZYDIS_REGISTER_GS)
		return;
	if (op->mem.base == ZYDIS_REGISTER_RIP) {
		*base = RIP;
		*disp = (s64)((u64)*disp + insn->addr + insn->z.length);
	} else if (rgn_reg(op->mem.base) < RGN_REGS && width_of(op->mem.base) == 64) {
		*base = (u16)rgn_reg(op->mem.base);
	}
}

bool rgn_state_table(const struct rgn_state *s, const struct rgn_insn *insn,
		     const ZydisDecodedOperand *op, u32 scale, struct rgn_value *v)
{
	const struct rgn_value *index, *base;
	u64 at = op->mem.disp.has_displacement ? (u64)op->mem.disp.value : 0;
	u32 i = rgn_reg(op->mem.index), b = rgn_reg(op->mem.base);

	if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || i >= RGN_REGS || op->mem.scale != scale ||
	    width_of(op->mem.index) != 64 || op->mem.segment == ZYDIS_REGISTER_FS ||
	    op->mem.segment == ZYDIS_REGISTER_GS)
		return false;
	index = &s->reg[i];
	if (op->mem.base != ZYDIS_REGISTER_NONE) {
		if (b >= RGN_REGS)
			return false;
		base = &s->reg[b];
		if (base->kind != RGN_VALUE_CONST)
			return false;
		at += base->at;
	}
	if (index->bits != 64)
		return false;
	*v = (struct rgn_value){ .at = at, .last = index->max };
	return true;
}

/* Return the result of a load of @bits bits that is zero-extended. */
static struct rgn_value load(const struct rgn_state *s, const struct rgn_insn *insn,
			     const ZydisDecodedOperand *op, u32 bits)
{
	struct rgn_value v = { 0 };
	u16 base;
	s64 disp;

	address_of(insn, op, &base, &disp);
	if (s->memory.bits == bits && s->memory.base == base && s->memory.disp == disp)
		return bounded(s->memory.with);
	if (bits == 64) {
		bool table = rgn_state_table(s, insn, op, 8, &v);

		v.kind = table ? RGN_VALUE_SLOT : RGN_VALUE_OUTSIDE;
		return v;
	}
	return bounded(mask(bits));
}

static struct rgn_value sum(const struct rgn_value *a, const struct rgn_value *b)
{
	struct rgn_value v = { .kind = RGN_VALUE_TARGET };

	if (a->kind == RGN_VALUE_CONST && b->kind == RGN_VALUE_ENTRY) {
		const struct rgn_value *t = a;

		a = b;
		b = t;
	}
	if (a->kind != RGN_VALUE_ENTRY || b->kind != RGN_VALUE_CONST)
		return (struct rgn_value){ 0 };
	v.at = a->at;
	v.last = a->last;
	v.base = b->at;
	return v;
}

static struct rgn_value lea(const struct rgn_state *s, const struct rgn_insn *insn)
{
	const ZydisDecodedOperand *op = &insn->ops[1];
	u32 b = rgn_reg(op->mem.base), i = rgn_reg(op->mem.index);
	u64 disp = op->mem.disp.has_displacement ? (u64)op->mem.disp.value : 0;

	if (width_of(insn->ops[0].reg.value) != 64)
		return (struct rgn_value){ 0 };
	if (op->mem.base == ZYDIS_REGISTER_RIP)
		return constant(insn->addr + insn->z.length + disp);
	if (b < RGN_REGS && i < RGN_REGS && op->mem.scale == 1 && !disp)
		return sum(&s->reg[b], &s->reg[i]);
	if (b < RGN_REGS && op->mem.index == ZYDIS_REGISTER_NONE &&
	    s->reg[b].kind == RGN_VALUE_CONST)
		return constant(s->reg[b].at + disp);
	return (struct rgn_value){ 0 };
}

/* Return the value that the instruction reads from an operand, zero-extended. */
static struct rgn_value source(const struct rgn_state *s, const struct rgn_insn *insn,
			       const ZydisDecodedOperand *op)
{
	u32 r = rgn_reg(op->reg.value);

	if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
		return load(s, insn, op, op->size);
	if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return constant((op->imm.is_signed ? (u64)op->imm.value.s : op->imm.value.u) &
				mask(insn->ops[0].size));
	if (op->type != ZYDIS_OPERAND_TYPE_REGISTER || r >= RGN_REGS || high_byte(op->reg.value))
		return (struct rgn_value){ 0 };
	return zero_extended(s->reg[r], width_of(op->reg.value));
}

static struct rgn_value signed_source(const struct rgn_state *s, const struct rgn_insn *insn)
{
	const ZydisDecodedOperand *op = &insn->ops[1];
	struct rgn_value v = { 0 };

	if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		if (op->size == 32 && width_of(insn->ops[0].reg.value) == 64 &&
		    rgn_state_table(s, insn, op, 4, &v)) {
			v.kind = RGN_VALUE_ENTRY;
			return v;
		}
		return sign_extended(load(s, insn, op, op->size), op->size);
	}
	if (rgn_reg(op->reg.value) >= RGN_REGS || high_byte(op->reg.value))
		return v;
	return sign_extended(s->reg[rgn_reg(op->reg.value)], width_of(op->reg.value));
}

static struct rgn_value masked(const struct rgn_value *old, u32 bits, u64 with)
{
	struct rgn_value v = bounded(with);

	if (with > mask(bits - 1) || bits < 32)
		return (struct rgn_value){ 0 };
	if (old->bits >= bits)
		v.max = min_u64(old->max, with);
	return v;
}

static struct rgn_value shifted(const struct rgn_value *old, u32 bits, u64 by)
{
	if (bits < 32 || by >= bits)
		return (struct rgn_value){ 0 };
	return bounded((old->bits >= bits ? min_u64(old->max, mask(bits)) : mask(bits)) >> by);
}

/* Return the new value of the instruction's first operand, a register of at least 32 bits. */
static struct rgn_value result(const struct rgn_state *s, const struct rgn_insn *insn)
{
	const ZydisDecodedOperand *to = &insn->ops[0], *from = &insn->ops[1];
	const struct rgn_value *old = &s->reg[rgn_reg(to->reg.value)];
	bool immediate = from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	bool itself = from->type == ZYDIS_OPERAND_TYPE_REGISTER && to->reg.value == from->reg.value;
	struct rgn_value v;

	switch (insn->z.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
		return source(s, insn, from);
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		return signed_source(s, insn);
	case ZYDIS_MNEMONIC_LEA:
		return lea(s, insn);
	case ZYDIS_MNEMONIC_ADD:
		if (to->size == 64 && from->type == ZYDIS_OPERAND_TYPE_REGISTER)
			return sum(old, &s->reg[rgn_reg(from->reg.value)]);
		break;
	case ZYDIS_MNEMONIC_AND:
		if (immediate)
			return masked(old, to->size, (u64)from->imm.value.s & mask(to->size));
		break;
	case ZYDIS_MNEMONIC_SHR:
		if (immediate)
			return shifted(old, to->size, from->imm.value.u);
		break;
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_SUB:
		if (itself)
			return constant(0);
		/* The C library demangles code pointers: the value still comes from memory. */
		if (insn->z.mnemonic == ZYDIS_MNEMONIC_XOR && old->kind == RGN_VALUE_OUTSIDE &&
		    from->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    from->mem.segment == ZYDIS_REGISTER_FS)
			return (struct rgn_value){ .kind = RGN_VALUE_OUTSIDE };
		break;
	case ZYDIS_MNEMONIC_ROR:
		if (immediate && to->size == 64 && old->kind == RGN_VALUE_OUTSIDE)
			return (struct rgn_value){ .kind = RGN_VALUE_OUTSIDE };
		break;
	case ZYDIS_MNEMONIC_POP:
		return (struct rgn_value){ .kind = RGN_VALUE_OUTSIDE };
	case ZYDIS_MNEMONIC_CMOVB ... ZYDIS_MNEMONIC_CMOVZ:
		v = source(s, insn, from);
		join_value(&v, old, 0, 0);
		v.id = 0;
		return zero_extended(v, to->size);
	default:
		break;
	}
	return (struct rgn_value){ 0 };
}

/*
 * True if the instruction always writes all of its first operand. If the operand has 32 bits, the
 * upper half of the register becomes 0.
 */
static bool writes_whole(const struct rgn_insn *insn)
{
	switch (insn->z.mnemonic) {
	case ZYDIS_MNEMONIC_ADC:
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_DEC:
	case ZYDIS_MNEMONIC_IMUL:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_LEA:
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_NEG:
	case ZYDIS_MNEMONIC_NOT:
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_SBB:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_XOR:
		return true;
	default:
		return false;
	}
}

static void note_compare(struct rgn_state *s, const struct rgn_insn *insn)
{
	const ZydisDecodedOperand *op = &insn->ops[0], *with = &insn->ops[1];
	struct rgn_compare c;

	memset(&c, 0, sizeof(c));
	if (with->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return;
	c.with = (u64)with->imm.value.s & mask(op->size);
	c.base = NOWHERE;
	if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		c.memory = true;
		address_of(insn, op, &c.base, &c.disp);
		if (c.base == NOWHERE)
			return;
	} else if (rgn_reg(op->reg.value) < RGN_REGS && !high_byte(op->reg.value)) {
		const struct rgn_value *v = &s->reg[rgn_reg(op->reg.value)];

		/*
		 * The comparison bounds only the bits that the register shares with other copies of
		 * the value.
		 */
		c.id = v->id;
		c.bits = v->same;
		if (!c.id)
			return;
	} else {
		return;
	}
	if (!c.bits || c.bits > op->size)
		c.bits = op->size;
	s->flags = c;
}

void rgn_state_call(struct rgn_state *s, u64 addr, bool keeps)
{
	static const u8 lost[] = { RCX, RDX, RSI, RDI, R8, R9, R10, R11 };
	u32 i, n = keeps ? sizeof(lost) : RGN_REGS;

	for (i = 0; i < n; i++)
		set(s, keeps ? lost[i] : i, (struct rgn_value){ 0 }, addr);
	if (keeps)
		set(s, RAX, (struct rgn_value){ .kind = RGN_VALUE_OUTSIDE }, addr);
	forget_memory(s);
	s->flags.bits = 0;
}

/*
 * True if the instruction enters the kernel, which writes the result register and memory. Zydis
 * does not report these writes.
 */
static bool enters_kernel(const struct rgn_insn *insn)
{
	return insn->z.meta.category == ZYDIS_CATEGORY_SYSCALL ||
	       insn->z.meta.category == ZYDIS_CATEGORY_INTERRUPT;
}

void rgn_state_step(struct rgn_state *s, const struct rgn_insn *insn)
{
	const ZydisDecodedOperand *to = &insn->ops[0];
	struct rgn_value v = { 0 };
	bool writes = insn->z.operand_count && to->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		      rgn_reg(to->reg.value) < RGN_REGS && to->size >= 32 &&
		      to->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;

	if (insn->z.mnemonic == ZYDIS_MNEMONIC_CDQE)
		v = sign_extended(s->reg[RAX], 32);
	else if (writes)
		v = result(s, insn);
	if (writes && to->size == 32 && !v.bits && writes_whole(insn))
		v = zero_extended(v, 32);
	forget_written(s, insn);
	if (enters_kernel(insn)) {
		set(s, RAX, (struct rgn_value){ 0 }, insn->addr);
		forget_memory(s);
	}
	if (insn->z.mnemonic == ZYDIS_MNEMONIC_CDQE)
		set(s, RAX, v, insn->addr);
	else if (writes)
		set(s, rgn_reg(to->reg.value), v, insn->addr);
	if (insn->z.mnemonic == ZYDIS_MNEMONIC_CMP)
		note_compare(s, insn);
}

/* Record that the compared value is at most @max, and so is each register that holds this value. */
static void bound(struct rgn_state *s, u64 max)
{
	u32 i;

	if (s->flags.memory) {
		s->memory = s->flags;
		s->memory.with = max;
		return;
	}
	for (i = 0; i < RGN_REGS; i++) {
		struct rgn_value *v = &s->reg[i];
		u16 bits = s->flags.bits < v->same ? (u16)s->flags.bits : v->same;

		if (v->id != s->flags.id)
			continue;
		if (v->bits >= bits && v->max <= mask(bits)) {
			v->max = min_u64(v->max, max);
		} else {
			v->bits = bits;
			v->max = max;
		}
	}
}

void rgn_state_branch(struct rgn_state *s, const struct rgn_insn *insn, bool taken)
{
	u64 with = s->flags.with;

	/* Whether or not the loop instruction jumps, it decrements rcx. */
	if (insn->z.mnemonic == ZYDIS_MNEMONIC_LOOP || insn->z.mnemonic == ZYDIS_MNEMONIC_LOOPE ||
	    insn->z.mnemonic == ZYDIS_MNEMONIC_LOOPNE)
		set(s, RCX, (struct rgn_value){ 0 }, insn->addr);
	if (!s->flags.bits)
		return;
	switch (insn->z.mnemonic) {
	case ZYDIS_MNEMONIC_JNBE:
	case ZYDIS_MNEMONIC_JNZ:
		if (!taken)
			bound(s, with);
		break;
	case ZYDIS_MNEMONIC_JBE:
	case ZYDIS_MNEMONIC_JZ:
		if (taken)
			bound(s, with);
		break;
	case ZYDIS_MNEMONIC_JNB:
		if (!taken && with)
			bound(s, with - 1);
		break;
	case ZYDIS_MNEMONIC_JB:
		if (taken && with)
			bound(s, with - 1);
		break;
	default:
		break;
	}
}
