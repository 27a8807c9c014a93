/* SPDX-License-Identifier: GPL-2.0-only */
/* The whole analysis of an image: every place that control may arrive at, from all evidence. */
#ifndef _GTP_LEADERS_H
#define _GTP_LEADERS_H

#include "regions/text.h"

/**
 * gtp_leaders_find() - analyse an image for one kind of CPU
 * @text: receives it; the caller frees it with gtp_text_free()
 * @image: the file with the code
 * @debug: the file with the line table; @image itself where that is one file
 * @cpu: what the kernel makes of returns there
 */
void gtp_leaders_find(struct gtp_text *text, const struct gtp_image *image,
		      const struct gtp_image *debug, enum gtp_cpu cpu);

#endif /* _GTP_LEADERS_H */
