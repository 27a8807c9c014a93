/* SPDX-License-Identifier: GPL-2.0-only */
/* For test_unwind.c: in place of the kernel's unwinder, a fake one that the test controls. */
#ifndef _TEST_ASM_UNWIND_H
#define _TEST_ASM_UNWIND_H

#include "base/base.h"

#define BUILD_BUG_ON(condition) _Static_assert(!(condition), #condition)
#define min(a, b) ((a) < (b) ? (a) : (b))
#define min_t(type, a, b) min((type)(a), (type)(b))

struct stack_info {
	u64 *begin, *end;
};

struct unwind_state {
	struct stack_info stack_info;
	u32 at;
};

void unwind_start(struct unwind_state *state, void *task, struct pt_regs *regs, void *first_frame);
bool unwind_next_frame(struct unwind_state *state);
bool unwind_done(struct unwind_state *state);
bool unwind_error(struct unwind_state *state);
unsigned long unwind_get_return_address(struct unwind_state *state);
struct pt_regs *unwind_get_entry_regs(struct unwind_state *state, bool *partial);
bool on_stack(struct stack_info *info, void *addr, size_t len);

#endif /* _TEST_ASM_UNWIND_H */
