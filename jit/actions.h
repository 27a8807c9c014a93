/* SPDX-License-Identifier: GPL-2.0-only */
/* Compiles a tracepoint's actions as one snippet. */
#ifndef _GTP_ACTIONS_H
#define _GTP_ACTIONS_H

#include "jit/jit_internal.h"

/* jit_actions - emit all actions in order, or set @j->unsuitable if they cannot be one snippet */
void jit_actions(struct ax_jit *j);

#endif /* _GTP_ACTIONS_H */
