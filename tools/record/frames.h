/* SPDX-License-Identifier: GPL-2.0-only */
/* The boundaries of a trace file's parts, and the contents of frames. */
#ifndef _DRAIN_FRAMES_H
#define _DRAIN_FRAMES_H

#include "base/base.h"
#include "trace/tfile_format.h"

enum {
	FRAMES_NUMBER = GTP_TFILE_NUMBER,
	FRAMES_HEAD = GTP_TFILE_HEAD,
	FRAMES_MARK = GTP_TFILE_LOST_TP,
	FRAMES_END = 4, /* zero bytes after the last frame; GDB reads two of them */
};

/*
 * struct tally - the number of frames of tracepoints, the number of marks (frames that report lost
 * frames), and the number of lost frames
 */
struct tally {
	u64 frames, marks, lost;
};

/**
 * frames_header() - return the length of a trace file's header, including the empty line at its end
 * @bytes, @len: the bytes that have arrived so far
 *
 * Return: the length; 0 if more bytes are needed; -EINVAL if the bytes are not a trace file.
 */
ssize_t frames_header(const u8 *bytes, size_t len);

enum { FRAMES_DIGITS = 8 };

/*
 * frames_count_at - find ";@item:" and FRAMES_DIGITS digits 'f' in a header; return the offset of
 * the digits, or 0. The writer of the file replaces the digits by a number
 */
size_t frames_count_at(const u8 *header, size_t len, const char *item);

/**
 * frames_whole() - return the number of bytes that are whole frames
 * @bytes, @len: the bytes; the first byte begins a frame
 * @most: the most bytes to return
 * @t: the whole frames are added to this tally; may be NULL
 */
size_t frames_whole(const u8 *bytes, size_t len, u64 most, struct tally *t);

/* frames_first - return the length of the frame that begins at @bytes; 0 if it is incomplete */
size_t frames_first(const u8 *bytes, size_t len);

/* frames_over - true if the end of the file is at @bytes, not a frame */
bool frames_over(const u8 *bytes, size_t len);

#endif /* _DRAIN_FRAMES_H */
