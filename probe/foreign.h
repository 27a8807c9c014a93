/* SPDX-License-Identifier: GPL-2.0-only */
/* What others have to say about a place: where kprobes are, armed or not, and where none may be. */
#ifndef _GTP_FOREIGN_H
#define _GTP_FOREIGN_H

#include <linux/types.h>

/*
 * Under gtp_host.lock, may sleep.
 */

/* gtp_foreign_read - read the kernel's list of kprobes, if it shows one; 0 or -ENOMEM */
int gtp_foreign_read(void);

/* gtp_foreign_in - is there one in [@start, @end)? Without the list each address is tried */
bool gtp_foreign_in(u64 start, u64 end);

/**
 * gtp_foreign_blacklist() - is a place on the kernel's list of what must not be probed?
 * @addr: the place
 * @name: of its symbol: what the compiler has split off a listed function counts as listed
 *
 * Return: 0 no, 1 yes, -ENOENT: the list cannot be read here.
 */
int gtp_foreign_blacklist(u64 addr, const char *name);

/* gtp_foreign_forget - free both lists; they are read again when they are needed */
void gtp_foreign_forget(void);

#endif /* _GTP_FOREIGN_H */
