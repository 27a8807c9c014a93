/* SPDX-License-Identifier: GPL-2.0-only */
/* Print the analysis of one address or one function. */
#ifndef _RGN_EXPLAIN_H
#define _RGN_EXPLAIN_H

#include "tools/regions/verdict.h"

/**
 * rgn_explain_place() - return the address of a place that the user has named
 * @text: the analysed image
 * @where: FUNCTION, FUNCTION+OFFSET or a number
 * @slide: the distance of the running code from the addresses in the file; if @where is a number,
 *	this is subtracted from it
 *
 * Exits with a message if no place or more than one place has this name.
 */
u64 rgn_explain_place(const struct rgn_text *text, const char *where, u64 slide);

/*
 * rgn_explain_slide - parse "NAME=ADDRESS", where the symbol or section NAME is at ADDRESS in the
 * running code; return the slide
 */
u64 rgn_explain_slide(const struct rgn_text *text, const char *what);

/*
 * rgn_explain_address - print the verdict about an address, its reason and evidence, the
 * instructions, and the result of the kernel's rule
 */
void rgn_explain_address(const struct rgn_text *text, u64 addr);

/*
 * rgn_explain_deny - print every address at which some kernel allows an optimised kprobe although
 * control may arrive inside the bytes that the jump would replace
 */
void rgn_explain_deny(const struct rgn_text *text);

/*
 * rgn_explain_dump - print a line for every instruction of @only, or of all functions if @only is
 * NULL: the address, the function, the number of displaced bytes, our verdict, the kernel's verdict
 * and the leader bits
 */
void rgn_explain_dump(const struct rgn_text *text, const struct rgn_function *only);

/* rgn_explain_name - write "function+0x24" for an address of code; return @buf */
const char *rgn_explain_name(const struct rgn_text *text, u64 addr, char *buf, size_t size);

#endif /* _RGN_EXPLAIN_H */
