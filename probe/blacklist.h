/* SPDX-License-Identifier: GPL-2.0-only */
/* Where no probe may be, or no jump, though the kernel itself allows one. */
#ifndef _GTP_BLACKLIST_H
#define _GTP_BLACKLIST_H

#include <linux/types.h>

/*
 * gtp_blacklist_probe - why no probe may be at an address, whatever its kind; gtp_blacklist_jump - why
 * none may be a jump. In words, NULL: nothing is against it. Context: process, under gtp_lock
 */
const char *gtp_blacklist_probe(u64 addr);
const char *gtp_blacklist_jump(u64 addr);

#endif /* _GTP_BLACKLIST_H */
