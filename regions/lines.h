/* SPDX-License-Identifier: GPL-2.0-only */
/* A function's source lines, and what a tracepoint on each of them may use. */
#ifndef _GTP_LINES_H
#define _GTP_LINES_H

#include "regions/text.h"

/**
 * gtp_lines_print() - list a function's lines with their first address and its verdict
 * @text: the analysed image
 * @debug: the file with debug information
 * @f: the function
 * @source: a folder to look for source files in, or NULL
 *
 * Ends the program with a message when there is no debug information for @f.
 */
void gtp_lines_print(const struct gtp_text *text, const struct gtp_image *debug,
		     const struct gtp_function *f, const char *source);

#endif /* _GTP_LINES_H */
