// SPDX-License-Identifier: GPL-2.0-only
/* Play packet transcripts to a stub, in the place of GDB. */
#define _GNU_SOURCE /* fmemopen, strndup */
#include <ctype.h>
#include <stdlib.h>

#include "base/base.h"

#include "session.h"

enum {
	LINE_LONGEST = 65536,
	NAME_LONGEST = 64,
	VALUE_LONGEST = 33000,
	CAPTURES = 32,
	WILD_CALLS = 100,
};

struct capture {
	char name[NAME_LONGEST];
	char *value;
};

/* struct player - the state of playing one file */
struct player {
	const struct session_world *w;
	FILE *report;
	const char *path;
	int line;
	bool no_ack;
	bool acks_off_next; /* the next "OK" ends the use of acknowledgments */
	bool wild;	    /* continue after any error */
	struct capture capture[CAPTURES];
	char console[LINE_LONGEST];
	size_t console_len;
	char reply[LINE_LONGEST];
	size_t reply_len;
};

__printf(2, 3) static int fail(struct player *p, const char *fmt, ...)
{
	va_list args;

	if (p->wild)
		return -1;
	fprintf(p->report, "%s:%d: ", p->path, p->line);
	va_start(args, fmt);
	vfprintf(p->report, fmt, args);
	va_end(args);
	fputc('\n', p->report);
	return -1;
}

/* --- placeholders --- */

static struct capture *captured(struct player *p, const char *name)
{
	for (int i = 0; i < CAPTURES; i++)
		if (p->capture[i].value && !strcmp(p->capture[i].name, name))
			return &p->capture[i];
	return NULL;
}

static int capture(struct player *p, const char *name, const char *value, size_t len)
{
	struct capture *c = captured(p, name);

	for (int i = 0; !c && i < CAPTURES; i++)
		if (!p->capture[i].value)
			c = &p->capture[i];
	if (!c)
		return fail(p, "more than %d captures", CAPTURES);
	free(c->value);
	c->value = strndup(value, len);
	snprintf(c->name, sizeof(c->name), "%s", name);
	return 0;
}

static int look_up(struct player *p, const char *name, char *out, size_t size)
{
	struct capture *c = captured(p, name);
	unsigned long long addr;

	if (c) {
		snprintf(out, size, "%s", c->value);
		return 0;
	}
	addr = p->w->symbol(p->w->ctx, name);
	if (!addr)
		return fail(p, "{%s} is neither captured nor known to the fixture", name);
	snprintf(out, size, "%llx", addr);
	return 0;
}

static int hex_of(const char *text, char *out, size_t size)
{
	size_t n = 0;

	for (; *text && n + 3 <= size; text++)
		n += (size_t)sprintf(out + n, "%02x", (unsigned char)*text);
	out[n] = '\0';
	return 0;
}

static int little_endian(struct player *p, const char *name, char *out, size_t size)
{
	unsigned long long v;
	int n = 0;

	if (look_up(p, name, out, size))
		return -1;
	v = strtoull(out, NULL, 16);
	for (int i = 0; i < 8; i++, v >>= 8)
		n += sprintf(out + n, "%02x", (unsigned int)(v & 0xff));
	return 0;
}

static int unknown_bytes(const char *count, char *out, size_t size)
{
	size_t n = 2 * strtoul(count, NULL, 10);

	if (n >= size)
		n = size - 1;
	memset(out, 'x', n);
	out[n] = '\0';
	return 0;
}

static int value_of(struct player *p, const char *name, char *out, size_t size)
{
	if (!strncmp(name, "x:", 2))
		return unknown_bytes(name + 2, out, size);
	if (!strncmp(name, "hex:", 4))
		return hex_of(name + 4, out, size);
	if (!strncmp(name, "le:", 3))
		return little_endian(p, name + 3, out, size);
	return look_up(p, name, out, size);
}

/* Replace every {name} except {=name}; @out has LINE_LONGEST bytes. */
static int expand(struct player *p, const char *text, char *out)
{
	static char value[VALUE_LONGEST];
	size_t n = 0;

	while (*text) {
		const char *end = *text == '{' && text[1] != '=' ? strchr(text, '}') : NULL;
		char name[1024];

		if (n + VALUE_LONGEST > LINE_LONGEST)
			return fail(p, "the line is too long");
		if (!end) {
			out[n++] = *text++;
			continue;
		}
		snprintf(name, sizeof(name), "%.*s", (int)(end - text - 1), text + 1);
		if (value_of(p, name, value, sizeof(value)))
			return -1;
		n += (size_t)sprintf(out + n, "%s", value);
		text = end + 1;
	}
	out[n] = '\0';
	return 0;
}

static size_t unescape(char *text)
{
	char *out = text;
	char *start = text;

	while (*text) {
		if (text[0] == '\\' && text[1] == 'x' && isxdigit((unsigned char)text[2]) &&
		    isxdigit((unsigned char)text[3])) {
			char digits[3] = { text[2], text[3], '\0' };

			*out++ = (char)strtoul(digits, NULL, 16);
			text += 4;
		} else {
			*out++ = *text++;
		}
	}
	*out = '\0';
	return (size_t)(out - start);
}

