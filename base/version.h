/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The project's version. The module and the Makefile take it from this file, and tests/structure
 * compares dkms.conf and CHANGELOG.md with it.
 */
#ifndef _GTP_VERSION_H
#define _GTP_VERSION_H

#define GTP_VERSION "0.1.0"

#endif /* _GTP_VERSION_H */
