/* SPDX-License-Identifier: GPL-2.0-only */
/* Landing pads of exceptions: the unwinder enters a function there, and no jump leads to them. */
#ifndef _RGN_EH_FRAME_H
#define _RGN_EH_FRAME_H

#include "tools/regions/text.h"

/*
 * rgn_eh_frame_mark - mark every landing pad that .eh_frame leads to; a function whose exception
 * table cannot be read gets RGN_FN_LANDING
 */
void rgn_eh_frame_mark(struct rgn_text *text);

#endif /* _RGN_EH_FRAME_H */
