/* SPDX-License-Identifier: GPL-2.0-only */
/* Find the depth of the stack at an instruction, from the CFA program of the function. */
#ifndef _RGN_CFA_H
#define _RGN_CFA_H

#include "tools/regions/eh_frame.h"

/*
 * rgn_cfa_is_entry - true if at @addr only the return address is on the stack, as at a function's
 * entry; false also if the CFA program has an unknown form
 */
bool rgn_cfa_is_entry(const struct rgn_fde *fde, u64 addr);

#endif /* _RGN_CFA_H */
