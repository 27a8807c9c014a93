/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows text on GDB's console: sends it in O packets if GDB accepts them now, otherwise keeps it
 * for later.
 */
#ifndef _GTP_CONSOLE_H
#define _GTP_CONSOLE_H

#include "stub/connection.h"

/*
 * gtp_stub_print - show text on the user's console: now if GDB accepts O packets, otherwise later,
 * before a reply that they may precede
 */
void gtp_stub_print(struct gtp_stub *s, const char *text);

/* gtp_stub_printf - show formatted text, like gtp_stub_print(); 255 characters at most */
__printf(2, 3) void gtp_stub_printf(struct gtp_stub *s, const char *fmt, ...);

/**
 * gtp_stub_progress() - keep GDB waiting during long work
 * @s: the connection whose packet is being handled
 * @what: the work in words, such as "arming tracepoints"
 * @done: the number of steps that are done
 * @total: the number of all steps
 *
 * Sends an O packet if nothing was sent for GTP_KEEP_ALIVE_MS, or, if O packets are not allowed
 * now, a '+' each GTP_NUDGE_MS. Without them GDB would time out.
 */
void gtp_stub_progress(struct gtp_stub *s, const char *what, u32 done, u32 total);

/* gtp_stub_flush_notice - send the text in @notice; call it only when GDB accepts O packets */
void gtp_stub_flush_notice(struct gtp_stub *s);

/* gtp_stub_heard - note that a packet or reply has passed, which delays the next keep-alive */
void gtp_stub_heard(struct gtp_stub *s);

#endif /* _GTP_CONSOLE_H */
