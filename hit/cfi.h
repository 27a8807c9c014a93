/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find callers of a program's functions by call frame information (CFI): a table that gdbtp-unwind
 * makes from the .eh_frame of a file.
 */
#ifndef _GTP_CFI_H
#define _GTP_CFI_H

#include "base/base.h"

/*
 * The table's format. All numbers are little-endian.
 *
 *   0  8 bytes   GTP_CFI_MAGIC
 *   8  u32       size of the table
 *  12  u32       CRC-32 of all bytes from 16 on, as in regions/table.h
 *  16  u8        length of the build-id, then the build-id in 31 bytes, zeros after it
 *  48  u32       number of the first page
 *  52  u32       number of pages
 *  56  u32       number of rows
 *  60  u32       number of rules
 *  64  pages     u32 each, and one more: the number of the page's first row, for the last one the
 *                number of rows
 *  ..  rules     8 bytes each: u8 kind, u8 bp, u8 bx, u8 more, s32 offset; see struct gtp_cfi_rule
 *  ..  rows      4 bytes each: u16 the lower half of an offset in the file, u16 number of a rule
 *
 * A page is 64 KiB of the file. A row's rule holds from the row's offset up to the next row. Each
 * page has a row for its first byte, so that a look-up needs the rows of one page only.
 */
#define GTP_CFI_MAGIC "GTPCFI\0\1"

enum {
	GTP_CFI_HEAD = 64,
	GTP_CFI_RULE = 8,
	GTP_CFI_ROW = 4,
	GTP_CFI_ID = 31,
	GTP_CFI_PAGE_SHIFT = 16,
	GTP_CFI_PAGES = 1 << 16,  /* most pages: offsets in a file have 32 bits */
	GTP_CFI_RULES = 1 << 16,  /* most rules */
	GTP_CFI_BYTES = 64 << 20, /* most bytes of a table */
};

/*
 * enum gtp_cfi_kind - where the CFA is: the value of rsp after the function has returned, so that
 * the return address is in the word below it
 */
enum gtp_cfi_kind {
	GTP_CFI_NONE,	 /* the file does not say it: no function is here */
	GTP_CFI_END,	 /* no caller: a thread begins here */
	GTP_CFI_UNKNOWN, /* in a way that the table cannot express */
	GTP_CFI_SP,	 /* rsp + @offset */
	GTP_CFI_BP,	 /* rbp + @offset */
	GTP_CFI_BX,	 /* rbx + @offset */
	GTP_CFI_AT_SP,	 /* the word at rsp + @offset, plus @more words */
	GTP_CFI_AT_BP,	 /* the word at rbp + @offset, plus @more words */
	GTP_CFI_PLT,	 /* rsp + 8, or + 16 in the last bytes of an entry of 16: from @offset on */
	GTP_CFI_SIGNAL,	 /* a signal handler returns here: all registers are at rsp */
	GTP_CFI_KINDS,
};

enum {
	GTP_CFI_SAME = 0,   /* the register has still the caller's value */
	GTP_CFI_LOST = 255, /* the caller's value of the register is not known */
};

/**
 * struct gtp_cfi_rule - how to find the caller
 * @kind: enum gtp_cfi_kind
 * @bp: where the caller's rbp is: this many words below the CFA, GTP_CFI_SAME or GTP_CFI_LOST. For
 *	GTP_CFI_AT_BP, whose frame lies at rbp, it is this many words below rbp + 8
 * @bx: the same for rbx
 * @more: a number of words, see enum gtp_cfi_kind
 * @offset: a number of bytes, see enum gtp_cfi_kind
 */
struct gtp_cfi_rule {
	u8 kind;
	u8 bp, bx;
	u8 more;
	s32 offset;
};

/**
 * struct gtp_cfi - a table that gtp_cfi_open() has checked; the caller owns @bytes
 * @known: the rules for some offsets, see gtp_cfi_remember(); NULL: none are remembered
 * @known_bits: the number of entries in @known is 1 << @known_bits
 */
