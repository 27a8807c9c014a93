/* SPDX-License-Identifier: GPL-2.0-only */
/* The one trace session in this kernel, and the GDB that is connected to it. */
#ifndef _GTP_HOST_H
#define _GTP_HOST_H

#include "session/trace.h"
#include "stub/stub.h"

/**
 * struct gtp_host - the one trace session of this kernel, and the connection to it
 * @trace: the session, which outlives connections
 * @stub: the connected GDB's stub, or NULL
 * @has_room: returns false while the connected GDB does not read what is queued for it
 *
 * All members are used under gtp_lock.
 */
struct gtp_host {
	struct gtp_trace trace;
	struct gtp_stub *stub;
	bool (*has_room)(struct gtp_stub *stub);
};

extern struct gtp_host gtp_host;

/*
 * gtp_host_lines - hand over waiting lines of dprintfs; if there are more, continue later.
 * Context: process, under gtp_lock
 */
void gtp_host_lines(void);

/*
 * gtp_host_settle - finish a run that a hit has just ended, and report its end to GDB; return true
 * if there was one. Context: process, under gtp_lock
 */
bool gtp_host_settle(void);

/*
 * gtp_host_forget_files - close the files of programs in which there is no tracepoint and no
 * dprintf.
 * Context: process, under gtp_lock
 */
void gtp_host_forget_files(void);

/* gtp_host_init - create the session; return 0 or -errno. Context: module init */
int gtp_host_init(void);

/*
 * gtp_host_stop - stop the run; afterwards no hit and no work of ours is running. gtp_host_exit -
 * free everything. Context: module exit or failed init; no GDB is connected or can connect
 */
void gtp_host_stop(void);
void gtp_host_exit(void);

#endif /* _GTP_HOST_H */
