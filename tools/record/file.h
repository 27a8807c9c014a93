/* SPDX-License-Identifier: GPL-2.0-only */
/* A trace file that GDB can read at any moment while it grows. */
#ifndef _DRAIN_FILE_H
#define _DRAIN_FILE_H

#include "frames.h"
#include "run/part.h"

/**
 * struct file - a trace file that grows
 * @path, @part: the name of the file, and the file before it has this name
 * @end: the offset of the 0 after the last frame, which ends the file for readers
 * @empty: true if the file has no frames
 * @holds: true if frames were written that are hidden from readers
 * @held_at, @held: the offset and the number of the first hidden frame; the file contains 0 in
 *	place of this number
 */
struct file {
	int fd;
	char *path;
	struct part part;
	u64 end;
	bool empty, holds;
	u64 held_at;
	u8 held[FRAMES_NUMBER];
};

/*
 * file_refused - return the reason why the file cannot be made, which the caller frees; NULL if it
 * can be made
 */
char *file_refused(const char *path);

/*
 * file_open - make the file under a temporary name, accessible only to its owner; takes over @path.
 * Return false on an error
 */
bool file_open(struct file *f, char *path);

/* file_close - close a file that has no header yet */
void file_close(struct file *f);

/* file_start - write the file's header; return false on an error */
bool file_start(struct file *f, const u8 *header, size_t len);

/**
 * file_put() - append whole frames
 * @f: the file, which has its header
 * @block, @len: the frames
 *
 * Return: the bytes of frames that were written; less than @len on an error.
 */
size_t file_put(struct file *f, const u8 *block, size_t len);

#endif /* _DRAIN_FILE_H */
