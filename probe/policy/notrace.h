/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds out whether a function takes no probe because tracers themselves call it. */
#ifndef _GTP_NOTRACE_H
#define _GTP_NOTRACE_H

#include <linux/types.h>

/**
 * gtp_notrace() - find out whether the function at an address is excluded from function tracing
 * @addr: the address of any instruction of the function
 *
 * The function tracer, perf's events, BPF, and functions that they call are compiled without a
 * function tracer's site (`notrace` in the source), because otherwise a tracer would trace its own
 * calls, without end. A probe there has no such protection: handling its exception or its single
 * step calls traced functions, and their tracer calls the probed function again. The kernel's probe
 * events refuse such functions by the same test
 *
 * Context: process, under gtp_lock; may sleep.
 * Return: 1: the function has no site; 0: it has one, or there is no function at @addr, or no
 * function tracer in this kernel; -ENOMEM.
 */
int gtp_notrace(u64 addr);

/*
 * gtp_notrace_forget - drop the last result of gtp_notrace(), because functions may change now.
 * Context: process, under gtp_lock
 */
void gtp_notrace_forget(void);

#endif /* _GTP_NOTRACE_H */
