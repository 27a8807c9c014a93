/* SPDX-License-Identifier: GPL-2.0-only */
/* An assembler for agent expressions: reads the text that ax_disasm() writes, and labels. */
#ifndef _GTP_AXASM_H
#define _GTP_AXASM_H

#include "agentexpr/ax.h"

/**
 * axasm() - assemble a text
 * @text: instructions as ax_disasm() prints them, separated by ';' or newlines; '#' begins a
 *	comment
 * @code: receives the bytes
 * @size: the size of @code
 * @why: receives the error and its place
 * @why_size: bytes of @why
 *
 * Numbers are decimal, hexadecimal with 0x, or negative (two's complement in the operand's width).
 * "L1:" before an instruction is a label, and "if_goto L1" jumps there, forwards or backwards (the
 * verifier refuses backward jumps, the assembler does not). The text of printf 2 "%d %x" gets a NUL
 * unless "no_nul" follows. In this text, a newline, a tab, a backslash and a quote are written as
 * in C, and other bytes as \xHH. "byte N" emits the byte N, even if it is not an opcode.
 *
 * Return: the number of bytes; or -1, and @why describes the error.
 */
int axasm(const char *text, u8 *code, u32 size, char *why, size_t why_size);

/**
 * axasm_listing() - disassemble as many instructions as can be decoded, one in each line
 * @code: the bytes
 * @len: the number of bytes
 * @err: NULL, or an error, which is shown with a ^ in the line after its instruction
 * @out: receives the listing
 */
void axasm_listing(const u8 *code, u32 len, const struct ax_error *err, FILE *out);

/*
 * axasm_hex - convert hex digits to bytes, skipping blanks between bytes; return their number, or
 * -1
 */
int axasm_hex(const char *hex, u8 *bytes, u32 size);

#endif /* _GTP_AXASM_H */
