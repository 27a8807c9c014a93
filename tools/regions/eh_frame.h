/* SPDX-License-Identifier: GPL-2.0-only */
/* Landing pads of exceptions: places in a program that its unwinder passes control to. */
#ifndef _RGN_EH_FRAME_H
#define _RGN_EH_FRAME_H

#include "tools/regions/text.h"

/*
 * rgn_eh_frame_mark - mark every landing pad that .eh_frame leads to; functions whose table cannot
 * be read get RGN_FN_LANDING
 */
void rgn_eh_frame_mark(struct rgn_text *text);

#endif /* _RGN_EH_FRAME_H */
