// SPDX-License-Identifier: GPL-2.0-only
/*
 * The instruction decoder. It reads prefixes, opcodes, ModRM and immediates, and makes the checks
 * of opcode groups.
 */
#include "regions/insn.h"
#include "regions/insn_map.h"

/* Prefixes that change how an instruction is decoded; segment prefixes do not. */
enum {
	OPSIZE = 1,   /* 66 */
	ADDRSIZE = 2, /* 67 */
	F0 = 4,
	F2 = 8,
	F3 = 16,
	REX_W = 8, /* a bit of the rex byte itself */
	REX_B = 1,
};

/**
 * struct scan - the state of decoding one instruction
 * @p: the bytes of the instruction
 * @end: the number of bytes that may be read
 * @at: offset of the next byte
 * @prefixes: the prefixes seen so far
 * @rex: the REX prefix, or 0
 * @opcode: the last byte of the opcode
 * @modrm: the byte after the opcode, if @form has MODRM
 * @form: bits of op.form; an opcode's group may add some
 * @group: enum group
 * @two_bytes: true for an opcode that begins with 0f
 */
struct scan {
	const u8 *p;
	u32 end;
	u32 at;
	u8 prefixes;
	u8 rex;
	u8 opcode;
	u8 modrm;
	u8 form;
	u8 group;
	bool two_bytes;
};

static u32 mod(const struct scan *s)
{
	return s->modrm >> 6;
}

static u32 reg(const struct scan *s)
{
	return s->modrm >> 3 & 7;
}

static bool in_memory(const struct scan *s)
{
	return s->form & MODRM && mod(s) != 3 && s->group != G_CONTROL;
}

static bool have(const struct scan *s, u32 n)
{
	return n <= s->end - s->at;
}

static u8 prefix_bit(u8 byte, bool *known)
{
	*known = true;
	switch (byte) {
	case 0x66:
		return OPSIZE;
	case 0x67:
		return ADDRSIZE;
	case 0xf0:
		return F0;
	case 0xf2:
		return F2;
	case 0xf3:
		return F3;
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
		return 0;
	default:
		*known = false;
		return 0;
	}
}

/*
 * Read legacy prefixes, then one REX. A REX before another prefix is refused as an unknown opcode.
 */
static int prefixes(struct scan *s)
{
	bool more = true;

	while (more) {
		if (!have(s, 1))
			return -EINVAL;
		s->prefixes |= prefix_bit(s->p[s->at], &more);
		s->at += more;
	}
	if ((s->p[s->at] & 0xf0) == 0x40)
		s->rex = s->p[s->at++];
	return s->prefixes & F2 && s->prefixes & F3 ? -EINVAL : 0;
}

static const struct op *opcode(struct scan *s)
{
	const struct op *map = one_byte;

	if (have(s, 1) && s->p[s->at] == 0x0f) {
		map = two_byte;
		s->two_bytes = true;
		s->at++;
	}
	if (!have(s, 1))
		return NULL;
	s->opcode = s->p[s->at++];
	s->form = map[s->opcode].form;
	s->group = map[s->opcode].group;
	return s->form ? &map[s->opcode] : NULL;
}

/* Read ModRM, SIB and displacement; set @disp_at for an operand that is relative to %rip. */
static int operand(struct scan *s, struct gtp_insn *insn)
{
	u32 disp = 0;

	if (!have(s, 1))
		return -EINVAL;
	s->modrm = s->p[s->at++];
	if (!in_memory(s))
		return 0;
	if (mod(s) == 0 && (s->modrm & 7) == 5) {
		/* Refuse prefix 67, which makes %eip the base: compilers do not emit it. */
		if (s->prefixes & ADDRSIZE)
			return -EINVAL;
		insn->disp_at = (u8)s->at;
		disp = 4;
	}
	if ((s->modrm & 7) == 4) {
		if (!have(s, 1))
			return -EINVAL;
		/* A SIB without a base has a displacement even with mod 0. */
		if ((s->p[s->at] & 7) == 5 && mod(s) == 0)
			disp = 4;
		s->at++;
	}
	if (mod(s) == 1)
		disp = 1;
	else if (mod(s) == 2)
		disp = 4;
	if (!have(s, disp))
		return -EINVAL;
	s->at += disp;
	return 0;
}