struct gtp_cfi {
	const u8 *bytes;
	const u8 *rules;
	const u8 *rows;
	u64 *known;
	u32 known_bits;
	u32 size;
	u32 first_page;
	u32 pages_n;
	u32 rows_n;
	u32 rules_n;
};

/**
 * gtp_cfi_open() - check a whole table
 * @t: receives the table, which is valid as long as @bytes; undefined on error
 * @bytes: the table
 * @size: the size of the table
 * @why: on an error, receives a description of the fault
 *
 * Checks everything once, so that look-ups need no checks. Context: any; time is linear in @size.
 *
 * Return: 0, or -EINVAL.
 */
int gtp_cfi_open(struct gtp_cfi *t, const void *bytes, size_t size, const char **why);

/* gtp_cfi_build_id - find the build-id of the file that the table describes; return its length */
u32 gtp_cfi_build_id(const struct gtp_cfi *t, const u8 **id);

/*
 * gtp_cfi_known_bits - return how many entries gtp_cfi_remember() should have: 1 << the result, of
 * 8 bytes each
 */
u32 gtp_cfi_known_bits(const struct gtp_cfi *t);

/*
 * gtp_cfi_remember - let look-ups remember the offsets that they have found, in 1 << @bits zeroed
 * words, which the caller owns
 */
void gtp_cfi_remember(struct gtp_cfi *t, u64 *known, u32 bits);

/*
 * gtp_cfi_find - return the rule for an offset in the file. Context: any, also concurrently: an
 * entry of @known is read and written as one word.
 */
struct gtp_cfi_rule gtp_cfi_find(const struct gtp_cfi *t, u64 offset);

/* enum gtp_cfi_known - which registers of struct gtp_cfi_regs are not known */
enum gtp_cfi_lost {
	GTP_CFI_BP_LOST = 1,
	GTP_CFI_BX_LOST = 2,
};

/**
 * struct gtp_cfi_regs - the registers of a function
 * @lost: a bit for each register that is not known
 * @is_return: true if @pc is a return address: the call before it belongs to the function, while
 *	the instruction at @pc may belong to the next one
 */
struct gtp_cfi_regs {
	u64 pc, sp, bp, bx;
	u8 lost;
	bool is_return;
};

/* enum gtp_cfi_step - the result of a step to the caller */
enum gtp_cfi_step {
	GTP_CFI_CALLER, /* the registers are the caller's */
	GTP_CFI_OUTERMOST,
	GTP_CFI_NOWHERE, /* the caller is not known */
};

/* struct gtp_cfi_memory - @read copies the program's memory; returns 0 or -EFAULT */
struct gtp_cfi_memory {
	int (*read)(void *ctx, void *dst, u64 addr, u32 len);
	void *ctx;
};

/**
 * gtp_cfi_step() - go from a function to its caller
 * @rule: the function's rule at its pc; its kind is not GTP_CFI_NONE
 * @regs: the function's registers; receives the caller's
 * @memory: reads the program's memory
 *
 * The caller's frame must be above the function's, except where a signal was handled on another
 * stack. The caller of this function checks the new pc.
 */
enum gtp_cfi_step gtp_cfi_step(const struct gtp_cfi_rule *rule, struct gtp_cfi_regs *regs,
			       const struct gtp_cfi_memory *memory);

enum { GTP_CFI_SIGNAL_BYTES = 176 }; /* bytes of the stack that gtp_cfi_after_signal() looks at */

/*
 * gtp_cfi_after_signal - go from the place to which a signal handler returns to the place that the
 * signal has interrupted, where all registers are known
 */
enum gtp_cfi_step gtp_cfi_after_signal(struct gtp_cfi_regs *regs,
				       const struct gtp_cfi_memory *memory);

#endif /* _GTP_CFI_H */
