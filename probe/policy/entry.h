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

/**
 * gtp_entry_ask() - has the function tracer a record of a site, so that only it changes that?
 * @addr: the site; a function's first address stands for a site anywhere in it
 *
 * Context: process, gtp_lock; may sleep.
 * Return: 0: it has; -EINVAL: it has none; -ENOMEM; another -errno: there is no function tracer.
 */
int gtp_entry_ask(u64 addr);

/* gtp_entry_exit - at the end of the module. Context: process */
void gtp_entry_exit(void);

#endif /* _GTP_ENTRY_H */