static bool match(struct player *p, const char *want, const char *got);

static bool match_capture(struct player *p, const char *want, const char *got)
{
	const char *end = strchr(want, '}');
	char name[NAME_LONGEST];
	size_t n = 0;

	if (!end)
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)(end - want - 2), want + 2);
	while (isxdigit((unsigned char)got[n]))
		n++;
	return n && match(p, end + 1, got + n) && !capture(p, name, got, n);
}

static bool match(struct player *p, const char *want, const char *got)
{
	for (; *want; want++, got++) {
		if (want[0] == '{' && want[1] == '=')
			return match_capture(p, want, got);
		if (*want == '*') {
			for (;; got++) {
				if (match(p, want + 1, got))
					return true;
				if (!*got)
					return false;
			}
		}
		if (*want != *got)
			return false;
	}
	return !*got;
}

/* --- the line --- */

static int send_bytes(struct player *p, const void *bytes, size_t len)
{
	return p->w->send(p->w->ctx, bytes, len) ? fail(p, "the bytes could not be sent") : 0;
}

static int receive(struct player *p)
{
	return p->w->receive(p->w->ctx, true);
}

static int send_packet(struct player *p, const char *data, size_t len)
{
	static char wire[2 * LINE_LONGEST];
	unsigned char sum = 0;
	size_t n = 0;

	wire[n++] = '$';
	for (size_t i = 0; i < len; i++) {
		char c = data[i];

		if (strchr("#$}*", c) && c) {
			wire[n++] = '}';
			sum += '}';
			c ^= 0x20;
		}
		wire[n++] = c;
		sum += (unsigned char)c;
	}
	n += (size_t)sprintf(wire + n, "#%02x", sum);
	if (send_bytes(p, wire, n))
		return -1;
	if (p->no_ack)
		return 0;
	return receive(p) == '+' ? 0 : fail(p, "no '+' for the packet");
}

static int read_data(struct player *p, unsigned char *sum)
{
	size_t n = 0;
	int c;

	for (*sum = 0; (c = receive(p)) != '#'; *sum += (unsigned char)c) {
		if (c < 0)
			return fail(p, "the reply ends in the middle: %.*s", (int)n, p->reply);
		if (n + 1 == sizeof(p->reply))
			return fail(p, "the reply is too long");
		p->reply[n++] = (char)c;
	}
	p->reply[n] = '\0';
	p->reply_len = n;
	return 0;
}

/*
 * Read one packet into p->reply; return 1 if there is none. @wait: wait for its first byte. Like
 * GDB, skip each '+' before the packet, which the stub sends during long work (stub/console.c).
 */
static int read_packet(struct player *p, bool wait)
{
	char digits[3] = { 0 };
	unsigned char sum;
	int c;

	do {
		c = p->w->receive(p->w->ctx, wait);
	} while (c == '+');
	if (c < 0)
		return 1;
	if (c != '$')
		return fail(p, "'$' was expected, not 0x%02x", c);
	if (read_data(p, &sum))
		return -1;
	digits[0] = (char)receive(p);
	digits[1] = (char)receive(p);
	if (strtoul(digits, NULL, 16) != sum)
		return fail(p, "the reply's checksum is wrong: %s#%s", p->reply, digits);
	return p->no_ack ? 0 : send_bytes(p, "+", 1);
}

static bool is_console(const struct player *p)
{
	return p->reply[0] == 'O' && p->reply_len % 2 == 1;
}

static void keep_console(struct player *p)
{
	for (size_t i = 1; i + 1 < p->reply_len; i += 2) {
		char digits[3] = { p->reply[i], p->reply[i + 1], '\0' };

		if (p->console_len + 1 < sizeof(p->console))
			p->console[p->console_len++] = (char)strtoul(digits, NULL, 16);
	}
	p->console[p->console_len] = '\0';
}

/* Read the next reply that is not console text; return 1 if there is none. */
static int read_reply(struct player *p, bool wait)
{
	int err;

	while (!(err = read_packet(p, wait)) && is_console(p))
		keep_console(p);
	return err;
}

/* --- lines of the file --- */

static int do_send(struct player *p, const char *text)
{
	static char data[LINE_LONGEST];
	size_t len;

	if (expand(p, text, data))
		return -1;
	len = unescape(data);
	p->console_len = 0;
	p->console[0] = '\0';
	p->acks_off_next = !strcmp(data, "QStartNoAckMode");
	return send_packet(p, data, len);
}

static int do_expect(struct player *p, const char *text)
{
	static char want[LINE_LONGEST];
	int err;

	if (expand(p, text, want))
		return -1;
	err = read_reply(p, true);
	if (err > 0)
		return fail(p, "no reply; expected %s", want);
	if (err)
		return err;
	if (!match(p, want, p->reply))
		return fail(p, "expected %s\n  but got %s", want, p->reply);
	if (p->acks_off_next && !strcmp(p->reply, "OK"))
		p->no_ack = true;
	p->acks_off_next = false;
	return 0;
}

