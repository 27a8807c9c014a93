/* SPDX-License-Identifier: GPL-2.0-only */
/* The function tracer's site at a function's entry. */
#ifndef _GTP_ENTRY_H
#define _GTP_ENTRY_H

#include <linux/types.h>

enum { GTP_ENTRY_SITE = 5 }; /* bytes */

/**
 * gtp_entry_idle() - the site of a function's entry, when it is a no-op now
 * @addr: the function's first address
 *
 * At @addr, or behind an endbr64 there. A site that is enabled already looks like any other call.
 * Context: process, gtp_lock.
 * Return: its address; 0: there is none, or it is no function's first address.
 */
u64 gtp_entry_idle(u64 addr);

/* gtp_entry_is_traced - has ftrace a record of the site, so that only it changes it? gtp_lock */
bool gtp_entry_is_traced(u64 site);

#endif /* _GTP_ENTRY_H */
