/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts the instructions that a pad executes, by the processor's trap flag. */
#ifndef _GTP_PAD_STEPS_H
#define _GTP_PAD_STEPS_H

#include "base/base.h"

enum { PAD_TRAP_FLAG = 0x100 }; /* in the flags of a run whose instructions are counted */

/* pad_steps_begin - count from 0 the executed instructions of the @len bytes of code from @from */
void pad_steps_begin(u64 from, u64 len);

/* pad_steps_also - from the next pad_steps_begin() on, count those of other code, too */
void pad_steps_also(u64 from, u64 len);

/* pad_steps - return the number of instructions since pad_steps_begin() */
u32 pad_steps(void);

#endif /* _GTP_PAD_STEPS_H */
