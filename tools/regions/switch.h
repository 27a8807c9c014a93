/* SPDX-License-Identifier: GPL-2.0-only */
/* Find and prove the targets of a program's jumps through registers: jump tables and tail calls. */
#ifndef _RGN_SWITCH_H
#define _RGN_SWITCH_H

#include "tools/regions/text.h"

/*
 * rgn_switch_find - mark the targets of all jump tables whose place and size are known, and set
 * RGN_FN_PROVEN for functions in which no jump has other targets
 *
 * Call this function after all other evidence was collected.
 */
void rgn_switch_find(struct rgn_text *text);

#endif /* _RGN_SWITCH_H */
