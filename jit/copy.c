// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies displaced instructions so that they have the same effect at another address.
 *
 * Most instructions are copied unchanged. Displacements relative to an instruction's end are
 * computed again. A call becomes a push of the return address of the original call and a jump, so
 * that a task that sleeps in the callee does not return to the copy. Returns and indirect branches
 * get the form that the kernel's mitigations require at the copy's address.
 */
#include "jit/copy.h"
#include "jit/flow.h"

enum {
	PLACING = AX_JIT_LINE_HALF +
		  1, /* the most nops that can be needed before an indirect branch */
};

/* struct copy - @p: the instruction's bytes; @end: the address of the end of the original */
struct copy {
	struct x86_buf *b;
	u64 base;
	const struct ax_jit_target *w;
	const struct gtp_insn *insn;
	const u8 *p;
	u64 end;
};

static u64 target(const struct copy *c)
{
	return c->end + (u64)(s64)c->insn->rel;
}

/* Copy every byte unchanged, except a displacement relative to the instruction's end. */
static void moved(const struct copy *c, const u8 *p)
{
	u32 at = c->insn->disp_at, behind = c->insn->len - at - 4U;

	if (!at) {
		x86_bytes(c->b, p, c->insn->len);
		return;
	}
	x86_bytes(c->b, p, at);
	x86_disp_far(c->b, c->base, c->end + (u64)(s64)(s32)gtp_get_le(p + at, 4), behind);
	x86_bytes(c->b, p + at + 4, behind);
}

static void verbatim(const struct copy *c)
{
	moved(c, c->p);
}

/*
 * Push the return address. Most addresses, and all in the kernel, fit a sign-extended 32-bit
 * operand.
 */
static void push_end(const struct copy *c)
{
	x86_push_imm(c->b, (s32)c->end);
	if ((u64)(s64)(s32)c->end != c->end)
		x86_store_imm(c->b, x86_at(X86_RSP, 4), (s32)(c->end >> 32), 4);
}

static void call(const struct copy *c)
{
	push_end(c);
	x86_jmp_far(c->b, c->base, target(c));
}

static void jmp(const struct copy *c)
{
	x86_jmp_far(c->b, c->base, target(c));
}

static void jcc(const struct copy *c)
{
	x86_jcc_far(c->b, c->base, c->insn->cond, target(c));
}

/*
 * Copy loop or jrcxz, which have only a rel8 form: `loop 1f; jmp short 2f; 1: jmp rel32 target;
 * 2:`.
 */
static void loop(const struct copy *c)
{
	static const u8 over = 2;
	u32 go_on;

	x86_bytes(c->b, c->p, c->insn->len - 1U);
	x86_bytes(c->b, &over, 1);
	go_on = x86_skip(c->b);
	x86_jmp_far(c->b, c->base, target(c));
	x86_land(c->b, go_on);
}

static bool is_prefix(u8 byte)
{
	return byte == 0x66 || byte == 0xf2 || byte == 0xf3 || byte == 0x3e || byte == 0x2e ||
	       byte == 0x65 || byte == 0x64 || (byte & 0xf0) == 0x40;
}

/* Return the offset of the ModRM byte if this is an indirect call (ff /2), otherwise 0. */
static u32 call_modrm(const struct gtp_insn *insn, const u8 *p)
{
	u32 at = 0;

	while (at + 2 < insn->len && is_prefix(p[at]))
		at++;
	if (at + 2 > insn->len || p[at] != 0xff || (p[at + 1] >> 3 & 7) != 2)
		return 0;
	return at + 1;
}

/* True if the operand uses rsp, which the push of the return address changes. */
static bool uses_rsp(const u8 *p, u32 modrm)
{
	u32 rm = p[modrm] & 7;
	bool b = modrm > 1 && (p[modrm - 2] & 0xf1) == 0x41; /* REX.B */

	if (rm != X86_RSP)
		return false;
	if (p[modrm] >> 6 == 3)
		return !b;
	return (p[modrm + 1] & 7) == X86_RSP && !b;
}

/*
 * True if an indirect branch may begin at offset @at: no fast load may begin there, and if
 * @upper_half of the target is set, the branch must end in the upper half of a cache line.
 */
static bool well_placed(const struct copy *c, u32 at)
{
	u64 last = c->base + at + c->insn->len - 1;

	return at % AX_JIT_LOAD_ALIGN && (!c->w->upper_half || last & AX_JIT_LINE_HALF);
}

/*
 * Copy an indirect jump. The number of nops before it depends on the address, which is not known
 * when the code is planned. So the number of int3s after it, which stop speculation, makes the size
 * constant.
 */
