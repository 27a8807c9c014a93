/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads and writes the text of packets, never past its end: hex numbers, hex bytes, separators. */
#ifndef _GTP_PARSE_H
#define _GTP_PARSE_H

#include "base/base.h"

/**
 * struct gtp_in - text that is being read
 * @start: the first character of the text
 * @p: the next character to read
 * @end: just past the last character; the text needs no terminator
 * @skipped: the number of characters of the packet before @start, so that gtp_in_column() counts
 *     from the beginning of the packet
 *
 * A gtp_in_*() function that returns false leaves @p unchanged, so that a message can name the
 * column.
 */
struct gtp_in {
	const char *start;
	const char *p;
	const char *end;
	u32 skipped;
};

static inline void gtp_in_init(struct gtp_in *in, const char *text, size_t len)
{
	in->start = text;
	in->p = text;
	in->end = text + len;
	in->skipped = 0;
}

static inline bool gtp_in_end(const struct gtp_in *in)
{
	return in->p == in->end;
}

/* gtp_in_left - return the number of characters not read yet */
static inline size_t gtp_in_left(const struct gtp_in *in)
{
	return (size_t)(in->end - in->p);
}

/* gtp_in_column - return the position of the next character in the packet, counted from 1 */
static inline u32 gtp_in_column(const struct gtp_in *in)
{
	return in->skipped + (u32)(in->p - in->start) + 1;
}

/* gtp_in_peek - return the next character without moving @p; NUL at the end */
static inline char gtp_in_peek(const struct gtp_in *in)
{
	return gtp_in_end(in) ? '\0' : *in->p;
}

/* gtp_in_char - if the next character is @c, move past it and return true */
bool gtp_in_char(struct gtp_in *in, char c);

/* gtp_in_word - if the text goes on with @word, move past it and return true */
bool gtp_in_word(struct gtp_in *in, const char *word);

/*
 * gtp_in_hex64 - read a hex number without sign or 0x; return false if there is no digit, or if the
 * number has more than 64 bits
 */
bool gtp_in_hex64(struct gtp_in *in, u64 *value);

/* gtp_in_hex32 - read a hex number of at most 32 bits, like gtp_in_hex64() */
bool gtp_in_hex32(struct gtp_in *in, u32 *value);

/* gtp_in_bytes - read 2 * @n hex digits as @n bytes; if @dst is NULL, only check and skip them */
bool gtp_in_bytes(struct gtp_in *in, u8 *dst, size_t n);

/* gtp_in_until - read all characters before @stop, or to the end; return their number */
size_t gtp_in_until(struct gtp_in *in, char stop, const char **from);

/* gtp_in_rest - read all remaining characters; return their number */
size_t gtp_in_rest(struct gtp_in *in, const char **from);

/* gtp_hex_digit - return the value of a hex digit, or -1 if @c is not one */
int gtp_hex_digit(char c);

/* gtp_hex_is - true if @hex has only hex digits, an even number of them or none */
bool gtp_hex_is(const char *hex, size_t len);

/* gtp_hex_encode - write @n bytes as 2 * @n lower-case digits, not NUL-terminated; return 2 * @n */
size_t gtp_hex_encode(char *dst, const void *src, size_t n);

/**
 * gtp_hex_decode() - convert hex digits to bytes
 * @dst: receives the bytes
 * @size: room in @dst
 * @hex: the digits
 * @len: the number of digits
 *
 * Return: the number of bytes; -EINVAL if @len is odd or a character is not a hex digit, or -E2BIG
 * for more than @size bytes. After an error @dst is unchanged.
 */
int gtp_hex_decode(u8 *dst, size_t size, const char *hex, size_t len);

/**
 * struct gtp_out - text that is being written
 * @buf: receives the text, which is NUL-terminated after every call
 * @size: the room in @buf, the NUL included; at least 1
 * @len: the length of the text so far, always less than @size
 * @cut: true if some text did not fit and was cut off
 */
struct gtp_out {
	char *buf;
	size_t size;
	size_t len;
	bool cut;
};

void gtp_out_init(struct gtp_out *out, char *buf, size_t size);
__printf(2, 3) void gtp_out_printf(struct gtp_out *out, const char *fmt, ...);
void gtp_out_text(struct gtp_out *out, const char *text, size_t len);
void gtp_out_hex(struct gtp_out *out, const void *bytes, size_t n);

#endif /* _GTP_PARSE_H */
