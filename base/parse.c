// SPDX-License-Identifier: GPL-2.0-only
/* Reads and writes the text of packets, never past its end. */
#include "base/parse.h"

bool gtp_in_char(struct gtp_in *in, char c)
{
	if (gtp_in_end(in) || *in->p != c)
		return false;
	in->p++;
	return true;
}

bool gtp_in_word(struct gtp_in *in, const char *word)
{
	size_t len = strlen(word);

	if (gtp_in_left(in) < len || memcmp(in->p, word, len))
		return false;
	in->p += len;
	return true;
}

int gtp_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool gtp_in_hex64(struct gtp_in *in, u64 *value)
{
	const char *p = in->p;
	u64 v = 0;

	while (p < in->end && gtp_hex_digit(*p) >= 0) {
		if (v >> 60)
			return false;
		v = v << 4 | (u64)gtp_hex_digit(*p++);
	}
	if (p == in->p)
		return false;
	in->p = p;
	*value = v;
	return true;
}

bool gtp_in_hex32(struct gtp_in *in, u32 *value)
{
	struct gtp_in copy = *in;
	u64 v;

	if (!gtp_in_hex64(&copy, &v) || v > U32_MAX)
		return false;
	in->p = copy.p;
	*value = (u32)v;
	return true;
}

static bool all_hex(const char *hex, size_t len)
{
	while (len--)
		if (gtp_hex_digit(*hex++) < 0)
			return false;
	return true;
}

static void decode(u8 *dst, const char *hex, size_t n)
{
	for (; n--; hex += 2)
		*dst++ = (u8)(gtp_hex_digit(hex[0]) << 4 | gtp_hex_digit(hex[1]));
}

bool gtp_in_bytes(struct gtp_in *in, u8 *dst, size_t n)
{
	if (n > gtp_in_left(in) / 2 || !all_hex(in->p, 2 * n))
		return false;
	if (dst)
		decode(dst, in->p, n);
	in->p += 2 * n;
	return true;
}

size_t gtp_in_until(struct gtp_in *in, char stop, const char **from)
{
	*from = in->p;
	while (!gtp_in_end(in) && *in->p != stop)
		in->p++;
	return (size_t)(in->p - *from);
}

size_t gtp_in_rest(struct gtp_in *in, const char **from)
{
	*from = in->p;
	in->p = in->end;
	return (size_t)(in->end - *from);
}

bool gtp_hex_is(const char *hex, size_t len)
{
	return len % 2 == 0 && all_hex(hex, len);
}

size_t gtp_hex_encode(char *dst, const void *src, size_t n)
{
	static const char digit[] = "0123456789abcdef";
	const u8 *p = src;
	size_t i;

	for (i = 0; i < n; i++) {
		*dst++ = digit[p[i] >> 4];
		*dst++ = digit[p[i] & 15];
	}
	return 2 * n;
}

int gtp_hex_decode(u8 *dst, size_t size, const char *hex, size_t len)
{
	if (!gtp_hex_is(hex, len))
		return -EINVAL;
	if (len / 2 > size || len / 2 > INT_MAX)
		return -E2BIG;
	decode(dst, hex, len / 2);
	return (int)(len / 2);
}

void gtp_out_init(struct gtp_out *out, char *buf, size_t size)
{
	out->buf = buf;
	out->size = size;
	out->len = 0;
	out->cut = false;
	buf[0] = '\0';
}

void gtp_out_printf(struct gtp_out *out, const char *fmt, ...)
{
	size_t room = out->size - out->len;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(out->buf + out->len, room, fmt, args);
	va_end(args);
	if (n < 0)
		return;
	if ((size_t)n >= room) {
		n = (int)room - 1;
		out->cut = true;
	}
	out->len += (size_t)n;
}

void gtp_out_text(struct gtp_out *out, const char *text, size_t len)
{
	size_t room = out->size - out->len - 1;

	if (len > room) {
		len = room;
		out->cut = true;
	}
	memcpy(out->buf + out->len, text, len);
	out->len += len;
	out->buf[out->len] = '\0';
}

void gtp_out_hex(struct gtp_out *out, const void *bytes, size_t n)
{
	size_t room = (out->size - out->len - 1) / 2;

	if (n > room) {
		n = room;
		out->cut = true;
	}
	out->len += gtp_hex_encode(out->buf + out->len, bytes, n);
	out->buf[out->len] = '\0';
}
