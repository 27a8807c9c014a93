/* SPDX-License-Identifier: GPL-2.0-only */
/* A thread that waits for the disk, so that the reader of the pipe does not have to wait. */
#ifndef _DRAIN_SYNC_H
#define _DRAIN_SYNC_H

#include "frames.h"
#include "run/part.h"

/* struct totals - the readable frames of all files, including removed files */
struct totals {
	u64 frames, bytes;
	u32 files;
};

enum sync_kind { SYNC_NAME, SYNC_SHOW, SYNC_CLOSE };

/**
 * struct sync_job - a job for the thread; jobs are done in order
 * @kind: NAME gives a file, whose header is written, its final name; SHOW lets readers see the
 *        frames written so far; CLOSE does the same for the last time and closes the file
 * @fd: the file
 * @part, @path, @old: for NAME: the file, its final name, and a file to remove afterwards, or NULL;
 *                     the job owns them
 * @holds: true if frames were written that are hidden from readers
 * @at, @number: the offset of the first hidden frame, and the number that replaces its 0
 * @count_at, @count: the two offsets in the header at which the number of frames is stored, and its
 *	new value; an offset of 0: the header does not contain it
 * @totals: the totals of all files after this job
 */
struct sync_job {
	enum sync_kind kind;
	int fd;
	struct part part;
	char *path, *old;
	bool holds;
	u64 at;
	u8 number[FRAMES_NUMBER];
	u64 count_at[2], count;
	struct totals totals;
};

/* sync_begin - start the thread that waits for the disk */
void sync_begin(void);

/* sync_idle - true if the thread has no job to do */
bool sync_idle(void);

/* sync_do - queue a job; waits only if many files are queued */
void sync_do(const struct sync_job *job);

/* sync_end - wait for all jobs; return the totals */
struct totals sync_end(void);

#endif /* _DRAIN_SYNC_H */
