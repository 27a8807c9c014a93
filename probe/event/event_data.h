/* SPDX-License-Identifier: GPL-2.0-only */
/* Gets $_sdata, the record that an event's own function makes. */
#ifndef _GTP_EVENT_DATA_H
#define _GTP_EVENT_DATA_H

#include "base/regs.h"
#include "base/why.h"
#include "probe/event/event_format.h"
#include "trace/buffer.h"

/**
 * struct gtp_event_data - how an event's own record is made at a hit
 * @probe: the event's function that makes the record
 * @file: the event in our own ftrace instance; the first argument of @probe
 * @type: the event's number, with which its records begin
 */
struct gtp_event_data {
	void *probe;
	struct trace_event_file *file;
	u16 type;
};

/**
 * gtp_event_data_get() - prepare for records of an event
 * @ev: the event
 * @data: filled in
 * @why: the refusal
 *
 * The first call creates our ftrace instance, which then stays, and registers an export for
 * records.
 * Context: process, under gtp_events_lock. Return: 0 or -errno.
 */
int gtp_event_data_get(const struct gtp_event *ev, struct gtp_event_data *data,
		       struct gtp_why *why);

/* gtp_event_data_put - undo one gtp_event_data_get(); the last call unregisters the export */
void gtp_event_data_put(void);

/* gtp_event_data_exit - remove our ftrace instance; no probe may be armed */
void gtp_event_data_exit(void);

/**
 * gtp_event_data_take() - put the record of this hit into the frame
 * @data: filled in by gtp_event_data_get()
 * @regs: the registers at the hit
 * @buf: the buffer, which has an open frame
 *
 * Context: a hit, interrupts off. Return: 0; -ENODATA if the kernel made no record; or the error of
 * gtp_buffer_add_static().
 */
int gtp_event_data_take(const struct gtp_event_data *data, const struct gtp_regs *regs,
			struct gtp_buffer *buf);

#endif /* _GTP_EVENT_DATA_H */
