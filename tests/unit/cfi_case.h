/* SPDX-License-Identifier: GPL-2.0-only */
/* A separate writer of tables of call frame information, made from the description in hit/cfi.h. */
#ifndef _GTP_CFI_CASE_H
#define _GTP_CFI_CASE_H

#include "hit/cfi.h"

enum { CFI_CASE_ROOM = 65536, CFI_CASE_PAGE = 65536, CFI_CASE_WORDS = 1024, CFI_CASE_TEXT = 4096 };

struct cfi_case_file {
	u8 bytes[CFI_CASE_ROOM];
	u32 len;
	u32 rules_at, rows_at;
};

struct cfi_case_row {
	u32 offset;
	u32 rule;
};

void cfi_case_put32(struct cfi_case_file *f, u32 at, u32 v);

/* cfi_case_seal - write the size and the checksum */
void cfi_case_seal(struct cfi_case_file *f);

/* cfi_case_make - make a table of whole pages from rows in order; each page begins with a row */
void cfi_case_make(struct cfi_case_file *f, const struct gtp_cfi_rule *rule, u32 rules,
		   const struct cfi_case_row *row, u32 rows);

/* --- a program's memory: its stack, and the code of a library --- */

static const u64 CFI_CASE_STACK = 0x7ffc00001000, CFI_CASE_LIB = 0x7f0000000000;
static const u64 CFI_CASE_KERNEL = 0xffff888000001000;
extern u64 cfi_case_stack[CFI_CASE_WORDS];
extern u8 cfi_case_code[CFI_CASE_TEXT];

/* cfi_case_at - return the address of a word of the stack */
static inline u64 cfi_case_at(u32 word)
{
	return CFI_CASE_STACK + word * sizeof(u64);
}

/* cfi_case_clean - fill the memory with zeros and nops */
void cfi_case_clean(void);

/*
 * cfi_case_read - read the memory; fail for all other addresses, and abort for kernel addresses
 */
int cfi_case_read(void *ctx, void *dst, u64 addr, u32 len);

/* cfi_case_signal - put the registers that a signal has interrupted onto the stack */
void cfi_case_signal(u32 word, u64 pc, u64 sp, u64 bp, u64 bx);

#endif /* _GTP_CFI_CASE_H */
