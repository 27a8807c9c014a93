/* SPDX-License-Identifier: GPL-2.0-only */
/* The wait of a continue: its end, and the text that says why the run ended. */
#ifndef _GTP_STUB_WAIT_H
#define _GTP_STUB_WAIT_H

#include "stub/connection.h"

/* gtp_wait_describe_run - write "the trace is running", or why it is not; without a newline */
void gtp_wait_describe_run(const struct gtp_trace *t, struct gtp_out *out);

/*
 * gtp_wait_print_failed - print how often conditions and actions failed in a run that ignores
 * failures, and the first reason; nothing if none failed
 */
void gtp_wait_print_failed(struct gtp_stub *s, const char *head);

/*
 * gtp_wait_print_busy - print, after @head, the hits that were missed because the variables could
 * not be locked; nothing if there were none
 */
void gtp_wait_print_busy(struct gtp_stub *s, const char *head);

/* gtp_wait_print_clock - print, after @head, the fault of the clock of the run's hits, if any */
void gtp_wait_print_clock(struct gtp_stub *s, const char *head);

/* gtp_wait_print_lost_stacks - print, after @head, how many stacks found no room or are cut */
void gtp_wait_print_lost_stacks(struct gtp_stub *s, const char *head);

/* gtp_wait_print_end - print how the run has ended, in a line, and then its errors */
void gtp_wait_print_end(struct gtp_stub *s);

/* enum gtp_signal - the signals of stop replies */
enum gtp_signal {
	GTP_SIGNAL_INT = 2,  /* ^C */
	GTP_SIGNAL_TRAP = 5, /* the run has ended */
};

/* gtp_wait_stop - end the wait of a continue with a stop reply */
void gtp_wait_stop(struct gtp_stub *s, enum gtp_signal n);

/* gtp_stub_libraries - end a wait, so that GDB looks at the process's libraries, which changed */
void gtp_stub_libraries(struct gtp_stub *s);

/* gtp_stub_gone - end a wait, with @why as text, because the process is gone */
void gtp_stub_gone(struct gtp_stub *s, const struct gtp_why *why);

/* gtp_stub_trace_ended - answer a waiting continue; call when gtp_trace_settle() returns true */
void gtp_stub_trace_ended(struct gtp_stub *s);

/* gtp_stub_dprintfs_gone - end a continue that waits for dprintfs, if no dprintf is left */
void gtp_stub_dprintfs_gone(struct gtp_stub *s);

#endif /* _GTP_STUB_WAIT_H */
