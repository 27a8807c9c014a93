/* SPDX-License-Identifier: GPL-2.0-only */
/* Landing pads of exceptions: places in a program that its unwinder passes control to. */
#ifndef _GTP_LANDING_H
#define _GTP_LANDING_H

#include "regions/text.h"

/*
 * gtp_landing_mark - mark every landing pad that .eh_frame leads to; functions whose table cannot
 * be read get GTP_FN_LANDING
 */
void gtp_landing_mark(struct gtp_text *text);

#endif /* _GTP_LANDING_H */
