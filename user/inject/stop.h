/* SPDX-License-Identifier: GPL-2.0-only */
/* Stops all threads of another process by ptrace, and releases them. */
#ifndef _GTP_STOP_H
#define _GTP_STOP_H

#include <sys/user.h>

#include "user/process/process.h"

/* The longest time, in ms, in which a stop may make no progress. */
enum { GTP_STOP_MS = 2000 };

/**
 * struct gtp_thread - a thread of a process that is being stopped
 * @tid: the thread's number
 * @stands: true if the thread is stopped and has not begun to run the program again
 * @gone: true if the thread has ended
 * @regs: the registers, if @stands
 */
struct gtp_thread {
	u32 tid;
	bool stands;
	bool gone;
	struct user_regs_struct regs;
};

/**
 * struct gtp_stop - the threads of a process that is stopped
 * @p: the process
 * @thread, @n, @room: its threads, in the order in which they were found
 * @options: the options of ptrace for each thread
 * @began_ns: when the first thread was interrupted, by CLOCK_MONOTONIC
 * @zombie: true if a thread's end was seen in its state, but could not be taken
 * @exec: true if the process began to execute another program during the stop
 *
 * A stopped thread has not lost a signal: if one was about to be delivered, it is delivered, so the
 * thread stands at its handler's first instruction. Later signals are pending.
 */
struct gtp_stop {
	const struct gtp_process *p;
	struct gtp_thread *thread;
	u32 n, room;
	u32 options;
	u64 began_ns;
	bool exec, zombie;
};

/**
 * gtp_stop_begin() - stop all threads
 * @s: receives the threads
 * @p: the process
 * @why: receives the reason for a refusal
 *
 * A system call that was waiting restarts after the release, also one that the kernel ends with
 * EINTR for each stop, such as epoll_wait().
 *
 * Return: 0; -ESRCH if the process has ended or executes another program; -EPERM if it may not be
 * traced; -ETIMEDOUT if a thread does not stop; or another -errno. After an error all threads run.
 */
int gtp_stop_begin(struct gtp_stop *s, const struct gtp_process *p, struct gtp_why *why);

/*
 * gtp_stop_end - release all threads, which are no longer traced then; a process that was stopped
 * by a signal remains stopped
 */
void gtp_stop_end(struct gtp_stop *s);

/* gtp_stop_set - write a standing thread's registers; return 0, or -ESRCH if it was killed */
int gtp_stop_set(struct gtp_thread *t);

/* gtp_stop_get - read a standing thread's registers; return 0, or -ESRCH if it was killed */
int gtp_stop_get(struct gtp_thread *t);

/**
 * gtp_stop_await() - wait until one thread stops
 * @s: the threads
 * @t: the thread, which the caller let run
 * @status: receives the status, as of waitpid()
 *
 * Return: 0, or -ESRCH if the thread has ended.
 */
int gtp_stop_await(struct gtp_stop *s, struct gtp_thread *t, int *status);

/*
 * gtp_stop_again - stop a thread again that gtp_stop_await() has stopped elsewhere, so that its
 * next return to the program treats interrupted system calls as after gtp_stop_begin(). The
 * registers are not read. Return 0 or -ESRCH
 */
int gtp_stop_again(struct gtp_stop *s, struct gtp_thread *t);

#endif /* _GTP_STOP_H */
