/* SPDX-License-Identifier: GPL-2.0-only */
/* Convert a frame to the format of GDB's trace files. */
#ifndef _GTP_TFILE_H
#define _GTP_TFILE_H

#include "base/base.h"
#include "trace/frame.h"
#include "trace/sdata.h"

/*
 * gtp_tfile_frame_size - return the size of a frame's image in GDB's format: u16 tracepoint, u32
 * size, and blocks 'R', 'M', 'V'
 */
u32 gtp_tfile_frame_size(const struct gtp_frame *f, const struct gtp_sdata_format *formats);

/**
 * gtp_tfile_read_frame() - read a part of a frame's image
 * @f: the frame
 * @formats: the descriptions of static data
 * @offset: the offset in the image of the first byte wanted
 * @dst: receives the bytes
 * @len: the number of bytes wanted
 *
 * All collected registers are in one R block, which comes first. The format cannot mark a register
 * as not collected: in a trace file such a register reads as 0, while the g packet (see
 * gtp_tfile_g_image()) shows it as unavailable. So a frame without registers has no R block; GDB
 * then shows its registers as unavailable and takes pc from the tracepoint's address, as with a
 * live target. If the tracepoint has several locations, only pc distinguishes them: such a frame
 * gets an R block with pc, although the other registers then read as 0.
 *
 * Return: the number of bytes copied, less than @len only at the image's end.
 */
u32 gtp_tfile_read_frame(const struct gtp_frame *f, const struct gtp_sdata_format *formats,
			 u32 offset, u8 *dst, u32 len);

/*
 * gtp_tfile_g_image - write the GTP_G_PACKET_BYTES bytes of a frame's g packet; @known, if not
 * NULL, receives 0xff for each known byte
 */
void gtp_tfile_g_image(const struct gtp_frame *f, u8 *image, u8 *known);

#endif /* _GTP_TFILE_H */
