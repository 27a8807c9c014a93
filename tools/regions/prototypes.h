/* SPDX-License-Identifier: GPL-2.0-only */
/* Find functions that get only the return address from their caller on the stack, from DWARF. */
#ifndef _RGN_PROTOTYPES_H
#define _RGN_PROTOTYPES_H

#include "tools/regions/text.h"

/*
 * rgn_prototypes_mark - mark (RGN_FN_WRAP) the C functions of @debug that get all arguments in
 * registers and return. Uncertain ones are not marked: clones, variadic functions,
 * types that the ABI may put on the stack. Without debug information none is
 */
void rgn_prototypes_mark(struct rgn_text *text, const struct rgn_image *debug);

#endif /* _RGN_PROTOTYPES_H */
