// SPDX-License-Identifier: GPL-2.0-only
/* A separate writer of tables of call frame information, and the memory of a program. */
#include <assert.h>
#include "cfi_case.h"
#include "regions/table.h"

u64 cfi_case_stack[CFI_CASE_WORDS];
u8 cfi_case_code[CFI_CASE_TEXT];

void cfi_case_put32(struct cfi_case_file *f, u32 at, u32 v)
{
	gtp_put_le(f->bytes + at, v, 4);
}

void cfi_case_seal(struct cfi_case_file *f)
{
	cfi_case_put32(f, 8, f->len);
	cfi_case_put32(f, 12, gtp_table_crc(f->bytes + 16, f->len - 16));
}

void cfi_case_make(struct cfi_case_file *f, const struct gtp_cfi_rule *rule, u32 rules,
		   const struct cfi_case_row *row, u32 rows)
{
	u32 first = row[0].offset / CFI_CASE_PAGE,
	    pages = row[rows - 1].offset / CFI_CASE_PAGE - first + 1, i;

	memset(f, 0, sizeof(*f));
	memcpy(f->bytes, "GTPCFI\0\1", 8);
	f->bytes[16] = 20;
	memset(f->bytes + 17, 0xab, 20);
	cfi_case_put32(f, 48, first);
	cfi_case_put32(f, 52, pages);
	cfi_case_put32(f, 56, rows);
	cfi_case_put32(f, 60, rules);
	f->rules_at = 64 + 4 * (pages + 1);
	f->rows_at = f->rules_at + 8 * rules;
	f->len = f->rows_at + 4 * rows;
	assert(f->len <= CFI_CASE_ROOM);
	for (i = 0; i < rules; i++) {
		f->bytes[f->rules_at + 8 * i] = rule[i].kind;
		f->bytes[f->rules_at + 8 * i + 1] = rule[i].bp;
		f->bytes[f->rules_at + 8 * i + 2] = rule[i].bx;
		f->bytes[f->rules_at + 8 * i + 3] = rule[i].more;
		cfi_case_put32(f, f->rules_at + 8 * i + 4, (u32)rule[i].offset);
	}
	for (i = 0; i < rows; i++) {
		cfi_case_put32(f, f->rows_at + 4 * i,
			       row[i].offset % CFI_CASE_PAGE | row[i].rule << 16);
		if (row[i].offset % CFI_CASE_PAGE == 0)
			cfi_case_put32(f, 64 + 4 * (row[i].offset / CFI_CASE_PAGE - first), i);
	}
	cfi_case_put32(f, 64 + 4 * pages, rows);
	cfi_case_seal(f);
}

void cfi_case_clean(void)
{
	memset(cfi_case_stack, 0, sizeof(cfi_case_stack));
	memset(cfi_case_code, 0x90, sizeof(cfi_case_code));
}

int cfi_case_read(void *ctx, void *dst, u64 addr, u32 len)
{
	assert(addr >> 56 == 0);
	memset(dst, 0x5a, len);
	if (addr >= CFI_CASE_STACK && addr - CFI_CASE_STACK <= sizeof(cfi_case_stack) - len)
		memcpy(dst, (const char *)cfi_case_stack + (addr - CFI_CASE_STACK), len);
	else if (addr >= CFI_CASE_LIB && addr - CFI_CASE_LIB <= sizeof(cfi_case_code) - len)
		memcpy(dst, cfi_case_code + (addr - CFI_CASE_LIB), len);
	else
		return -EFAULT;
	return 0;
}

void cfi_case_signal(u32 word, u64 pc, u64 sp, u64 bp, u64 bx)
{
	cfi_case_stack[word + 15] = bp;
	cfi_case_stack[word + 16] = bx;
	cfi_case_stack[word + 20] = sp;
	cfi_case_stack[word + 21] = pc;
}
