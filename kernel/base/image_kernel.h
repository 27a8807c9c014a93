/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the address of the running kernel's image, and the kernel's build-id. */
#ifndef _GTP_IMAGE_KERNEL_H
#define _GTP_IMAGE_KERNEL_H

#include <linux/types.h>

/* gtp_image_init - find the address and the build-id of the kernel once, at module init */
void gtp_image_init(void);

/* gtp_image_text - return the run-time address of _text; 0: not known */
u64 gtp_image_text(void);

/* gtp_image_build_id - return the kernel's build-id in lower-case hex; "": not known */
const char *gtp_image_build_id(void);

/**
 * gtp_image_note_id() - find the build-id in a block of ELF notes
 * @notes: the notes
 * @len: the size of @notes
 * @id: receives the address of the build-id in @notes
 *
 * Return: the length of the build-id in bytes; 0: there is none.
 */
size_t gtp_image_note_id(const u8 *notes, size_t len, const u8 **id);

#endif /* _GTP_IMAGE_KERNEL_H */
