/* SPDX-License-Identifier: GPL-2.0-only */
/* Where kprobes are, armed or not, and where the kernel allows none: its own lists. */
#ifndef _GTP_KPROBE_LIST_H
#define _GTP_KPROBE_LIST_H

#include <linux/types.h>

/* All of it under gtp_lock, in process context; may sleep. */

/**
 * gtp_kprobe_list_read() - find out where kprobes are now
 *
 * Takes off the kprobes of probe/probe_test.h first, so that they are not among them.
 * Return: 0 or -ENOMEM.
 */
int gtp_kprobe_list_read(void);

/* gtp_kprobe_list_need - the same, unless that has been done since gtp_kprobe_list_forget() */
int gtp_kprobe_list_need(void);

/*
 * gtp_kprobe_list_settle - the same, of those included whose registration has begun; false: no
 * memory
 */
bool gtp_kprobe_list_settle(void);

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

/* gtp_kprobe_list_forget - free both lists, take off the kprobes of probe/probe_test.h */
void gtp_kprobe_list_forget(void);

#endif /* _GTP_KPROBE_LIST_H */
