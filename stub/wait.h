/* SPDX-License-Identifier: GPL-2.0-only */
/* Ends the wait of GDB's `continue`, and writes the text that says why the run ended. */
#ifndef _GTP_STUB_WAIT_H
#define _GTP_STUB_WAIT_H

#include "stub/connection.h"

/* gtp_wait_describe_run - write "the trace is running", or why it is not; without a newline */
void gtp_wait_describe_run(const struct gtp_trace *t, struct gtp_out *out);

/*
 * gtp_wait_print_failed - print, after @head, how often conditions and actions failed in a run that
 * ignores failures, and the first reason; print nothing if none failed
 */
void gtp_wait_print_failed(struct gtp_stub *s, const char *head);

/*
 * gtp_wait_print_busy - print, after @head, how many hits were missed because the lock for
 * variables was taken; print nothing if there were none
 */
void gtp_wait_print_busy(struct gtp_stub *s, const char *head);

/* gtp_wait_print_clock - print, after @head, the fault that the clock of hits had, if any */
void gtp_wait_print_clock(struct gtp_stub *s, const char *head);

/* gtp_wait_print_lost_stacks - print, after @head, how many stacks had no room or are incomplete */
void gtp_wait_print_lost_stacks(struct gtp_stub *s, const char *head);

/* gtp_wait_print_end - print a line that says how the run has ended, and then its errors */
void gtp_wait_print_end(struct gtp_stub *s);

/* enum gtp_signal - the signals of stop replies */
enum gtp_signal {
	GTP_SIGNAL_INT = 2,  /* ^C */
	GTP_SIGNAL_TRAP = 5, /* the run has ended */
};

/* gtp_wait_stop - end the wait of a continue with a stop reply */
void gtp_wait_stop(struct gtp_stub *s, enum gtp_signal n);

/* gtp_stub_libraries - end a wait because the process has loaded or unloaded libraries */
void gtp_stub_libraries(struct gtp_stub *s);

/* gtp_stub_gone - end a wait, with @why as text, because the process is gone */
void gtp_stub_gone(struct gtp_stub *s, const struct gtp_why *why);

/* gtp_stub_trace_ended - end a wait because the run has ended: gtp_trace_settle() returned true */
void gtp_stub_trace_ended(struct gtp_stub *s);

/* gtp_stub_dprintfs_gone - end a wait for dprintfs if there are no dprintfs any more */
void gtp_stub_dprintfs_gone(struct gtp_stub *s);

#endif /* _GTP_STUB_WAIT_H */
