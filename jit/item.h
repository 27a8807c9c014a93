/* SPDX-License-Identifier: GPL-2.0-only */
/* Convert an action of a tracepoint for the compiler. */
#ifndef _GTP_JIT_ITEM_H
#define _GTP_JIT_ITEM_H

#include "jit/jit.h"
#include "tracepoint/tracepoint.h"

/* gtp_jit_item - return the compiler's item for @a; it points into @a's expression. Context: any */
struct ax_jit_item gtp_jit_item(const struct gtp_action *a);

#endif /* _GTP_JIT_ITEM_H */
