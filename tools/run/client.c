// SPDX-License-Identifier: GPL-2.0-only
/* Send packets to the module and read its replies, with the same framing code as the module. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/parse.h"
#include "client.h"
#include "fail.h"
#include "text.h"

enum { PIECE = GTP_PACKET_MAX - 1 }; /* the first byte of a reply says whether more data follow */

static void write_all(struct client *c, const void *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(c->fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			fail(RUN_FAILED, "writing to %s: %s", c->path, strerror(errno));
		bytes = (const u8 *)bytes + n;
		len -= (size_t)n;
	}
}

static void on_bytes(void *ctx, const void *bytes, u32 len)
{
	write_all(ctx, bytes, len);
}

static void on_console(struct client *c, const char *hex, u32 len)
{
	int n;

	c->console = must(realloc(c->console, c->console_len + len / 2 + 1));
	n = gtp_hex_decode((u8 *)c->console + c->console_len, len / 2, hex, len);
	if (n > 0)
		c->console_len += (size_t)n;
	c->console[c->console_len] = '\0';
}

static void on_packet(void *ctx, char *data, u32 len)
{
	struct client *c = ctx;

	if (len && *data == 'O' && strcmp(data, "OK")) {
		on_console(c, data + 1, len - 1);
		return;
	}
	memcpy(c->reply, data, len + 1);
	c->len = len;
	c->answered = true;
}

static void on_interrupt(void *ctx)
{
}

static const struct gtp_rsp_ops ops = { on_packet, on_interrupt, on_bytes };

void client_open(struct client *c, const char *path)
{
	c->path = path;
	c->fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (c->fd < 0 && errno == EBUSY)
		fail(RUN_BUSY, "%s: another session is connected to it; nothing was changed", path);
	if (c->fd < 0 && errno == ENOENT)
		fail(RUN_FAILED, "%s does not exist: load the module first (modprobe gdbtp)", path);
	if (c->fd < 0 && (errno == EACCES || errno == EPERM))
		fail(RUN_FAILED, "%s: %s; it is for root, and not in lockdown", path,
		     strerror(errno));
	if (c->fd < 0)
		fail(RUN_FAILED, "%s: %s", path, strerror(errno));
	gtp_rsp_init(&c->rsp, &ops, c, c->room, c->last);
}

void client_send(struct client *c, const char *packet)
{
	c->answered = false;
	gtp_rsp_reply(&c->rsp, packet, (u32)strlen(packet));
}

void client_receive(struct client *c)
{
	u8 bytes[4096];
	ssize_t n;

	do
		n = read(c->fd, bytes, sizeof(bytes));
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		fail(RUN_FAILED, "%s has gone away: %s", c->path,
		     n ? strerror(errno) : "end of file");
	gtp_rsp_feed(&c->rsp, bytes, (u32)n);
}

void client_interrupt(struct client *c)
{
	write_all(c, "\x03", 1);
}

const char *client_ask(struct client *c, const char *format, ...)
{
	char packet[GTP_PACKET_MAX + 1];
	va_list args;

	va_start(args, format);
	vsnprintf(packet, sizeof(packet), format, args);
	va_end(args);
	client_send(c, packet);
	while (!c->answered)
		client_receive(c);
	return c->reply;
}

void client_order(struct client *c, const char *packet, const char *what)
{
	client_ask(c, "%s", packet);
	client_check(c, what);
}

void client_check(struct client *c, const char *what)
{
	const char *reply = c->reply;

	if (!strcmp(reply, "OK"))
		return;
	client_show(c, stderr);
	fail(RUN_FAILED, "%s: %s", what,
	     !strncmp(reply, "E.", 2) ? reply + 2 :
	     *reply		      ? reply :
					"the module does not know the packet; is it older?");
}

char *client_monitor(struct client *c, const char *command)
{
	char hex[256];
	char *text;

	hex[gtp_hex_encode(hex, command, strlen(command))] = '\0';
	c->console_len = 0;
	client_ask(c, "qRcmd,%s", hex);
	text = must(strndup(c->console ? c->console : "", c->console_len));
	c->console_len = 0;
	while (*text && text[strlen(text) - 1] == '\n')
		text[strlen(text) - 1] = '\0';
	return text;
}

void client_show(struct client *c, FILE *out)
{
	const char *at = c->console, *end = at + c->console_len, *line_end;

	for (; at < end; at = line_end) {
		line_end = memchr(at, '\n', (size_t)(end - at));
		text_put(out, at, (size_t)((line_end ? line_end : end) - at));
		if (line_end)
			fputc('\n', out);
		line_end = line_end ? line_end + 1 : end;
	}
	fflush(out);
	c->console_len = 0;
}

void client_transfer(struct client *c, const char *what,
		     void (*take)(void *ctx, const void *bytes, size_t len), void *ctx)
{
	u64 at = 0;

	do {
		client_ask(c, "qXfer:%s:%llx,%x", what, at, PIECE);
		if (*c->reply != 'm' && *c->reply != 'l')
			fail(RUN_FAILED, "reading %s: %s", what,
			     !strncmp(c->reply, "E.", 2) ? c->reply + 2 : "the module is older");
		take(ctx, c->reply + 1, c->len - 1);
		at += c->len - 1;
	} while (*c->reply == 'm');
}
