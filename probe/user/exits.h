/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parses and checks the places at which a program's function ends, as GDB's disassembler has found
 * them.
 */
#ifndef _GTP_EXITS_H
#define _GTP_EXITS_H

#include "base/parse.h"

enum {
	GTP_EXITS_MOST = 512,	 /* most exits of one function */
	GTP_EXITS_ABOVE = 65536, /* most bytes from the stack pointer up to the return address */
};

enum gtp_exit_kind {
	GTP_EXIT_RETURN = 'r', /* a return in the function itself */
	GTP_EXIT_SHARED = 's', /* a return in a function that it jumps to, and that others call */
	GTP_EXIT_JUMP = 'j',   /* a jump to code that is not followed */
};

/* struct gtp_exit - an exit of a function; @addr: its link-time address */
struct gtp_exit {
	u64 addr;
	enum gtp_exit_kind kind;
};

/**
 * gtp_exits_parse() - read a list such as r11a9,s1200,j11c0
 * @in: the text of the list, with nothing after it
 * @exits: receives the exits; NULL: only count and check them
 *
 * Return: the number of exits; 0 if @in is not a list of 1 to GTP_EXITS_MOST exits: then @in is at
 * the first wrong character.
 */
u32 gtp_exits_parse(struct gtp_in *in, struct gtp_exit *exits);

enum { GTP_EXIT_BYTES = 8 }; /* an exit is recognized by this many bytes at most */

/**
 * gtp_exits_is() - true if an instruction can be an exit of the given kind
 * @kind: the kind of exit
 * @code: the bytes of the instruction, and perhaps of what follows it
 * @n: the number of bytes at @code
 *
 * The check keeps probes out of the middle of an instruction, which they would corrupt.
 * Return: false if the instruction is certainly not such an exit, for example because the file was
 * changed since GDB read it.
 */
bool gtp_exits_is(enum gtp_exit_kind kind, const u8 *code, u32 n);

#endif /* _GTP_EXITS_H */
