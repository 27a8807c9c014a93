/* SPDX-License-Identifier: GPL-2.0-only */
/* A part of something that is larger than a packet. */
#ifndef _GTP_PART_H
#define _GTP_PART_H

#include "base/base.h"

/* struct gtp_part - @n bytes from @offset on of a whole that has @size bytes */
struct gtp_part {
	u32 offset, size;
	const u8 *bytes;
	u32 n;
};

#endif /* _GTP_PART_H */
