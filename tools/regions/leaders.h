/* SPDX-License-Identifier: GPL-2.0-only */
/* The whole analysis of an image: find every place at which control may arrive. */
#ifndef _RGN_LEADERS_H
#define _RGN_LEADERS_H

#include "tools/regions/text.h"

/**
 * rgn_leaders_find() - analyse an image for one kind of CPU
 * @text: receives the analysis
 * @image: the file with the code
 * @debug: the file with the line table; @image itself if it has one
 * @cpu: the form of returns on that CPU
 */
void rgn_leaders_find(struct rgn_text *text, const struct rgn_image *image,
		      const struct rgn_image *debug, enum rgn_cpu cpu);

#endif /* _RGN_LEADERS_H */
