// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the module's decoder with Zydis at every byte of all code in the files, and on random
 * bytes.
 *
 * Usage: decoders [--random COUNT] [--seed N] FILE...
 *
 * Zydis must accept every instruction that the decoder accepts, with the same length, kind and
 * relative operands. The decoder may report more flags as read, and fewer as overwritten, than
 * Zydis. Instructions that only Zydis accepts are counted at real instruction boundaries.
 */
#include <err.h>
#include <stdlib.h>
#include <Zydis/Zydis.h>
#include "regions/insn.h"
#include "tools/regions/image.h"

/* Errors are counted; only the first SHOWN are printed. */
enum { SHOWN = 20, MNEMONICS = ZYDIS_MNEMONIC_MAX_VALUE + 1 };

static ZydisDecoder decoder;
static u64 compared, accepted, insns, refused, wrong;
static u64 refused_by[MNEMONICS];

static void complain(const char *what, const u8 *p, u32 n, const char *where, u64 at)
{
	u32 i;

	if (wrong++ >= SHOWN)
		return;
	printf("# %s: %s+%#llx:", what, where, at);
	for (i = 0; i < n && i < GTP_INSN_MAX; i++)
		printf(" %02x", p[i]);
	printf("\n");
}

static bool legacy(const ZydisDecodedInstruction *z, ZydisOpcodeMap map, u8 first, u8 last)
{
	return z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && z->opcode_map == map &&
	       z->opcode >= first && z->opcode <= last;
}

/* True if an instruction cannot be moved: it changes the mode, waits, or delays interrupts. */
static bool fixed(const ZydisDecodedInstruction *z)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_INT:
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_SYSENTER:
	case ZYDIS_MNEMONIC_SYSEXIT:
	case ZYDIS_MNEMONIC_STI:
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_MWAIT:
	case ZYDIS_MNEMONIC_VMLAUNCH:
	case ZYDIS_MNEMONIC_VMRESUME:
	case ZYDIS_MNEMONIC_XBEGIN:
	case ZYDIS_MNEMONIC_XABORT:
	case ZYDIS_MNEMONIC_LSS:
		return true;
	case ZYDIS_MNEMONIC_MOV:
		return legacy(z, ZYDIS_OPCODE_MAP_DEFAULT, 0x8e, 0x8e) && z->raw.modrm.reg == 2;
	default:
		return legacy(z, ZYDIS_OPCODE_MAP_DEFAULT, 0xca, 0xcb);
	}
}

static enum gtp_insn_kind flow_kind(const ZydisDecodedInstruction *z)
{
	switch (z->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		return z->raw.imm[0].is_relative ? GTP_INSN_CALL : GTP_INSN_CALL_REG;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return z->raw.imm[0].is_relative ? GTP_INSN_JMP : GTP_INSN_JMP_REG;
	case ZYDIS_CATEGORY_COND_BR:
		return legacy(z, ZYDIS_OPCODE_MAP_DEFAULT, 0xe0, 0xe3) ? GTP_INSN_LOOP :
									 GTP_INSN_JCC;
	case ZYDIS_CATEGORY_RET:
		return GTP_INSN_RET;
	default:
		return GTP_INSN_PLAIN;
	}
}

static bool rip_operand(const ZydisDecodedInstruction *z)
{
	return z->attributes & ZYDIS_ATTRIB_HAS_MODRM && z->raw.modrm.mod == 0 &&
	       z->raw.modrm.rm == 5 && z->raw.disp.size == 32;
}

static enum gtp_insn_kind kind_of(const ZydisDecodedInstruction *z)
{
	enum gtp_insn_kind kind;

	if (fixed(z))
		return GTP_INSN_FIXED;
	if (z->mnemonic == ZYDIS_MNEMONIC_INT3)
		return GTP_INSN_INT3;
	if (z->mnemonic == ZYDIS_MNEMONIC_UD0 || z->mnemonic == ZYDIS_MNEMONIC_UD1 ||
	    z->mnemonic == ZYDIS_MNEMONIC_UD2)
		return GTP_INSN_TRAP;
	kind = flow_kind(z);
	return kind == GTP_INSN_PLAIN && rip_operand(z) ? GTP_INSN_RIP : kind;
}

static bool flags_right(const ZydisDecodedInstruction *z, const struct gtp_insn *insn)
{
	const ZydisAccessedFlags *f = z->cpu_flags;
	u32 in = f ? f->tested : 0;
	u32 out = f ? f->modified | f->set_0 | f->set_1 | f->undefined : 0;

	return !(in & GTP_FLAGS_ARITH & ~insn->flags_in) && !(insn->flags_out & ~out);
}

