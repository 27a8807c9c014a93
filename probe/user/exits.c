// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses and checks the places at which a program's function ends, as GDB's disassembler has found
 * them.
 */
#include "probe/user/exits.h"

static bool take_kind(struct gtp_in *in, enum gtp_exit_kind *kind)
{
	static const enum gtp_exit_kind kinds[] = {
		GTP_EXIT_RETURN,
		GTP_EXIT_SHARED,
		GTP_EXIT_JUMP,
	};

	for (u32 i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (gtp_in_char(in, (char)kinds[i])) {
			*kind = kinds[i];
			return true;
		}
	}
	return false;
}

u32 gtp_exits_parse(struct gtp_in *in, struct gtp_exit *exits)
{
	struct gtp_exit exit = { 0 };
	u32 n = 0;

	do {
		if (n == GTP_EXITS_MOST || !take_kind(in, &exit.kind) ||
		    !gtp_in_hex64(in, &exit.addr))
			return 0;
		if (exits)
			exits[n] = exit;
		n++;
	} while (gtp_in_char(in, ','));
	return gtp_in_end(in) ? n : 0;
}

static bool is_prefix(u8 byte)
{
	switch (byte) {
	case 0x2e: /* a branch hint of old processors */
	case 0x3e: /* notrack, and the other branch hint */
	case 0x66:
	case 0xf2: /* bnd */
	case 0xf3: /* rep */
		return true;
	default:
		return (byte & 0xf0) == 0x40; /* rex */
	}
}

bool gtp_exits_is(enum gtp_exit_kind kind, const u8 *code, u32 n)
{
	while (n && is_prefix(*code)) {
		code++;
		n--;
	}
	if (!n)
		return false;
	if (kind != GTP_EXIT_JUMP)
		return *code == 0xc3 || *code == 0xc2;
	if (*code == 0xff) /* an indirect jump, through a register or memory */
		return n > 1 && (code[1] & 0x38) == 0x20;
	return *code == 0xe9 || *code == 0xeb;
}
