/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the addresses to which signal handlers of another process will return. */
#ifndef _GTP_FRAMES_H
#define _GTP_FRAMES_H

#include "user/process/process.h"

/*
 * gtp_frames_possible - true if the process has a signal handler at all, so that its stacks are
 * worth a search
 */
bool gtp_frames_possible(const struct gtp_process *p);

/**
 * gtp_frames_walk() - call a function for each signal frame on a thread's stack
 * @tid: the thread; no thread of its process runs
 * @sp: the thread's stack pointer
 * @fn: the function: @at is where the frame has the interrupted address, @ip is that address
 * @arg: passed to @fn
 *
 * Follows the interrupted stack pointers, from an alternate stack for example. Looks at most
 * GTP_FRAMES_DEPTH bytes up each stack. Old frames that the program no longer uses may be among
 * those that are found.
 *
 * Return: 0, or the first result of @fn that is not 0.
 */
int gtp_frames_walk(u32 tid, u64 sp, int (*fn)(void *arg, u64 at, u64 ip), void *arg);

enum { GTP_FRAMES_DEPTH = 256 << 10 };

#endif /* _GTP_FRAMES_H */
