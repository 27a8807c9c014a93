/* SPDX-License-Identifier: GPL-2.0-only */
/* Find functions with no arguments on the stack, from their prototypes in DWARF. */
#ifndef _RGN_PROTOTYPES_H
#define _RGN_PROTOTYPES_H

#include "tools/regions/text.h"

/*
 * rgn_prototypes_mark - set RGN_FN_WRAP for each C function of @debug that gets all arguments in
 * registers and returns. Doubtful functions are not marked: clones, variadic functions, functions
 * with arguments that the ABI may pass on the stack. Without debug information, no function is
 * marked
 */
void rgn_prototypes_mark(struct rgn_text *text, const struct rgn_image *debug);

#endif /* _RGN_PROTOTYPES_H */
