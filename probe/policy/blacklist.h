/* SPDX-License-Identifier: GPL-2.0-only */
/* Where no probe may be, or no jump, though the kernel itself allows one. */
#ifndef _GTP_BLACKLIST_H
#define _GTP_BLACKLIST_H

#include <linux/types.h>

/*
 * gtp_blacklist_probe - why no probe of any kind may be at an address; gtp_blacklist_jump - why no
 * jump may be there. In words; NULL: it is allowed. Context: process, under gtp_lock
 */
const char *gtp_blacklist_probe(u64 addr);
const char *gtp_blacklist_jump(u64 addr);

#endif /* _GTP_BLACKLIST_H */