static bool one_of(u32 bits, u32 n)
{
	return bits >> n & 1;
}

/*
 * Check 0f 01 without a memory operand. ModRM selects one of many instructions, most of which are
 * for virtualization.
 */
static int system_insn(const struct scan *s, struct gtp_insn *insn)
{
	switch (s->modrm) {
	case 0xc1: /* vmcall */
	case 0xc8: /* monitor */
	case 0xca: /* clac */
	case 0xcb: /* stac */
	case 0xcf: /* encls */
	case 0xd0: /* xgetbv */
	case 0xd1: /* xsetbv */
	case 0xd9: /* vmmcall; with f3 vmgexit */
	case 0xdc: /* stgi */
	case 0xdd: /* clgi */
	case 0xe8: /* serialize */
	case 0xee: /* rdpkru */
	case 0xef: /* wrpkru */
	case 0xf8: /* swapgs */
	case 0xf9: /* rdtscp */
		return 0;
	case 0xc2: /* vmlaunch */
	case 0xc3: /* vmresume */
	case 0xc9: /* mwait, right after sti */
		insn->kind = GTP_INSN_FIXED;
		return 0;
	default:
		return reg(s) == 4 || reg(s) == 6 ? 0 : -EINVAL; /* smsw, lmsw */
	}
}

static int group_system(const struct scan *s, struct gtp_insn *insn)
{
	if (s->prefixes & (OPSIZE | F2) || (s->prefixes & F3 && s->modrm != 0xd9))
		return -EINVAL;
	if (in_memory(s))
		return reg(s) != 5 ? 0 : -EINVAL;
	return system_insn(s, insn);
}

/*
 * Check an x87 instruction. The table says which memory forms exist, one bit for each value of
 * ModRM.reg. Of the register forms, only fnclex and fninit are known.
 */
static int group_x87(const struct scan *s)
{
	static const u8 forms[8] = { 0xff, 0xfd, 0xff, 0xaf, 0xff, 0xdf, 0xff, 0xff };

	if (in_memory(s))
		return one_of(forms[s->opcode & 7], reg(s)) ? 0 : -EINVAL;
	return s->opcode == 0xdb && (s->modrm == 0xe2 || s->modrm == 0xe3) ? 0 : -EINVAL;
}

static int group_flow(struct scan *s, struct gtp_insn *insn)
{
	if (reg(s) < 2) {
		s->form |= LOCK;
		insn->flags_in = 0;
		insn->flags_out = GTP_FLAGS_ARITH & ~GTP_FLAG_CF;
		return 0;
	}
	if (reg(s) == 6)
		return 0; /* push */
	if ((reg(s) != 2 && reg(s) != 4) || s->prefixes & OPSIZE)
		return -EINVAL;
	insn->kind = reg(s) == 2 ? GTP_INSN_CALL_REG : GTP_INSN_JMP_REG;
	insn->flags_in = GTP_FLAGS_ARITH;
	return 0;
}

static int group_unary(struct scan *s, struct gtp_insn *insn)
{
	if (reg(s) < 2)
		s->form |= s->opcode & 1 ? IMMZ : IMM8;
	if (reg(s) == 2 || reg(s) == 3)
		s->form |= LOCK;
	if (reg(s) == 2) /* not */
		insn->flags_out = 0;
	return 0;
}

static int group_fence(const struct scan *s)
{
	if (s->prefixes & F2)
		return -EINVAL;
	if (s->prefixes & F3) /* rdfsbase and so on */
		return !in_memory(s) && reg(s) < 4 && !(s->prefixes & OPSIZE) ? 0 : -EINVAL;
	if (in_memory(s)) /* xsave and so on; clwb, clflushopt */
		return !(s->prefixes & OPSIZE) || reg(s) >= 6 ? 0 : -EINVAL;
	return reg(s) >= 5 && !(s->prefixes & OPSIZE) ? 0 : -EINVAL;
}

