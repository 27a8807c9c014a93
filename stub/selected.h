/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the trace frame that GDB has selected with QTFrame. */
#ifndef _GTP_SELECTED_H
#define _GTP_SELECTED_H

#include "stub/connection.h"

/* gtp_selected_frame - return the selected frame; NULL if there is none, or if it was dropped */
const struct gtp_frame *gtp_selected_frame(struct gtp_stub *s);

#endif /* _GTP_SELECTED_H */
