// SPDX-License-Identifier: GPL-2.0-only
/* Writes replies that many packets share: OK, stop replies, and errors in words. */
#include "stub/reply.h"

int gtp_reply_ok(struct gtp_stub *s)
{
	gtp_out_text(&s->reply, "OK", 2);
	return 0;
}

void gtp_reply_stop(const struct gtp_stub *s, struct gtp_out *out, u32 n)
{
	if (!s->ops->process) {
		gtp_out_printf(out, "S%02x", n);
		return;
	}
	gtp_out_printf(out, "T%02xthread:p%x.%x;", n, s->ops->process->pid(s->ctx), s->thread);
}

static const char *errno_words(int err)
{
	switch (err) {
	case -ENOMEM:
		return "the kernel has no memory for it";
	case -EFAULT:
		return "the memory cannot be accessed";
	case -EBUSY:
		return "not while the trace is running; tstop first";
	case -ENOENT:
		return "there is no such thing";
	case -EPERM:
		return "not allowed";
	case -EOPNOTSUPP:
		return "not supported";
	}
	return "the packet is malformed";
}

/*
 * Put the words of an error. GDB does not unescape them, so they must not have a character that the
 * framing of packets escapes. Leave out '$', which names of variables begin with.
 */
static void put_words(struct gtp_out *out, const char *words)
{
	for (; *words; words++) {
		char c = *words;

		if (c == '$')
			continue;
		if (c == '#' || c == '*' || c < ' ' || c > '~')
			c = '.';
		else if (c == '}')
			c = ')';
		gtp_out_text(out, &c, 1);
	}
}

void gtp_reply_error(struct gtp_stub *s, int err, const char *words)
{
	gtp_out_init(&s->reply, s->reply.buf, s->reply.size);
	if (!words) {
		gtp_out_printf(&s->reply, "E01");
		return;
	}
	gtp_out_printf(&s->reply, "E.");
	put_words(&s->reply, *words ? words : errno_words(err));
}
