/* SPDX-License-Identifier: GPL-2.0-only */
/* Where functions begin and end: by symbols, and in a program by .eh_frame. */
#ifndef _RGN_FUNCTIONS_H
#define _RGN_FUNCTIONS_H

#include "tools/regions/text.h"

/**
 * rgn_functions_init() - divide every span into functions
 * @text: has its spans, whose code has not been decoded yet
 *
 * In a kernel a function reaches from one symbol to the next, as in kallsyms. In a program an FDE
 * or a symbol with a size bounds each function; so stripped programs have functions, too. The code
 * between two such functions becomes a function with RGN_FN_UNBOUND.
 */
void rgn_functions_init(struct rgn_text *text);

#endif /* _RGN_FUNCTIONS_H */
