/* SPDX-License-Identifier: GPL-2.0-only */
/* Find functions with no arguments on the stack, from their prototypes in DWARF. */
#ifndef _RGN_PROTOTYPES_H
#define _RGN_PROTOTYPES_H

#include "tools/regions/text.h"

/*
 * rgn_prototypes_mark - mark the C functions of @debug that get all arguments in registers and
 * return, with RGN_FN_WRAP. Doubtful functions are not marked: clones, variadic functions,
 * arguments that the ABI may pass on the stack. Without debug information no function is marked
 */
void rgn_prototypes_mark(struct rgn_text *text, const struct rgn_image *debug);

#endif /* _RGN_PROTOTYPES_H */
