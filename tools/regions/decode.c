// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decode instructions with Zydis, and decide whether the kernel's kprobes, or code that adjusts
 * relative operands, can move an instruction to another address.
 */
#include <Zydis/Zydis.h>
#include "tools/regions/decode.h"

/*
 * The two-byte opcodes (0f xx) for which the kernel's can_boost() returns true, one bit for each.
 * It returns false for all three-byte opcodes; one_byte_boost() lists the one-byte opcodes.
 */
static const u16 two_byte_boost[16] = {
	0x034c, 0x8000, 0x000f, 0x0002, 0xffff, 0x0000, 0xcfff, 0xc0f0,
	0x0000, 0xffff, 0xbb3b, 0xf8ff, 0xff03, 0xbb2e, 0xbb26, 0x772e,
};

static bool one_byte_boost(const ZydisDecodedInstruction *z)
{
	u8 op = z->opcode;

	switch (op) {
	case 0x62: /* bound, evex */
	case 0x9a:
	case 0xc0 ... 0xc1: /* shifts */
	case 0xcc ... 0xce: /* int */
	case 0xd0 ... 0xd3: /* shifts */
	case 0xd6:
	case 0xd8 ... 0xdf: /* x87 */
	case 0xe0 ... 0xe3: /* loop, jcxz */
	case 0xe8 ... 0xe9:
	case 0xeb:
	case 0xf0 ... 0xf4:
	case 0xf6 ... 0xf7: /* test, not, neg, mul, div */
	case 0xfe:
		return false;
	case 0xff:
		return z->raw.modrm.reg == 4; /* of this group, only jmp *x */
	default:
		return op < 0x70 || op > 0x7f;
	}
}

static bool boostable(const ZydisDecodedInstruction *z)
{
	bool legacy = z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
	u32 i;

	/*
	 * The kernel decides by the number of opcode bytes, and counts only one opcode byte after a
	 * VEX or EVEX prefix.
	 */
	if (legacy && z->opcode_map == ZYDIS_OPCODE_MAP_0F)
		return two_byte_boost[z->opcode >> 4] >> (z->opcode & 15) & 1;
	if (legacy && z->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT)
		return false;
	for (i = 0; i < z->raw.prefix_count; i++) {
		if (z->raw.prefixes[i].value == 0x2e || z->raw.prefixes[i].value == 0x67)
			return false;
	}
	return one_byte_boost(z);
}

static u8 kind_two_byte(const ZydisDecodedInstruction *z)
{
	switch (z->opcode) {
	case 0x80 ... 0x8f:
		return RGN_DECODED_JCC;
	case 0x0b:
	case 0xb9:
	case 0xff:
		return RGN_DECODED_UD;
	case 0x1e:
		if (z->mnemonic == ZYDIS_MNEMONIC_ENDBR64 || z->mnemonic == ZYDIS_MNEMONIC_ENDBR32)
			return RGN_DECODED_ENDBR;
		return z->mnemonic == ZYDIS_MNEMONIC_NOP ? RGN_DECODED_NOP : RGN_DECODED_OTHER;
	case 0x1f:
		return RGN_DECODED_NOP;
	default:
		return RGN_DECODED_OTHER;
	}
}

static u8 kind_group5(const ZydisDecodedInstruction *z)
{
	switch (z->raw.modrm.reg) {
	case 2 ... 3:
		return RGN_DECODED_ICALL;
	case 4 ... 5:
		return RGN_DECODED_IJMP;
	default:
		return RGN_DECODED_OTHER;
	}
}

static u8 kind_of(const ZydisDecodedInstruction *z)
{
	if (z->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return RGN_DECODED_OTHER;
	if (z->opcode_map == ZYDIS_OPCODE_MAP_0F)
		return kind_two_byte(z);
	if (z->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT)
		return RGN_DECODED_OTHER;
	switch (z->opcode) {
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		return RGN_DECODED_JCC;
	case 0xe8:
		return RGN_DECODED_CALL;
	case 0xe9:
	case 0xeb:
		return RGN_DECODED_JMP;
	case 0xea:
		return RGN_DECODED_IJMP;
	case 0xff:
		return kind_group5(z);
	case 0xc2 ... 0xc3:
	case 0xca ... 0xcb:
	case 0xcf:
		return RGN_DECODED_RET;
	case 0xcc:
		return RGN_DECODED_INT3;
	case 0x90:
		return z->mnemonic == ZYDIS_MNEMONIC_NOP ? RGN_DECODED_NOP : RGN_DECODED_OTHER;
	default:
		return RGN_DECODED_OTHER;
	}
}

/*
 * False for instructions that must not run at another address: traps, endbr, returns from
 * interrupts and system calls, and instructions that affect the next one (by an interrupt shadow,
 * or as the start of a transaction).
 */
static bool copyable(const ZydisDecodedInstruction *z, u8 kind)
{
	switch (kind) {
	case RGN_DECODED_BAD:
	case RGN_DECODED_INT3:
	case RGN_DECODED_UD:
	case RGN_DECODED_ENDBR:
		return false;
	default:
		break;
	}
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_INT:
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_SYSEXIT:
	case ZYDIS_MNEMONIC_STI:
	case ZYDIS_MNEMONIC_XBEGIN:
	case ZYDIS_MNEMONIC_LSS:
		return false;
	case ZYDIS_MNEMONIC_MOV:
		return z->opcode != 0x8e || z->raw.modrm.reg != 2; /* mov to %ss */
	default:
		return true;
	}
}

/* Collect the operands that may be addresses; the caller checks which of them point to code. */
static void find_refs(struct rgn_decoded *insn, const ZydisDecodedInstruction *z, u64 addr)
{
	insn->rip = z->attributes & ZYDIS_ATTRIB_HAS_MODRM && z->raw.modrm.mod == 0 &&
		    z->raw.modrm.rm == 5;
	if (z->raw.disp.size == 32)
		insn->ref[insn->refs_n++] =
			(u64)z->raw.disp.value + (insn->rip ? addr + z->length : 0);
	if (z->raw.imm[0].size == 32)
		insn->ref[insn->refs_n++] = (u64)(s64)(s32)z->raw.imm[0].value.u;
	else if (z->raw.imm[0].size == 64)
		insn->ref[insn->refs_n++] = z->raw.imm[0].value.u;
}

const ZydisDecoder *rgn_decoder(void)
{
	static ZydisDecoder d;
	static bool ready;

	if (!ready)
		ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ready = true;
	return &d;
}

void rgn_decode(struct rgn_decoded *insn, const u8 *bytes, u64 n, u64 addr)
{
	ZydisDecodedInstruction z;

	memset(insn, 0, sizeof(*insn));
	insn->len = 1;
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(rgn_decoder(), NULL, bytes, n, &z)))
		return;
	insn->len = z.length;
	insn->kind = kind_of(&z);
	insn->copy = copyable(&z, insn->kind);
	insn->boost = boostable(&z);
	if (z.raw.imm[0].is_relative)
		insn->target = addr + z.length + (u64)z.raw.imm[0].value.s;
	else
		find_refs(insn, &z, addr);
}

u32 rgn_decode_text(char *text, size_t size, const u8 *bytes, u64 n, u64 addr)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;
	ZydisFormatter f;

	snprintf(text, size, "(bad)");
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(rgn_decoder(), bytes, n, &z, ops)))
		return 0;
	ZydisFormatterInit(&f, ZYDIS_FORMATTER_STYLE_ATT);
	ZydisFormatterFormatInstruction(&f, &z, ops, z.operand_count_visible, text, size, addr,
					NULL);
	return z.length;
}
