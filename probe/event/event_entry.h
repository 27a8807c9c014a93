/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declares the assembly functions that kernel tracepoints call, and the C function that these call.
 */
#ifndef _GTP_EVENT_ENTRY_H
#define _GTP_EVENT_ENTRY_H

struct event_probe;
struct gtp_regs;

/*
 * gtp_event_entry - the function that a tracepoint calls: @probe, then the tracepoint's arguments
 */
void gtp_event_entry(void *probe);

/*
 * gtp_event_open - handle a hit whose condition has not been evaluated; gtp_event_held - handle a
 * hit whose condition is true
 */
void gtp_event_open(void);
void gtp_event_held(void);

/*
 * gtp_event_hit - handle a hit in C; called by gtp_event_open and gtp_event_held, with the
 * registers as they are at __traceiter_EVENT's entry
 */
void gtp_event_hit(struct event_probe *p, struct gtp_regs *regs, u32 held);

#endif /* _GTP_EVENT_ENTRY_H */
