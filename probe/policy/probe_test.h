/* SPDX-License-Identifier: GPL-2.0-only */
/* Registers disabled kprobes, to find out whether the kernel accepts a kprobe at an address. */
#ifndef _GTP_PROBE_TEST_H
#define _GTP_PROBE_TEST_H

#include <linux/types.h>

/*
 * Unregistering waits for a grace period, so test kprobes are kept and unregistered together. A
 * kprobe that was never armed has changed no text, and changes none when it is unregistered.
 * Context of all functions: process, under gtp_lock; they may sleep.
 */

/**
 * gtp_probe_test() - register a disabled kprobe and keep it
 * @addr: the address of the kprobe
 * @on_ftrace: set if the address is an ftrace site; may be NULL
 * @company: set if other kprobes are at the address; may be NULL
 *
 * Return: 0 or the error of register_kprobe().
 */
int gtp_probe_test(u64 addr, bool *on_ftrace, bool *company);

/**
 * gtp_probe_test_function() - register a disabled kprobe at a function's first instruction
 * @name: the function, "MODULE:FUNCTION" where it is not the kernel's own
 * @on_ftrace: set if that instruction is an ftrace site
 *
 * Return: 0 or the error of register_kprobe(); -ENOENT: there is no such function.
 */
int gtp_probe_test_function(const char *name, bool *on_ftrace);

/* gtp_probe_test_end - unregister all test kprobes, with one wait */
void gtp_probe_test_end(void);

#endif /* _GTP_PROBE_TEST_H */
