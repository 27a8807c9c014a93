/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the build-id of the vDSO, which is in no file. */
#ifndef _GTP_VDSO_H
#define _GTP_VDSO_H

#include "probe/user/elf.h"

/**
 * gtp_vdso_read() - read the headers and the build-id of the calling process's vDSO
 * @elf: receives them
 *
 * All 64-bit processes have the same vDSO. Context: process; may sleep.
 * Return: 0 or -errno.
 */
int gtp_vdso_read(struct gtp_elf *elf);

#endif /* _GTP_VDSO_H */
