/* SPDX-License-Identifier: GPL-2.0-only */
/* The places at which calls of a program's function end, as GDB's disassembler has found them. */
#ifndef _GTP_EXITS_H
#define _GTP_EXITS_H

#include "base/parse.h"

enum {
	GTP_EXITS_MOST = 512,	 /* of one function */
	GTP_EXITS_ABOVE = 65536, /* bytes at most from the stack pointer to the return address */
};

enum gtp_exit_kind {
	GTP_EXIT_RETURN = 'r', /* an instruction of the function itself that returns */
	GTP_EXIT_SHARED = 's', /* the same of a function to which it jumps, and which others call */
	GTP_EXIT_JUMP = 'j',   /* a jump to code that is not followed */
};

/* struct gtp_exit - one of them; @addr: as it was linked */
struct gtp_exit {
	u64 addr;
	enum gtp_exit_kind kind;
};

/**
 * gtp_exits_parse() - read a list such as r11a9,s1200,j11c0
 * @in: the list, and nothing more
 * @exits: receives them; NULL: only count and check them
 *
 * Return: how many; 0: this is no list of 1 to GTP_EXITS_MOST, and @in is where it is wrong.
 */
u32 gtp_exits_parse(struct gtp_in *in, struct gtp_exit *exits);

enum { GTP_EXIT_BYTES = 8 }; /* of an instruction; more are not looked at */

/**
 * gtp_exits_is() - whether an instruction can be an exit of a kind
 * @kind: the kind
 * @code: the instruction, and perhaps what follows it
 * @n: how many bytes
 *
 * A probe in the middle of an instruction would change it.
 * Return: false if it is surely another one, as in a file that was changed since.
 */
bool gtp_exits_is(enum gtp_exit_kind kind, const u8 *code, u32 n);

#endif /* _GTP_EXITS_H */