static const char *difference(const ZydisDecodedInstruction *z, const struct gtp_insn *insn)
{
	enum gtp_insn_kind kind = kind_of(z);

	if (insn->len != z->length)
		return "another length";
	if (insn->kind != kind)
		return "another kind";
	if (insn->disp_at != (rip_operand(z) ? z->raw.disp.offset : 0))
		return "another displacement";
	if (z->raw.imm[0].is_relative && kind != GTP_INSN_FIXED &&
	    insn->rel != z->raw.imm[0].value.s)
		return "another target";
	if (kind == GTP_INSN_JCC && insn->cond != (z->opcode & 15))
		return "another condition";
	return flags_right(z, insn) ? NULL : "other flags";
}

/* Compare at @p. @real: the code has an instruction there. Return its length by Zydis, or 1. */
static u32 compare(const u8 *p, u32 n, bool real, const char *where, u64 at)
{
	ZydisDecodedInstruction z;
	struct gtp_insn insn;
	bool theirs = ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, p, n, &z));
	bool ours = !gtp_insn_decode(&insn, p, n);
	const char *what = NULL;

	compared++;
	accepted += ours;
	if (ours)
		what = theirs ? difference(&z, &insn) : "Zydis has no instruction there";
	if (what)
		complain(what, p, n, where, at);
	if (real && theirs) {
		insns++;
		refused += !ours;
		refused_by[z.mnemonic] += !ours;
	}
	return theirs ? z.length : 1;
}

static void compare_section(const char *path, const struct rgn_section *s)
{
	u64 at, next = 0;

	for (at = 0; at < s->size; at++) {
		u64 left = s->size - at;
		u32 len = compare(s->bytes + at, left < 32 ? (u32)left : 32, at == next, path, at);

		if (at == next)
			next += len;
	}
}

static void compare_file(const char *path)
{
	struct rgn_image image;
	u32 i;

	rgn_image_open(&image, path, NULL);
	for (i = 1; i < image.sections_n; i++) {
		const struct rgn_section *s = &image.sections[i];

		if (rgn_image_is_code(&image, s) && s->bytes)
			compare_section(path, s);
	}
	rgn_image_close(&image);
}

static u64 random_next(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Make random bytes. Often begin with prefixes or 0f, which are rare among random bytes. */
static void random_bytes(u8 *p, u32 n, u64 *state)
{
	static const u8 firsts[] = { 0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x2e, 0x65, 0x0f, 0x48, 0x41 };
	u32 i, lead = (u32)(random_next(state) % 4);

	for (i = 0; i < n; i++)
		p[i] = (u8)(random_next(state) >> 24);
	for (i = 0; i < lead; i++)
		p[i] = firsts[random_next(state) % ARRAY_SIZE(firsts)];
}

static void compare_random(u64 count, u64 seed)
{
	u64 state = seed * 0x9e3779b97f4a7c15ULL | 1, i;
	u8 bytes[GTP_INSN_MAX + 1];

	for (i = 0; i < count; i++) {
		random_bytes(bytes, sizeof(bytes), &state);
		compare(bytes, (u32)(random_next(&state) % sizeof(bytes)) + 1, false, "random", i);
	}
}

static void print_refused(void)
{
	u32 shown, i, best;

	for (shown = 0; shown < 12; shown++) {
		for (i = 0, best = 0; i < MNEMONICS; i++) {
			if (refused_by[i] > refused_by[best])
				best = i;
		}
		if (!refused_by[best])
			return;
		printf("#   %llu %s\n", refused_by[best], ZydisMnemonicGetString(best));
		refused_by[best] = 0;
	}
}

int main(int argc, char **argv)
{
	u64 count = 0, seed = 1;
	int i;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (i = 1; i + 1 < argc && argv[i][0] == '-'; i += 2) {
		if (!strcmp(argv[i], "--random"))
			count = strtoull(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--seed"))
			seed = strtoull(argv[i + 1], NULL, 0);
		else
			errx(2, "usage: decoders [--random COUNT] [--seed N] FILE...");
	}
	compare_random(count, seed);
	for (; i < argc; i++)
		compare_file(argv[i]);
	printf("# %llu places compared, %llu accepted; %llu instructions, %llu refused\n", compared,
	       accepted, insns, refused);
	print_refused();
	printf("%s - the decoder agrees with Zydis%s\n", wrong || !accepted ? "not ok" : "ok",
	       count ? " on random bytes too" : "");
	return wrong || !accepted;
}
