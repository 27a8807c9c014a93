/* SPDX-License-Identifier: GPL-2.0-only */
/* The wait of a continue: how it ends, and the words on why the run did. */
#ifndef _GTP_STUB_WAIT_H
#define _GTP_STUB_WAIT_H

#include "stub/connection.h"

/* gtp_wait_describe_run - "the trace is running", or why it does not; no newline */
void gtp_wait_describe_run(const struct gtp_trace *t, struct gtp_out *out);

/*
 * gtp_wait_print_failed - how often conditions and actions failed in a run that goes on then, and
 * why the first did; nothing when none did
 */
void gtp_wait_print_failed(struct gtp_stub *s, const char *head);

/*
 * gtp_wait_print_busy - behind @head: hits that were missed because a variable could not be locked;
 * nothing when none were
 */
void gtp_wait_print_busy(struct gtp_stub *s, const char *head);

/* gtp_wait_print_lost_stacks - behind @head: hits whose stack found no room or is cut, if any */
void gtp_wait_print_lost_stacks(struct gtp_stub *s, const char *head);

/* gtp_wait_print_end - what gtp_wait_describe_run() says, as a line on the console, and errors */
void gtp_wait_print_end(struct gtp_stub *s);

/* gtp_wait_end - the wait for a stop is over: sends "S05" (the run ended) or "S02" (^C) */
void gtp_wait_end(struct gtp_stub *s, const char *reply);

/* gtp_stub_trace_ended - call after gtp_trace_settle() said true: answers a waiting continue */
void gtp_stub_trace_ended(struct gtp_stub *s);

/* gtp_stub_dprintfs_gone - call after dprintfs went without GDB: what waits for them has an end */
void gtp_stub_dprintfs_gone(struct gtp_stub *s);

#endif /* _GTP_STUB_WAIT_H */
