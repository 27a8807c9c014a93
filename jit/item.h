/* SPDX-License-Identifier: GPL-2.0-only */
/* Converts an action of a tracepoint to the form that the compiler reads. */
#ifndef _GTP_JIT_ITEM_H
#define _GTP_JIT_ITEM_H

#include "jit/jit.h"
#include "tracepoint/tracepoint.h"

/* gtp_jit_item - return the item for @a, which points into the expression of @a. Context: any */
struct ax_jit_item gtp_jit_item(const struct gtp_action *a);

#endif /* _GTP_JIT_ITEM_H */
