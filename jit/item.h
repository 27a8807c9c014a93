/* SPDX-License-Identifier: GPL-2.0-only */
/* An action of a tracepoint as the compiler wants it. */
#ifndef _GTP_JIT_ITEM_H
#define _GTP_JIT_ITEM_H

#include "jit/jit.h"
#include "tracepoint/tracepoint.h"

/* gtp_jit_item - the item; it points into @a's expression. Context: any */
struct ax_jit_item gtp_jit_item(const struct gtp_action *a);

#endif /* _GTP_JIT_ITEM_H */
