/* SPDX-License-Identifier: GPL-2.0-only */
/* The stopped run as one GDB trace file, for /proc/gtpframe and QTSave. */
#ifndef _GTP_FILE_H
#define _GTP_FILE_H

#include "session/trace.h"
#include "trace/tfile.h"

enum {
	/* The tracepoint number 0 that ends the frames: GDB writes 4 bytes, and reads 2. */
	GTP_FILE_END_BYTES = 4,
};

/**
 * struct gtp_file - an open trace file of the stopped run
 * @t: the session
 * @epoch: the epoch of the session's frames when the file was opened
 * @header: everything before the frames, generated when the file was opened
 * @header_len: the length of @header
 */
struct gtp_file {
	struct gtp_trace *t;
	u64 epoch;
	char *header;
	u32 header_len;
};

/**
 * gtp_file_open() - prepare to read the stopped run
 * @f: the file
 * @t: the session; if it has never run, the file has no frames
 * @why: the refusal
 *
 * Lines that GDB cannot read are left out, see gtp_header_make().
 *
 * Context: may sleep, under the session's lock.
 * Return: 0, -EBUSY (the run is on), -ENOMEM.
 */
int gtp_file_open(struct gtp_file *f, struct gtp_trace *t, struct gtp_why *why);

/*
 * gtp_file_size - return the size of the whole file; under the session's lock, while
 * gtp_file_read() works
 */
u64 gtp_file_size(const struct gtp_file *f);

/**
 * gtp_file_read() - read a part of the file
 * @f: the file
 * @offset: the offset of the first byte
 * @dst: receives the bytes
 * @len: the number of bytes wanted
 *
 * Context: under the session's lock, which may be released between two reads.
 * Return: the number of bytes read, less than @len only at the end; -ESTALE if the frames were
 * dropped by a new run or QTinit.
 */
s64 gtp_file_read(const struct gtp_file *f, u64 offset, u8 *dst, u32 len);

void gtp_file_close(struct gtp_file *f);

#endif /* _GTP_FILE_H */
