/* SPDX-License-Identifier: GPL-2.0-only */
/* A client that talks to the module in the place of GDB. */
#ifndef _RUN_CLIENT_H
#define _RUN_CLIENT_H

#include <stdio.h>
#include "transport/rsp.h"

/**
 * struct client - a connection to the module
 * @fd: descriptor of /proc/gtp
 * @path: the name under which /proc/gtp was opened
 * @rsp: the framing, which is the same on both sides
 * @reply: the reply to the last packet, with a NUL after it
 * @len: the length of @reply
 * @answered: true if @reply is complete
 * @console: console text that the user has not seen yet, with a NUL after it
 * @console_len: the length of @console
 */
struct client {
	int fd;
	const char *path;
	struct gtp_rsp rsp;
	char reply[GTP_PACKET_MAX + 1];
	u32 len;
	bool answered;
	char *console;
	size_t console_len;
	char room[GTP_PACKET_MAX + 1];
	u8 last[GTP_RSP_FRAME_MAX];
};

/* All functions call fail() if the connection breaks. */

/* client_open - connect to /proc/gtp; exits with RUN_BUSY if another session is connected */
void client_open(struct client *c, const char *path);

/* client_send - send a packet, without waiting for its reply */
void client_send(struct client *c, const char *packet);

/*
 * client_receive - receive at least one byte; @c->answered is true afterwards if the reply is
 * complete
 */
void client_receive(struct client *c);

/* client_interrupt - send ^C */
void client_interrupt(struct client *c);

/* client_ask - send a packet and return its reply, which is valid until the next packet is sent */
__printf(2, 3) const char *client_ask(struct client *c, const char *format, ...);

/*
 * client_order - send a packet; unless the reply is OK, call fail() with a message that begins with
 * @what
 */
void client_order(struct client *c, const char *packet, const char *what);

/* client_check - unless the reply to the last packet is OK, call fail() like client_order() */
void client_check(struct client *c, const char *what);

/*
 * client_monitor - return the output of `monitor COMMAND`, without its last newline; the caller
 * frees it
 */
char *client_monitor(struct client *c, const char *command);

/* client_show - print the console text received so far to @out */
void client_show(struct client *c, FILE *out);

/*
 * client_transfer - read a whole object with qXfer, where @what is "OBJECT:read:ANNEX", and pass
 * each piece to @take
 */
void client_transfer(struct client *c, const char *what,
		     void (*take)(void *ctx, const void *bytes, size_t len), void *ctx);

#endif /* _RUN_CLIENT_H */