static int do_console(struct player *p, const char *text)
{
	static char want[LINE_LONGEST];

	if (expand(p, text, want))
		return -1;
	return strstr(p->console, want) ?
		       0 :
		       fail(p, "the console lacks \"%s\"; it says \"%s\"", want, p->console);
}

static int do_raw_send(struct player *p, const char *text)
{
	static char data[LINE_LONGEST];

	if (expand(p, text, data))
		return -1;
	return send_bytes(p, data, unescape(data));
}

static int do_raw_expect(struct player *p, const char *text)
{
	static char want[LINE_LONGEST];
	size_t len;

	if (expand(p, text, want))
		return -1;
	len = unescape(want);
	for (size_t i = 0; i < len; i++) {
		int c = receive(p);

		if (c != (unsigned char)want[i])
			return fail(p, "byte %zu: expected 0x%02x, got %d", i,
				    (unsigned char)want[i], c);
	}
	return 0;
}

static int do_calls(struct player *p, const char *what)
{
	char *times;
	long n = strtol(what, &times, 10);

	if (strncmp(times, " x ", 3)) {
		n = 1;
		times = (char *)what - 3;
	}
	if (p->wild && n > WILD_CALLS)
		n = WILD_CALLS;
	while (n-- > 0)
		if (p->w->call(p->w->ctx, times + 3))
			return fail(p, "the fixture cannot make the call: %s", what);
	return 0;
}

static int do_order(struct player *p, const char *text)
{
	static char order[LINE_LONGEST];

	if (expand(p, text, order))
		return -1;
	if (!strcmp(order, "^C"))
		return send_bytes(p, "\003", 1);
	if (!strncmp(order, "call ", 5))
		return do_calls(p, order + 5);
	if (strcmp(order, "reconnect"))
		return fail(p, "no such order: %s", order);
	p->no_ack = false;
	return p->w->reconnect(p->w->ctx) ? fail(p, "cannot connect again") : 0;
}

/* Check that no reply is left unread before the next packet is sent. */
static int all_read(struct player *p)
{
	int err = read_reply(p, false);

	if (!err)
		return fail(p, "an unexpected reply: %s", p->reply);
	return err > 0 ? 0 : -1;
}

static const struct {
	const char *word;
	int (*play)(struct player *p, const char *text);
	bool fresh;  /* an error if a reply is still unread before this line */
	bool judges; /* only compares the stub's output */
} lines[] = {
	{ "> ", do_send, true, false },	       { "< ", do_expect, false, true },
	{ "<", do_expect, false, true },       { "~ ", do_console, false, true },
	{ "raw> ", do_raw_send, true, false }, { "raw< ", do_raw_expect, false, true },
	{ "! ", do_order, false, false },
};

static int play_line(struct player *p, char *text)
{
	text[strcspn(text, "\n")] = '\0';
	if (!*text || *text == '#')
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		size_t n = strlen(lines[i].word);

		if (strncmp(text, lines[i].word, n))
			continue;
		if (p->wild && lines[i].judges)
			return 0;
		if (!p->wild && lines[i].fresh && all_read(p))
			return -1;
		return lines[i].play(p, text + n);
	}
	return fail(p, "no such line: %s", text);
}

static int play_stream(struct player *p, FILE *f)
{
	char *text = NULL;
	size_t size = 0;
	int err = 0;

	while ((!err || p->wild) && getline(&text, &size, f) > 0) {
		p->line++;
		err = play_line(p, text);
	}
	if (!err && !p->wild)
		err = all_read(p);
	free(text);
	return err;
}

static int play_file(FILE *f, const char *path, bool wild, const struct session_world *world,
		     FILE *report)
{
	struct player *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -1;
	p->w = world;
	p->report = report;
	p->path = path;
	p->wild = wild;
	err = play_stream(p, f);
	for (int i = 0; i < CAPTURES; i++)
		free(p->capture[i].value);
	free(p);
	return err;
}

int session_play(const char *path, const struct session_world *world, FILE *report)
{
	FILE *f = fopen(path, "r");
	int err;

	if (!f) {
		fprintf(report, "%s: cannot be read\n", path);
		return -1;
	}
	err = play_file(f, path, false, world, report);
	fclose(f);
	return err;
}

int session_play_wild(const void *text, size_t len, const struct session_world *world)
{
	FILE *f = fmemopen((void *)text, len, "r");

	if (!f)
		return -1;
	play_file(f, "wild", true, world, NULL);
	fclose(f);
	return 0;
}

int session_packets(const char *path, void (*fn)(void *ctx, const char *text), void *ctx)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	if (!f)
		return -1;
	while (getline(&text, &size, f) > 0) {
		text[strcspn(text, "\n")] = '\0';
		if (!strncmp(text, "> ", 2))
			fn(ctx, text + 2);
	}
	free(text);
	fclose(f);
	return 0;
}