static void indirect(const struct copy *c, const u8 *p)
{
	u32 nops = 0;

	if (c->w->lfence)
		x86_lfence(c->b);
	while (!well_placed(c, c->b->len + nops))
		nops++;
	x86_fill_nops(c->b, nops);
	moved(c, p);
	x86_int3s(c->b, 1 + (c->w->upper_half ? PLACING - nops : 0));
}

static void jmp_reg(const struct copy *c)
{
	indirect(c, c->p);
}

static void ret(const struct copy *c)
{
	jit_return(c->w, c->b, c->base);
}

/* Copy an indirect call (ff /2) as a push and an indirect jump (ff /4) with the same operand. */
static void call_reg(const struct copy *c)
{
	u8 p[GTP_INSN_MAX];

	memcpy(p, c->p, c->insn->len);
	p[call_modrm(c->insn, c->p)] ^= (0x2 ^ 0x4) << 3;
	push_end(c);
	indirect(c, p);
}

static bool plain_return(const struct gtp_insn *insn, const u8 *p)
{
	return p[insn->len - 1] == 0xc3 && (insn->len == 1 || (insn->len == 2 && p[0] == 0xf3));
}

static bool direct_call(const struct gtp_insn *insn, const u8 *p)
{
	return insn->len == 5 && p[0] == 0xe8;
}

static bool call_can(const struct gtp_insn *insn, const u8 *p)
{
	u32 modrm = call_modrm(insn, p);

	return modrm && !uses_rsp(p, modrm);
}

/*
 * struct copier - how to copy instructions of one kind; if @can is NULL, all of them can be copied
 */
struct copier {
	bool (*can)(const struct gtp_insn *insn, const u8 *p);
	void (*emit)(const struct copy *c);
	bool branch; /* the copy may begin at any offset, see avoid_load_place() */
};

static const struct copier copier[] = {
	[GTP_INSN_PLAIN] = { .emit = verbatim },
	[GTP_INSN_RIP] = { .emit = verbatim },
	[GTP_INSN_CALL] = { .can = direct_call, .emit = call, .branch = true },
	[GTP_INSN_JMP] = { .emit = jmp, .branch = true },
	[GTP_INSN_JCC] = { .emit = jcc, .branch = true },
	[GTP_INSN_LOOP] = { .emit = loop, .branch = true },
	[GTP_INSN_CALL_REG] = { .can = call_can, .emit = call_reg, .branch = true },
	[GTP_INSN_JMP_REG] = { .emit = jmp_reg, .branch = true },
	[GTP_INSN_RET] = { .can = plain_return, .emit = ret, .branch = true },
	[GTP_INSN_INT3] = { .emit = NULL },
	[GTP_INSN_TRAP] = { .emit = NULL },
	[GTP_INSN_FIXED] = { .emit = NULL },
};

static bool can_copy(const struct gtp_insn *insn, const u8 *p)
{
	const struct copier *k;

	if (insn->kind >= ARRAY_SIZE(copier))
		return false;
	k = &copier[insn->kind];
	return k->emit && (!k->can || k->can(insn, p));
}

bool gtp_copy_can(const struct gtp_region *r)
{
	u32 at = 0;

	for (u32 i = 0; i < r->n; i++) {
		if (!can_copy(&r->insn[i], r->bytes + at))
			return false;
		at += r->insn[i].len;
	}
	return r->n != 0;
}

/*
 * Emit a nop if the copy would begin at an offset that is reserved for fast loads: a fault of the
 * displaced instruction would be handled like a fault of such a load.
 */
static void avoid_load_place(struct x86_buf *b, const struct copy *c)
{
	if (!copier[c->insn->kind].branch && b->len % AX_JIT_LOAD_ALIGN == 0)
		x86_fill_nops(b, 1);
}

/*
 * True if control can reach the end of the copies. It cannot if the last instruction is a call,
 * because its callee returns to the original code.
 */
static bool comes_back(const struct gtp_region *r)
{
	u8 last = r->insn[r->n - 1].kind;

	return r->falls_out && last != GTP_INSN_CALL && last != GTP_INSN_CALL_REG;
}

void gtp_copy_emit(struct x86_buf *b, u64 base, const struct ax_jit_target *w,
		   const struct gtp_region *r, u64 at, u32 *begin)
{
	struct copy c = { .b = b, .base = base, .w = w, .p = r->bytes, .end = at };

	for (u32 i = 0; i < r->n; i++) {
		c.insn = &r->insn[i];
		c.end += c.insn->len;
		avoid_load_place(b, &c);
		if (begin)
			begin[i] = b->len;
		copier[c.insn->kind].emit(&c);
		c.p += c.insn->len;
	}
	if (comes_back(r))
		x86_jmp_far(b, base, at + r->len);
}
