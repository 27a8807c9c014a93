/* SPDX-License-Identifier: GPL-2.0-only */
/* The record of a kernel event in a frame ($_sdata), and the memory at which GDB reads it. */
#ifndef _GTP_SDATA_H
#define _GTP_SDATA_H

#include "base/base.h"
#include "trace/frame.h"

/*
 * GDB has a packet to read $_sdata from a live target. But its trace files have no block type for
 * static data, and an unknown type makes the whole frame unreadable. Memory blocks work with a live
 * target and in files, so static data is shown as memory at a non-canonical address, in this form:
 *
 *   u32 bytes of the record, u32 bytes of the description, the record, the description
 *
 * The description is text: the event's id, then one line for each field,
 *   OFFSET SIZE SIGNED NAME TYPE...
 */
#define GTP_SDATA_ADDR 0x7364617461000000ULL /* "sdata" */

enum {
	GTP_SDATA_HEAD = 8,
	GTP_SDATA_RECORD_MAX = 32768,
	GTP_SDATA_TEXT_MAX = 32752, /* record, description and head fit into one block of a file */
};

/**
 * struct gtp_sdata_format - describes the records of one location
 * @next: the format of the records of another location
 * @addr: the address of the location
 * @len: the size of @text, at most GTP_SDATA_TEXT_MAX
 * @text: the description
 */
struct gtp_sdata_format {
	struct gtp_sdata_format *next;
	u64 addr;
	u32 len;
	char text[];
};

/* gtp_sdata_block - return the block of the frame that has a kernel event's record, or NULL */
const struct gtp_block *gtp_sdata_block(const struct gtp_frame *f);

/* gtp_sdata_find - return the description of a frame's record, or NULL */
const struct gtp_sdata_format *gtp_sdata_find(const struct gtp_sdata_format *list,
					      const struct gtp_frame *f);

/* gtp_sdata_size - return the size of a frame's static data as memory; 0 if there is none */
u32 gtp_sdata_size(const struct gtp_frame *f, const struct gtp_sdata_format *list);

/**
 * gtp_sdata_read() - read a part of a frame's static data as memory
 * @f: the frame
 * @list: the descriptions
 * @offset: the offset of the first byte wanted, counted from GTP_SDATA_ADDR
 * @dst: receives the bytes
 * @len: the number of bytes wanted
 *
 * Return: the number of bytes copied, less than @len only at the end.
 */
u32 gtp_sdata_read(const struct gtp_frame *f, const struct gtp_sdata_format *list, u64 offset,
		   u8 *dst, u32 len);

#endif /* _GTP_SDATA_H */
