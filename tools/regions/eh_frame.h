/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read .eh_frame: the bounds of functions, and the landing pads of exceptions. The unwinder enters
 * a function at a landing pad, although no jump leads there.
 */
#ifndef _RGN_EH_FRAME_H
#define _RGN_EH_FRAME_H

#include "tools/regions/fde.h"
#include "tools/regions/text.h"

/*
 * rgn_eh_frame_read - fill @text->fdes with every FDE that can be read. If .eh_frame ends early or
 * has an unknown form, the bounds of some functions are unknown, and no probe in these functions is
 * a jump.
 */
void rgn_eh_frame_read(struct rgn_text *text);

/* rgn_eh_frame_find - return the FDE of the code that starts at an address, or NULL */
const struct rgn_fde *rgn_eh_frame_find(const struct rgn_text *text, u64 start);

/*
 * rgn_eh_frame_mark - mark the landing pads of all FDEs; a function whose exception table cannot be
 * read gets RGN_FN_LANDING
 */
void rgn_eh_frame_mark(struct rgn_text *text);

#endif /* _RGN_EH_FRAME_H */