static int group_cmpxchg(struct scan *s)
{
	if (s->prefixes & (F2 | F3))
		return -EINVAL;
	if (!in_memory(s))
		return reg(s) >= 6 ? 0 : -EINVAL; /* rdrand, rdseed */
	if (s->prefixes & OPSIZE)
		return -EINVAL;
	if (reg(s) == 1)
		s->form |= LOCK;
	return one_of(0x3a, reg(s)) ? 0 : -EINVAL;
}

static int group_mov(const struct scan *s, struct gtp_insn *insn)
{
	if (s->modrm == 0xf8) { /* xabort, xbegin */
		insn->kind = GTP_INSN_FIXED;
		return s->prefixes & OPSIZE ? -EINVAL : 0;
	}
	return reg(s) ? -EINVAL : 0;
}

static int group_bits(struct scan *s)
{
	if (reg(s) > 4)
		s->form |= LOCK;
	return reg(s) < 4 ? -EINVAL : 0;
}

static int group_alu(struct scan *s)
{
	if (reg(s) == 7)
		s->form &= ~LOCK;
	return 0;
}

/* Set the flags of adc and sbb, which read the carry. */
static void group_alu_flags(const struct scan *s, struct gtp_insn *insn)
{
	if (reg(s) == 2 || reg(s) == 3)
		insn->flags_in = GTP_FLAG_CF;
}

static int group_hint(const struct scan *s)
{
	/* endbr64, endbr32, rdssp; without f3 a nop */
	if (s->prefixes & F3)
		return s->modrm == 0xfa || s->modrm == 0xfb || (mod(s) == 3 && reg(s) == 1) ?
			       0 :
			       -EINVAL;
	return s->prefixes & F2 ? -EINVAL : 0;
}

static int group_sreg_in(const struct scan *s, struct gtp_insn *insn)
{
	if (reg(s) == 2) /* to %ss: no interrupt comes before the next instruction has run */
		insn->kind = GTP_INSN_FIXED;
	return reg(s) == 1 || reg(s) > 5 ? -EINVAL : 0;
}

static int group_control(const struct scan *s)
{
	static const u16 registers[2] = { 0x11d, 0xff }; /* control: 0, 2, 3, 4, 8; debug */
	u32 n = reg(s) | (s->rex & 4) << 1;

	return one_of(registers[s->opcode & 1], n) ? 0 : -EINVAL;
}

/*
 * Check that the operand is in memory. Refuse every two-byte opcode of this group with a 66 prefix,
 * because movnti does not exist with that prefix.
 */
static int group_memory(const struct scan *s)
{
	return in_memory(s) && !(s->two_bytes && s->prefixes & OPSIZE) ? 0 : -EINVAL;
}

/* Check the ModRM byte and the prefixes as the opcode's group requires. */
static int judge_group(struct scan *s, struct gtp_insn *insn)
{
	switch (s->group) {
	case G_ALU:
		group_alu_flags(s, insn);
		return group_alu(s);
	case G_FIRST:
		return reg(s) ? -EINVAL : 0;
	case G_MOV:
		return group_mov(s, insn);
	case G_MEMORY:
		return group_memory(s);
	case G_SREG_IN:
		return group_sreg_in(s, insn);
	case G_SREG_OUT:
		return reg(s) > 5 ? -EINVAL : 0;
	case G_X87:
		return group_x87(s);
	case G_UNARY:
		return group_unary(s, insn);
	case G_COUNT:
		return reg(s) > 1 ? -EINVAL : 0;
	case G_FLOW:
		return group_flow(s, insn);
	case G_TABLES:
		return reg(s) > 5 ? -EINVAL : 0;
	case G_SYSTEM:
		return group_system(s, insn);
	case G_HINT:
		return group_hint(s);
	case G_CONTROL:
		return group_control(s);
	case G_BITS:
		return group_bits(s);
	case G_FENCE:
		return group_fence(s);
	case G_CMPXCHG:
		return group_cmpxchg(s);
	case G_F3:
		return s->prefixes & F3 ? 0 : -EINVAL;
	case G_PLAIN:
	case G_BRANCH:
		return s->prefixes & OPSIZE ? -EINVAL : 0;
	case G_RET:
		return s->prefixes & (OPSIZE | F2) ? -EINVAL : 0;
	default:
		return 0;
	}
}

