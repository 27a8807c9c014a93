// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shows text on GDB's console: sends it in O packets if GDB accepts them now, otherwise keeps it
 * for later.
 */
#include "stub/console.h"

/* O packets carry hex. Text is cut into pieces of this size, which need only a small buffer. */
enum { CONSOLE_PIECE = 100 };

void gtp_stub_heard(struct gtp_stub *s)
{
	s->quiet_since_ms = s->ops->now_ms(s->ctx);
}

static void send_text(struct gtp_stub *s, const char *text, u32 len)
{
	char piece[1 + 2 * CONSOLE_PIECE];

	while (len) {
		u32 n = len < CONSOLE_PIECE ? len : CONSOLE_PIECE;

		piece[0] = 'O';
		gtp_rsp_reply(&s->rsp, piece, 1 + (u32)gtp_hex_encode(piece + 1, text, n));
		text += n;
		len -= n;
		gtp_stub_heard(s);
	}
}

void gtp_stub_flush_notice(struct gtp_stub *s)
{
	static const char cut[] = "gdbtp: there was more to say than could be kept\n";
	u32 len = s->notice_len;

	s->notice_len = 0;
	send_text(s, s->notice, len);
	if (s->notice_cut)
		send_text(s, cut, sizeof(cut) - 1);
	s->notice_cut = false;
}

static void keep_notice(struct gtp_stub *s, const char *text, u32 len)
{
	u32 room = GTP_NOTICE_MAX - s->notice_len;

	/*
	 * Drop whole messages, because half a line would be worse; a note about them is shown
	 * later.
	 */
	if (len > room || s->notice_cut) {
		s->notice_cut = true;
		return;
	}
	memcpy(s->notice + s->notice_len, text, len);
	s->notice_len += len;
}

void gtp_stub_print(struct gtp_stub *s, const char *text)
{
	u32 len = (u32)strlen(text);

	if (s->waiting || s->noisy)
		send_text(s, text, len);
	else
		keep_notice(s, text, len);
}

void gtp_stub_printf(struct gtp_stub *s, const char *fmt, ...)
{
	char line[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	gtp_stub_print(s, line);
}

/*
 * Keep GDB waiting. Without a reply GDB gives up after three times its remotetimeout of 2 s, and
 * mistakes a later reply for the reply to its next packet. If O packets may precede the reply, send
 * text. Otherwise GDB would mistake the text for the reply. It would make the same mistake if the
 * end of a run takes a long time and GDB's packet has not been read yet. In these cases send a '+',
 * which GDB ignores while it waits for a reply, and which restarts its timeout. The timeout is for
 * the silence between two characters, so send a '+' each half second.
 */
void gtp_stub_progress(struct gtp_stub *s, const char *what, u32 done, u32 total)
{
	u64 quiet = s->ops->now_ms(s->ctx) - s->quiet_since_ms;

	if (s->noisy && quiet >= GTP_KEEP_ALIVE_MS)
		gtp_stub_printf(s, "gdbtp: %s: %u of %u\n", what, done, total);
	if (s->noisy || s->waiting || quiet < GTP_NUDGE_MS)
		return;
	s->send(s->ctx, "+", 1);
	gtp_stub_heard(s);
}
