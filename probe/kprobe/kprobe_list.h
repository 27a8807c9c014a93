/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's lists of kprobes, armed or not, and of code that must not be probed. */
#ifndef _GTP_KPROBE_LIST_H
#define _GTP_KPROBE_LIST_H

#include <linux/types.h>

/* Context of all functions: process, under gtp_lock; they may sleep. */

/**
 * gtp_kprobe_list_read() - read the list of the kernel's kprobes
 *
 * Unregisters the kprobes of probe/policy/probe_test.h first, so that the list does not contain
 * them.
 * Return: 0 or -ENOMEM.
 */
int gtp_kprobe_list_read(void);

/*
 * gtp_kprobe_list_need - read the list of kprobes, unless it was read since
 * gtp_kprobe_list_forget(); return 0 or -ENOMEM
 */
int gtp_kprobe_list_need(void);

/*
 * gtp_kprobe_list_flush - wait for registrations that have begun, and for the kernel's optimizer
 */
void gtp_kprobe_list_flush(void);

/*
 * gtp_kprobe_list_settle - wait until registrations that have begun are complete, then read the
 * list; return false if there is no memory
 */
bool gtp_kprobe_list_settle(void);

/**
 * gtp_kprobe_list_in() - true if there is a kprobe, armed or not, in [@start, @end)
 * @start, @end: a few bytes of code
 *
 * If debugfs shows the addresses, the answer is from the last gtp_kprobe_list_read(), our own
 * kprobes included. Otherwise a test kprobe is registered at each address now.
 */
bool gtp_kprobe_list_in(u64 start, u64 end);

/**
 * gtp_kprobe_list_blacklisted() - look a place up in the kernel's list of code that takes no probe
 * @addr: the address of the place
 * @name: the name of its symbol: a part that the compiler has split off a listed function counts as
 * listed
 *
 * Return: 1 if it is listed; 0 if not; -ENOENT: the list cannot be read here.
 */
int gtp_kprobe_list_blacklisted(u64 addr, const char *name);

/*
 * gtp_kprobe_list_forget - free both lists, and unregister the kprobes of probe/policy/probe_test.h
 */
void gtp_kprobe_list_forget(void);

/*
 * gtp_kprobe_list_close - gtp_kprobe_list_forget(), and close the file of the list of kprobes,
 * which stays open from the first gtp_kprobe_list_read() on; call it when no jump is left
 */
void gtp_kprobe_list_close(void);

#endif /* _GTP_KPROBE_LIST_H */