static int judge_prefixes(const struct scan *s)
{
	if (s->prefixes & F0 && !(s->form & LOCK && in_memory(s)))
		return -EINVAL;
	if (s->prefixes & (F2 | F3) && !(s->form & REP))
		return -EINVAL;
	/*
	 * Refuse 67 with loop and jrcxz, which then use %ecx, and with a0 to a3, whose address then
	 * has 4 bytes.
	 */
	if (s->prefixes & ADDRSIZE && !s->two_bytes &&
	    ((s->opcode & 0xfc) == 0xa0 || (s->opcode & 0xfc) == 0xe0))
		return -EINVAL;
	return 0;
}

static u32 immediate(const struct scan *s)
{
	bool wide = s->rex & REX_W;
	u32 z = s->prefixes & OPSIZE && !wide ? 2 : 4;

	switch (s->form & (IMM8 | IMM16 | IMMZ | IMMV)) {
	case IMM8:
		return 1;
	case IMM16:
		return 2;
	case IMM24:
		return 3;
	case IMMZ:
		return z;
	case IMMV:
		return wide ? 8 : z;
	case IMM64:
		return 8;
	default:
		return 0;
	}
}

/*
 * The flags that conditional instructions read, for o, b, e, be, s, p, l, le and their opposites.
 */
static const u16 condition_flags[8] = {
	GTP_FLAG_OF,
	GTP_FLAG_CF,
	GTP_FLAG_ZF,
	GTP_FLAG_CF | GTP_FLAG_ZF,
	GTP_FLAG_SF,
	GTP_FLAG_PF,
	GTP_FLAG_SF | GTP_FLAG_OF,
	GTP_FLAG_SF | GTP_FLAG_OF | GTP_FLAG_ZF,
};

static void set_flags(const struct scan *s, u8 class, struct gtp_insn *insn)
{
	static const u16 flags[][2] = {
#define X(name, in, out) { in, out },
		FLAG_CLASSES(X)
#undef X
	};

	insn->flags_in = flags[class][0];
	insn->flags_out = flags[class][1];
	if (class != CONDITION)
		return;
	insn->cond = s->opcode & 15;
	insn->flags_in = condition_flags[insn->cond >> 1];
}

static bool relative(u8 kind)
{
	return kind == GTP_INSN_CALL || kind == GTP_INSN_JMP || kind == GTP_INSN_JCC ||
	       kind == GTP_INSN_LOOP;
}

static int finish(struct scan *s, struct gtp_insn *insn)
{
	u32 n = immediate(s);

	if (!have(s, n))
		return -EINVAL;
	if (relative(insn->kind))
		insn->rel = n == 1 ? (s8)s->p[s->at] : (s32)gtp_get_le(s->p + s->at, 4);
	insn->len = (u8)(s->at + n);
	if (insn->disp_at && insn->kind == GTP_INSN_PLAIN)
		insn->kind = GTP_INSN_RIP;
	return 0;
}

int gtp_insn_decode(struct gtp_insn *insn, const u8 *p, u32 avail)
{
	struct scan s = { .p = p, .end = avail < GTP_INSN_MAX ? avail : GTP_INSN_MAX };
	const struct op *op;

	memset(insn, 0, sizeof(*insn));
	if (prefixes(&s))
		return -EINVAL;
	op = opcode(&s);
	if (!op)
		return -EINVAL;
	insn->kind = op->kind;
	set_flags(&s, op->flags, insn);
	if (s.form & MODRM && operand(&s, insn))
		return -EINVAL;
	if (judge_group(&s, insn) || judge_prefixes(&s))
		return -EINVAL;
	return finish(&s, insn);
}

static bool waits(const u8 *p, u32 avail)
{
	if (avail >= 1 && p[0] == 0xf4) /* hlt */
		return true;
	if (avail < 3 || p[0] != 0x0f || p[1] != 0x01)
		return false;
	return p[2] == 0xc9 || p[2] == 0xfb; /* mwait, mwaitx */
}

bool gtp_insn_halts(const u8 *p, u32 avail)
{
	if (avail > 1 && p[0] == 0xfb) /* sti */
		return waits(p + 1, avail - 1);
	return waits(p, avail);
}
