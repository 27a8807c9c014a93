/* SPDX-License-Identifier: GPL-2.0-only */
/* Describes the event of a kernel tracepoint as text: its name and its fields. */
#ifndef _GTP_EVENT_FORMAT_H
#define _GTP_EVENT_FORMAT_H

#include <linux/trace_events.h>
#include <linux/tracepoint.h>

#include "base/parse.h"
#include "trace/sdata.h"

/*
 * struct gtp_event - a tracepoint and its TRACE_EVENT; @call: NULL if there is none, or none was
 * found
 */
struct gtp_event {
	struct tracepoint *tp;
	struct trace_event_call *call;
};

/* gtp_event_id - write "system:event" or "raw:name"; return the length as snprintf() does */
int gtp_event_id(const struct gtp_event *ev, char *buf, size_t size);

/* gtp_event_extra - put the event's fields as "TYPE NAME; ..." for GDB's list of markers */
void gtp_event_extra(const struct gtp_event *ev, struct gtp_out *out);

/*
 * gtp_event_format - return the description of the event's records (see trace/sdata.h); NULL: no
 * memory
 */
struct gtp_sdata_format *gtp_event_format(const struct gtp_event *ev, u64 addr);

#endif /* _GTP_EVENT_FORMAT_H */
