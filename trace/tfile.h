/* SPDX-License-Identifier: GPL-2.0-only */
/* A frame in the form of GDB's trace files. */
#ifndef _GTP_TFILE_H
#define _GTP_TFILE_H

#include "base/base.h"
#include "trace/frame.h"
#include "trace/sdata.h"

/* gtp_tfile_frame_size - bytes of a frame's image: u16 tp, u32 size, blocks 'R' 'M' 'V' */
u32 gtp_tfile_frame_size(const struct gtp_frame *f, const struct gtp_sdata_format *formats);

/**
 * gtp_tfile_read_frame() - part of a frame's image
 * @f: the frame
 * @formats: descriptions of static data
 * @offset: first byte wanted
 * @dst: receives the bytes
 * @len: how many at most
 *
 * All registers that were collected are in one R block, the first. Such a file cannot say that a
 * register is not known: what was not collected reads as 0 offline, where the g packet (see
 * gtp_tfile_g_image()) says so. A frame that collected no register has no R block therefore: GDB
 * shows its registers as unavailable, and takes pc from the tracepoint's address, as it does
 * online. Only where that address is one of several does such a frame get an R block, with pc in
 * it: which place was hit is worth more than that the others are unavailable.
 *
 * Return: bytes copied, less than @len only at the image's end.
 */
u32 gtp_tfile_read_frame(const struct gtp_frame *f, const struct gtp_sdata_format *formats,
			 u32 offset, u8 *dst, u32 len);

/*
 * gtp_tfile_g_image - a frame's g packet, GTP_G_PACKET_BYTES; @known (or NULL) gets 0xff where it
 * is known
 */
void gtp_tfile_g_image(const struct gtp_frame *f, u8 *image, u8 *known);

#endif /* _GTP_TFILE_H */
