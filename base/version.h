/* SPDX-License-Identifier: GPL-2.0-only */
/* The project's version, as the module, the tools and `monitor version` say it. */
#ifndef _GTP_VERSION_H
#define _GTP_VERSION_H

#define GTP_VERSION "0.1.0" /* the same as in dkms.conf */

#endif /* _GTP_VERSION_H */
