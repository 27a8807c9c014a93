/* SPDX-License-Identifier: GPL-2.0-only */
/* The list of kernel tracepoints. */
#ifndef _GTP_EVENT_LIST_H
#define _GTP_EVENT_LIST_H

#include <linux/mutex.h>

#include "probe/event/event_format.h"

struct module;

/*
 * gtp_events_lock guards the list of modules, and the armed probes. Module notifiers take this
 * lock, so nothing that loads a module may run under it. Lock order: gtp_lock, gtp_events_lock,
 * then tracepoints_mutex and event_mutex of the kernel.
 */
extern struct mutex gtp_events_lock;

int gtp_event_list_init(void);
void gtp_event_list_exit(void);

/* gtp_event_is_marker - implement ->is_marker of struct gtp_target_ops; takes gtp_events_lock */
bool gtp_event_is_marker(void *ctx, u64 addr);

/* gtp_event_marker_at - return the number of the tracepoint whose marker is at @addr, or -ENOENT */
int gtp_event_marker_at(u64 addr);

/*
 * gtp_event_marker_nth - describe tracepoint number @n, counted from 0: store its marker's address
 * in @addr, its id in @text, and after that its fields, to which @extra points. Return 0, or
 * -ENOENT after the last one
 */
int gtp_event_marker_nth(u32 n, u64 *addr, char *text, size_t size, const char **extra);

/*
 * gtp_event_find - find the tracepoint whose marker is at @addr; return false if there is none.
 * Context: under gtp_events_lock
 */
bool gtp_event_find(u64 addr, struct gtp_event *ev);

/* gtp_event_forget - forget the tracepoints of an unloaded module. Context: gtp_events_lock */
void gtp_event_forget(const struct module *mod);

/* gtp_event_marker - return the address of the tracepoint's marker, by which GDB names it */
u64 gtp_event_marker(const struct tracepoint *tp);

#endif /* _GTP_EVENT_LIST_H */
