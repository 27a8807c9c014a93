/* SPDX-License-Identifier: GPL-2.0-only */
/* Decides which places take no probe, or no jump, although the kernel itself allows one. */
#ifndef _GTP_BLACKLIST_H
#define _GTP_BLACKLIST_H

#include <linux/types.h>

/*
 * gtp_blacklist_probe - return, in words, why no probe may be at an address; gtp_blacklist_jump -
 * return why no jump may be there. NULL: it is allowed. Context: process, under gtp_lock
 */
const char *gtp_blacklist_probe(u64 addr);
const char *gtp_blacklist_jump(u64 addr);

#endif /* _GTP_BLACKLIST_H */
