/* SPDX-License-Identifier: GPL-2.0-only */
/* Compiles the expressions of the fake machine's tracepoints, as the module does in the kernel. */
#ifndef _GTP_FAKE_CODE_H
#define _GTP_FAKE_CODE_H

#include "user/jit/exec_user.h"
#include "session/trace.h"

/*
 * fake_code_on - let later runs of @t use machine code, in @arena. Other callbacks do not change.
 * There is only one arena at a time, that of the last call.
 */
void fake_code_on(struct gtp_trace *t, struct jit_user *arena);

enum { FAKE_CODE_ITEMS = 16 };

/*
 * fake_code_items - convert @tp's actions to the compiler's form; return their number, 0 if there
 * are none or too many
 */
u32 fake_code_items(const struct gtp_tracepoint *tp, struct ax_jit_item items[FAKE_CODE_ITEMS]);

/*
 * fake_code_actions - compile all actions of @tp as one snippet; return 0, or -EOPNOTSUPP if they
 * cannot be one snippet
 */
int fake_code_actions(struct jit_user *arena, struct gtp_tracepoint *tp, u32 seed);

#endif /* _GTP_FAKE_CODE_H */
