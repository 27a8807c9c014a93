/* SPDX-License-Identifier: GPL-2.0-only */
/* Machine code for the fake machine's expressions, as the kernel makes it. */
#ifndef _GTP_FAKE_CODE_H
#define _GTP_FAKE_CODE_H

#include "user/jit/exec_user.h"
#include "session/trace.h"

/*
 * fake_code_on - give later runs of @t machine code, in @arena; all other callbacks stay the same.
 * One arena at a time
 */
void fake_code_on(struct gtp_trace *t, struct jit_user *arena);

enum { FAKE_CODE_ITEMS = 16 };

/* fake_code_items - @tp's actions as the compiler wants them: how many, 0: none, or too many */
u32 fake_code_items(const struct gtp_tracepoint *tp, struct ax_jit_item items[FAKE_CODE_ITEMS]);

/* fake_code_actions - all actions of @tp as one snippet, if they can be: 0 or -EOPNOTSUPP */
int fake_code_actions(struct jit_user *arena, struct gtp_tracepoint *tp, u32 seed);

#endif /* _GTP_FAKE_CODE_H */
