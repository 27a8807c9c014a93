/* SPDX-License-Identifier: GPL-2.0-only */
/* Frames in the form of GDB's trace files: block images, the raw stream, the whole file. */
#ifndef _GTP_TFILE_H
#define _GTP_TFILE_H

#include <gtp/base.h>
#include "trace/index.h"

/* gtp_tfile_frame_size - bytes of a frame's image: u16 tp, u32 size, blocks 'R' 'M' 'V' */
u32 gtp_tfile_frame_size(const struct gtp_frame *f);

/**
 * gtp_tfile_read_frame() - part of a frame's image
 * @f: the frame
 * @offset: first byte wanted
 * @dst: receives the bytes
 * @len: how many at most
 *
 * A frame without an R block gets one when it has registers to tell (rip is always known), so that GDB offline
 * shows the same as online. MEM blocks above 65535 bytes become several.
 * Return: bytes copied, less than @len only at the image's end.
 */
u32 gtp_tfile_read_frame(const struct gtp_frame *f, u32 offset, u8 *dst, u32 len);

/**
 * gtp_tfile_read_raw() - part of the raw stream: all frames' images, one after another (qTBuffer)
 * @ix: the index
 * @offset: first byte wanted
 * @dst: receives the bytes
 * @len: how many at most
 *
 * Return: bytes copied; 0 at the end.
 */
u32 gtp_tfile_read_raw(const struct gtp_index *ix, u64 offset, u8 *dst, u32 len);

/* gtp_tfile_g_image - the g packet of a frame: GTP_G_PACKET_BYTES bytes and which of them are known (0xff) */
void gtp_tfile_g_image(const struct gtp_frame *f, u8 *image, u8 *known);

#endif /* _GTP_TFILE_H */
