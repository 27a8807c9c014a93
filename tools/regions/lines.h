/* SPDX-License-Identifier: GPL-2.0-only */
/* List a function's source lines, and whether tracepoints on them can use a jump. */
#ifndef _RGN_LINES_H
#define _RGN_LINES_H

#include "tools/regions/text.h"

/**
 * rgn_lines_print() - list a function's source lines, each with its first address and the verdict
 * about that address
 * @text: the analysed image
 * @debug: the file with debug information
 * @f: the function
 * @source: the folder with the source files, or NULL
 *
 * Exits with a message if there is no debug information for @f.
 */
void rgn_lines_print(const struct rgn_text *text, const struct rgn_image *debug,
		     const struct rgn_function *f, const char *source);

#endif /* _RGN_LINES_H */
