/* SPDX-License-Identifier: GPL-2.0-only */
/* What event_entry.S and those who call it must agree on. */
#ifndef _GTP_EVENT_ENTRY_H
#define _GTP_EVENT_ENTRY_H

/*
 * Arguments of an event that may lie on the stack, a word each. BPF takes no event with more than
 * 12 arguments, nor one that is larger than a register, and every event is offered to BPF; the
 * first five have registers. Without BPF nobody says what the most is. Even, so that the stack
 * stays aligned.
 */
#ifdef CONFIG_BPF_EVENTS
#define GTP_EVENT_STACK_WORDS 8
#else
#define GTP_EVENT_STACK_WORDS 16
#endif

#endif /* _GTP_EVENT_ENTRY_H */
