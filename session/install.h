/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Handles tracepoints that are defined during a run: each is armed as soon as its definition is
 * complete.
 */
#ifndef _GTP_INSTALL_H
#define _GTP_INSTALL_H

#include "session/trace.h"

/*
 * A definition is a QTDP packet and its continuations. Each packet except the last says that
 * another one follows. But GDB may say so and send none, so any other packet also completes the
 * definition.
 */

/**
 * gtp_install_define() - handle a QTDP packet without its "QTDP:"
 * @t: the session, running or not
 * @text: the packet, in the format of gtp_tracepoint_define()
 * @why: the refusal
 *
 * Defining an existing tracepoint again is not an error: GDB repeats all definitions when it loads
 * symbols during a run.
 * Context: may sleep, under the caller's lock.
 * Return: 0, or the error of gtp_tracepoint_define() or gtp_trace_install().
 */
int gtp_install_define(struct gtp_trace *t, const char *text, struct gtp_why *why);

/*
 * gtp_install_actions - handle a QTDP continuation without its "QTDP:-", like gtp_install_define()
 */
int gtp_install_actions(struct gtp_trace *t, const char *text, struct gtp_why *why);

/**
 * gtp_install_before_packet() - complete the pending definition unless a packet continues it
 * @t: the session
 * @data: the packet that GDB has sent next
 * @len: the length of that packet
 * @why: the refusal
 *
 * Context: may sleep, under the caller's lock.
 * Return: 0, or the error of gtp_trace_install(), which then has removed the tracepoint.
 */
int gtp_install_before_packet(struct gtp_trace *t, const char *data, u32 len, struct gtp_why *why);

/*
 * gtp_install_finish - complete the pending definition, if there is one; return 0, or the error of
 * gtp_trace_install()
 */
int gtp_install_finish(struct gtp_trace *t, struct gtp_why *why);

#endif /* _GTP_INSTALL_H */
