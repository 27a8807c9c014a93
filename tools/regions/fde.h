/* SPDX-License-Identifier: GPL-2.0-only */
/* Read the FDEs of .eh_frame: the bounds of functions, and their CFA programs. */
#ifndef _RGN_FDE_H
#define _RGN_FDE_H

#include "tools/regions/reader.h"

/**
 * struct rgn_fde - an FDE: the description of one piece of code
 * @start: the first address of the code
 * @size: the number of bytes of the code, never 0
 * @lsda: the address of the code's exception table, or 0
 * @signal: true for a signal trampoline, which returns to interrupted code; its FDE begins one byte
 *	early
 * @code_align: the factor for code distances in the two CFA programs
 * @data_align: the factor for stack offsets in the two CFA programs
 * @ra: DWARF's number of the register that stands for the return address
 * @common: the CFA program of the CIE, which runs before @own
 * @own: the CFA program of this code
 */
struct rgn_fde {
	u64 start;
	u64 size;
	u64 lsda;
	bool signal;
	u64 code_align;
	s64 data_align;
	u64 ra;
	struct rgn_reader common;
	struct rgn_reader own;
};

/* struct rgn_data - the contents of a section, and its address */
struct rgn_data {
	const u8 *bytes;
	u64 size;
	u64 addr;
};

/*
 * struct rgn_place - a reader, and the data that it reads, because pointers may be relative to
 * their own address
 */
struct rgn_place {
	struct rgn_reader in;
	const struct rgn_data *data;
};

/* rgn_fde_place - return a reader from an offset of the data on */
struct rgn_place rgn_fde_place(const struct rgn_data *data, u64 offset);

/*
 * rgn_fde_pointer - return a pointer in one of the DW_EH_PE_* encodings; a stored 0 means no
 * pointer and stays 0
 */
u64 rgn_fde_pointer(struct rgn_place *at, u8 encoding);

/*
 * rgn_fde_each - call @each for every FDE of .eh_frame that can be read, in the order in
 * which they are there
 */
void rgn_fde_each(const struct rgn_data *data, void (*each)(void *ctx, const struct rgn_fde *fde),
		  void *ctx);

#endif /* _RGN_FDE_H */
