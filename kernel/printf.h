/* SPDX-License-Identifier: GPL-2.0-only */
/* Hands the text of printf from all CPUs to GDB's console. */
#ifndef _GTP_PRINTF_H
#define _GTP_PRINTF_H

#include "session/trace.h"
#include "stub/stub.h"

/**
 * gtp_printf_drain() - hand the waiting text of all CPUs to GDB
 * @t: the session
 * @stub: the connection to GDB
 * @has_room: false while GDB does not read what is queued for it
 *
 * Without a GDB the text waits; when a CPU's ring is full, further text is dropped.
 * Context: process, gtp_lock. Return: true if GDB must read first, and another call is needed for
 * the rest.
 */
bool gtp_printf_drain(struct gtp_trace *t, struct gtp_stub *stub,
		      bool (*has_room)(struct gtp_stub *stub));

#endif /* _GTP_PRINTF_H */
