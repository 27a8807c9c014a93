/* SPDX-License-Identifier: GPL-2.0-only */
/* What others have to say about a place: where kprobes are, armed or not, and where none may be. */
#ifndef _GTP_KPROBE_LIST_H
#define _GTP_KPROBE_LIST_H

#include <linux/types.h>

/*
 * Under gtp_host.lock, may sleep.
 */

/* gtp_kprobe_list_read - read the kernel's list of kprobes, if it shows one; 0 or -ENOMEM */
int gtp_kprobe_list_read(void);

/**
 * gtp_kprobe_list_in() - is there a kprobe, armed or not, in [@start, @end)?
 * @start, @end: a few bytes of code
 *
 * As of gtp_kprobe_list_read(), if debugfs has told it (kprobes of our own are in that list, too);
 * otherwise each address is tried, as of now.
 */
bool gtp_kprobe_list_in(u64 start, u64 end);

/**
 * gtp_kprobe_list_blacklisted() - is a place on the kernel's list of what must not be probed?
 * @addr: the place
 * @name: of its symbol: what the compiler has split off a listed function counts as listed
 *
 * Return: 0 no, 1 yes, -ENOENT: the list cannot be read here.
 */
int gtp_kprobe_list_blacklisted(u64 addr, const char *name);

/* gtp_kprobe_list_forget - free both lists; they are read again when they are needed */
void gtp_kprobe_list_forget(void);

#endif /* _GTP_KPROBE_LIST_H */
