/* SPDX-License-Identifier: GPL-2.0-only */
/* Disabled kprobes that ask the kernel what it thinks of an address. */
#ifndef _GTP_PROBE_TEST_H
#define _GTP_PROBE_TEST_H

#include <linux/types.h>

/*
 * Taking a kprobe off waits for a grace period, so they are kept and taken off all together. One
 * that has never been armed has changed no code and changes none when it goes. Under gtp_lock,
 * may sleep.
 */

/**
 * gtp_probe_test() - register a disabled kprobe and keep it
 * @addr: where
 * @on_ftrace: set when the kernel takes the address for a site of the function tracer; may be NULL
 * @company: set when kprobes of others are at the very same address; may be NULL
 *
 * Return: 0 or what register_kprobe() says.
 */
int gtp_probe_test(u64 addr, bool *on_ftrace, bool *company);

/* gtp_probe_test_end - take all of them off, with one wait */
void gtp_probe_test_end(void);

#endif /* _GTP_PROBE_TEST_H */
