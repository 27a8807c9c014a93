// SPDX-License-Identifier: GPL-2.0-only
/* The boundaries of a trace file's parts, and the contents of frames. */
#include "frames.h"

ssize_t frames_header(const u8 *bytes, size_t len)
{
	static const char magic[] = GTP_TFILE_MAGIC;
	const size_t known = sizeof(magic) - 1;
	const u8 *end;

	if (memcmp(bytes, magic, len < known ? len : known))
		return -EINVAL;
	end = memmem(bytes, len, "\n\n", 2);
	return end ? end + 2 - bytes : 0;
}

size_t frames_count_at(const u8 *header, size_t len, const char *item)
{
	char text[64];
	int n = snprintf(text, sizeof(text), ";%s:%0*x;", item, FRAMES_DIGITS, U32_MAX);
	const u8 *found = memmem(header, len, text, (size_t)n);

	return found ? (size_t)(found - header) + (size_t)n - 1 - FRAMES_DIGITS : 0;
}

size_t frames_first(const u8 *bytes, size_t len)
{
	u64 size;

	if (len < FRAMES_HEAD || !gtp_get_le(bytes, FRAMES_NUMBER))
		return 0;
	size = FRAMES_HEAD + gtp_get_le(bytes + FRAMES_NUMBER, 4);
	return size <= len ? size : 0;
}

bool frames_over(const u8 *bytes, size_t len)
{
	return len >= FRAMES_END && !gtp_get_le(bytes, FRAMES_NUMBER);
}

static u64 lost_by(const u8 *bytes, const u8 *end)
{
	u64 lost = 0;

	for (; end - bytes >= GTP_TFILE_VAR && *bytes == 'V'; bytes += GTP_TFILE_VAR)
		if (gtp_get_le(bytes + 1, 4) == GTP_TFILE_LOST_VAR)
			lost += gtp_get_le(bytes + 5, 8);
	return lost;
}

static void count(struct tally *t, const u8 *frame, size_t size)
{
	if (gtp_get_le(frame, FRAMES_NUMBER) != FRAMES_MARK) {
		t->frames++;
		return;
	}
	t->marks++;
	t->lost += lost_by(frame + FRAMES_HEAD, frame + size);
}

size_t frames_whole(const u8 *bytes, size_t len, u64 most, struct tally *t)
{
	size_t at = 0, size;

	while ((size = frames_first(bytes + at, len - at)) && at + size <= most) {
		if (t)
			count(t, bytes + at, size);
		at += size;
	}
	return at;
}
