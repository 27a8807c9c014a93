/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls an event's own function from C; the function makes the event's record. */
#ifndef _GTP_EVENT_RECORD_H
#define _GTP_EVENT_RECORD_H

/*
 * The number of words of arguments that may be on the stack. With BPF, every event must be usable
 * by BPF, which allows at most 12 arguments, none larger than a register; the first five are in
 * registers. Without BPF the kernel states no maximum. Both values are even, so that the stack
 * stays aligned.
 */
#ifdef CONFIG_BPF_EVENTS
#define GTP_EVENT_STACK_WORDS 8
#else
#define GTP_EVENT_STACK_WORDS 16
#endif

#ifndef __ASSEMBLY__
#include "base/regs.h"

/*
 * gtp_event_record - call @probe with @file and the tracepoint's arguments: those in registers as
 * @regs has them, GTP_EVENT_STACK_WORDS words of @stack. Context: a hit
 */
void gtp_event_record(const struct gtp_regs *regs, const u64 *stack, void *probe, void *file);
#endif

#endif /* _GTP_EVENT_RECORD_H */
