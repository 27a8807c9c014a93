/* SPDX-License-Identifier: GPL-2.0-only */
/* Write one trace file, or a series of files of which only the last are kept. */
#ifndef _DRAIN_SERIES_H
#define _DRAIN_SERIES_H

#include "file.h"
#include "sync.h"

/**
 * struct series - the files to which frames are written
 * @out: the name of the file; if @size is not 0, .0001, .0002, ... are appended
 * @size: the largest size of a file, unless a single frame needs more; 0: there is only one file
 * @keep: the number of files that are kept; 0: all are kept
 * @number: the number of the file that is being written, counted from 1
 * @file: the file that is being written
 * @header, @header_len: the header with which each file begins
 * @count_at: the two offsets in @header at which the number of frames is stored; 0: the header does
 *	not contain it
 * @count: the number of frames in the file that is being written
 * @totals: the contents of all files so far
 */
struct series {
	const char *out;
	u64 size;
	u32 keep, number;
	struct file file;
	u8 *header;
	size_t header_len;
	u64 count_at[2], count;
	struct totals totals;
};

/* series_check - call fail() if a file exists that must not be replaced */
void series_check(const struct series *s);

/* series_open - call fail() if the first file cannot be made */
void series_open(struct series *s);

/* series_start - set the header of all files; return false on an error */
bool series_start(struct series *s, const u8 *header, size_t len);

/**
 * series_put() - write the whole frames at the beginning of some bytes
 * @s: the files
 * @bytes, @len: the bytes, which begin with a frame but need not end with one
 * @t: counts the frames that were written
 *
 * Return: the size of the written frames; after an error it is less than the size of all whole
 * frames.
 */
size_t series_put(struct series *s, const u8 *bytes, size_t len, struct tally *t);

/* series_show - let readers see the written frames, as soon as they are on the disk */
void series_show(struct series *s);

/* series_end - let readers see all written frames, for the last time */
void series_end(struct series *s);

/* series_name - return the name of a file, which the caller frees */
char *series_name(const struct series *s, u32 number);

#endif /* _DRAIN_SERIES_H */
