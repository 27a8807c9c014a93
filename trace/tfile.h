/* SPDX-License-Identifier: GPL-2.0-only */
/* A frame in the form of GDB's trace files. */
#ifndef _GTP_TFILE_H
#define _GTP_TFILE_H

#include "base/base.h"
#include "trace/frame.h"
#include "trace/sdata.h"

/*
 * gtp_tfile_frame_size - return the size of a frame's image: u16 tp, u32 size, blocks 'R' 'M' 'V'
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
 * All collected registers are in one R block, the first. The format cannot mark a register as not
 * collected: it reads as 0 offline, where the g packet (see gtp_tfile_g_image()) shows it as
 * unavailable. A frame without registers therefore has no R block: GDB shows its registers as
 * unavailable and takes pc from the tracepoint's address, as it does online. A tracepoint with
 * several locations needs the pc to tell them apart: such a frame gets an R block with pc, although
 * the other registers then read as 0.
 *
 * Return: the number of bytes copied, less than @len only at the image's end.
 */
u32 gtp_tfile_read_frame(const struct gtp_frame *f, const struct gtp_sdata_format *formats,
			 u32 offset, u8 *dst, u32 len);

/*
 * gtp_tfile_g_image - make a frame's g packet, GTP_G_PACKET_BYTES; @known (or NULL) receives 0xff
 * for each known byte
 */
void gtp_tfile_g_image(const struct gtp_frame *f, u8 *image, u8 *known);

#endif /* _GTP_TFILE_H */
