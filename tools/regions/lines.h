/* SPDX-License-Identifier: GPL-2.0-only */
/* A function's source lines, and what a tracepoint on each of them may use. */
#ifndef _RGN_LINES_H
#define _RGN_LINES_H

#include "tools/regions/text.h"

/**
 * rgn_lines_print() - list a function's lines with their first address and its verdict
 * @text: the analysed image
 * @debug: the file with debug information
 * @f: the function
 * @source: a folder to look for source files in, or NULL
 *
 * Ends the program with a message when there is no debug information for @f.
 */
void rgn_lines_print(const struct rgn_text *text, const struct rgn_image *debug,
		     const struct rgn_function *f, const char *source);

#endif /* _RGN_LINES_H */
