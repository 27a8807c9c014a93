/* SPDX-License-Identifier: GPL-2.0-only */
/* $_sdata: the record that an event's own code makes. */
#ifndef _GTP_EVENT_DATA_H
#define _GTP_EVENT_DATA_H

#include "base/regs.h"
#include "base/why.h"
#include "probe/event/event_format.h"
#include "trace/buffer.h"

/**
 * struct gtp_event_data - how an event's own record is made at a hit
 * @probe: the event's function that makes it
 * @file: the event in our own ftrace instance; that function's first argument
 * @type: what its records begin with
 */
struct gtp_event_data {
	void *probe;
	struct trace_event_file *file;
	u16 type;
};

/**
 * gtp_event_data_get() - make records of an event possible
 * @ev: the event
 * @data: filled in
 * @why: the refusal
 *
 * The first one makes our ftrace instance, which then stays, and hooks its records' export.
 * Context: process, under gtp_events_lock. Return: 0 or -errno.
 */
int gtp_event_data_get(const struct gtp_event *ev, struct gtp_event_data *data,
		       struct gtp_why *why);

/* gtp_event_data_put - one event less; the last call unregisters the export */
void gtp_event_data_put(void);

/* gtp_event_data_exit - remove the instance; nothing is armed */
void gtp_event_data_exit(void);

/**
 * gtp_event_data_take() - the record of this hit into the frame
 * @data: of the event
 * @regs: of the hit
 * @buf: a frame is open
 *
 * Context: a hit, interrupts off. Return: 0, -ENODATA: the kernel made none, or what
 * gtp_buffer_add_static() says.
 */
int gtp_event_data_take(const struct gtp_event_data *data, const struct gtp_regs *regs,
			struct gtp_buffer *buf);

#endif /* _GTP_EVENT_DATA_H */
