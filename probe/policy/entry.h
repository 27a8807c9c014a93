/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the function tracer's site at a function's entry. */
#ifndef _GTP_ENTRY_H
#define _GTP_ENTRY_H

#include <linux/types.h>

enum { GTP_ENTRY_SITE = 5 }; /* bytes of a site */

/**
 * gtp_entry_idle() - find the function tracer's site at a function's entry, if it is a no-op now
 * @addr: the function's first address
 *
 * The site is at @addr, or after an endbr64 there. An enabled site looks like any other call.
 * Context: process, under gtp_lock.
 * Return: the site's address; 0 if there is none, or if @addr is not a function's first address.
 */
u64 gtp_entry_idle(u64 addr);

/**
 * gtp_entry_ask() - find out whether the function tracer has a record of a site, and so owns it
 * @addr: the address of the site; a function's first address also finds a site further on in the
 *        function
 *
 * Context: process, under gtp_lock; may sleep.
 * Return: 0 if there is a record; -EINVAL if not; -ENOMEM; another -errno if the kernel has no
 * function tracer.
 */
int gtp_entry_ask(u64 addr);

/* gtp_entry_exit - free the filter at module exit. Context: process */
void gtp_entry_exit(void);

#endif /* _GTP_ENTRY_H */
