/* SPDX-License-Identifier: GPL-2.0-only */
/* Divide code into functions: in a kernel by symbols, in a program by symbols and .eh_frame. */
#ifndef _RGN_FUNCTIONS_H
#define _RGN_FUNCTIONS_H

#include "tools/regions/text.h"

/**
 * rgn_functions_init() - divide every span into functions
 * @text: the image, whose spans are set but not decoded yet
 *
 * In a kernel a function extends from one symbol to the next, as in kallsyms. In a program the
 * bounds of a function come from an FDE or a symbol with a size, so stripped programs have
 * functions, too. The code between two such functions becomes a function with RGN_FN_UNBOUND.
 */
void rgn_functions_init(struct rgn_text *text);

#endif /* _RGN_FUNCTIONS_H */
