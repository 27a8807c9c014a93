/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel tracepoints: what the files of this backend offer each other. Kernel only. */
#ifndef _GTP_EVENT_H
#define _GTP_EVENT_H

#include <linux/trace_events.h>
#include <linux/tracepoint.h>

#include "base/parse.h"
#include "base/why.h"
#include "hit/hit.h"
#include "probe/event_entry.h"

/* struct gtp_event - a tracepoint, and its TRACE_EVENT, NULL: it has none, or none that we know */
struct gtp_event {
	struct tracepoint *tp;
	struct trace_event_call *call;
};

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

/*
 * event_list.c: which tracepoints there are. gtp_events_lock is taken by module notifiers, so
 * nothing that loads a module may run under it. Order: gtp_lock, gtp_events_lock, then the
 * kernel's own (tracepoints_mutex, event_mutex).
 */
extern struct mutex gtp_events_lock;

int gtp_event_list_init(void);
void gtp_event_list_exit(void);

/* gtp_event_is_marker - struct gtp_target_ops' is_marker; takes the lock */
bool gtp_event_is_marker(void *ctx, u64 addr);

/* gtp_event_marker_at - the number of the tracepoint whose marker is there, or -ENOENT */
int gtp_event_marker_at(u64 addr);

/*
 * gtp_event_marker_nth - tracepoint number @n, counted from 0: its marker's address to @addr, its
 * id to @text, its fields behind that, where @extra points to. 0, or -ENOENT behind the last
 */
int gtp_event_marker_nth(u32 n, u64 *addr, char *text, size_t size, const char **extra);

/* gtp_event_find - the tracepoint whose marker is at @addr; false: none; under the lock */
bool gtp_event_find(u64 addr, struct gtp_event *ev);

/* gtp_event_forget - a module goes: its tracepoints are not found any more; under the lock */
void gtp_event_forget(const struct module *mod);

/* gtp_event_marker - the address that GDB knows it by */
u64 gtp_event_marker(const struct tracepoint *tp);

/* gtp_event_id - "system:event" or "raw:name"; length as snprintf() */
int gtp_event_id(const struct gtp_event *ev, char *buf, size_t size);

/* event_format.c */

/* gtp_event_extra - the event's fields as "TYPE NAME; ..." for GDB's list */
void gtp_event_extra(const struct gtp_event *ev, struct gtp_out *out);

/* gtp_event_format - the description of its records (see trace/sdata.h), NULL: no memory */
struct gtp_sdata_format *gtp_event_format(const struct gtp_event *ev, u64 addr);

/* event_data.c */

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

/* gtp_event_data_put - one event less; the last one takes the hook off */
void gtp_event_data_put(void);

/* gtp_event_data_exit - the instance goes; nothing is armed */
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

/* event.c */

/* gtp_event_sdata - struct gtp_target_ops' sdata; @ctx is not used. Context: gtp_lock */
int gtp_event_sdata(void *ctx, struct gtp_location *loc, struct gtp_why *why);

/* gtp_event_take - struct gtp_hit_ops' sdata; @ctx is not used. Context: a hit */
int gtp_event_take(void *ctx, const struct gtp_location *loc, const struct gtp_regs *regs,
		   struct gtp_buffer *buf);

/* event.c: from event_entry.S, in the place of the tracepoint's own function */
struct event_probe;
void gtp_event_hit(struct event_probe *p, struct gtp_regs *regs);

/* event_entry.S */
void gtp_event_entry(void *probe);
void gtp_event_record(const struct gtp_regs *regs, const u64 *stack, void *probe, void *file);

#endif /* _GTP_EVENT_H */
