/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read .eh_frame: the bounds of functions, and the landing pads of exceptions. The unwinder enters
 * a function at a landing pad, although no jump leads there.
 */
#ifndef _RGN_EH_FRAME_H
#define _RGN_EH_FRAME_H

#include "tools/regions/reader.h"
#include "tools/regions/text.h"

/**
 * struct rgn_fde - an FDE: the description of one piece of code
 * @start: the first address of the code
 * @size: the number of bytes of the code, never 0
 * @lsda: the address of the code's exception table, or 0
 * @signal: true for a signal trampoline, which returns to interrupted code; its FDE begins one byte
 *	early
 * @code_align: the factor for code distances in the two CFA programs
 * @data_align: the factor for stack offsets in the two CFA programs
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
	struct rgn_reader common;
	struct rgn_reader own;
};

/*
 * rgn_eh_frame_read - fill @text->fdes with every FDE that can be read. If .eh_frame ends early or
 * has an unknown form, the bounds of some functions are unknown, and no probe in these functions is
 * a jump.
 */
void rgn_eh_frame_read(struct rgn_text *text);

/* rgn_eh_frame_find - return the FDE of the code that starts at an address, or NULL */
const struct rgn_fde *rgn_eh_frame_find(const struct rgn_text *text, u64 start);

/*
 * rgn_eh_frame_mark - mark the landing pads of all FDEs; a function whose exception table cannot be
 * read gets RGN_FN_LANDING
 */
void rgn_eh_frame_mark(struct rgn_text *text);

#endif /* _RGN_EH_FRAME_H */
