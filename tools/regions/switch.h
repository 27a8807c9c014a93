/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a program's jumps through registers lead: jump tables, proven, and tail calls. */
#ifndef _RGN_SWITCH_H
#define _RGN_SWITCH_H

#include "tools/regions/text.h"

/*
 * rgn_switch_find - mark the targets of all jump tables whose place and size are known, and give
 * RGN_FN_PROVEN to functions in which no jump can lead anywhere else
 *
 * Must come after all other evidence.
 */
void rgn_switch_find(struct rgn_text *text);

#endif /* _RGN_SWITCH_H */
