/* SPDX-License-Identifier: GPL-2.0-only */
/* Lets a stopped thread of another process perform system calls. */
#ifndef _GTP_REMOTE_H
#define _GTP_REMOTE_H

#include "user/inject/maps.h"
#include "user/inject/stop.h"

/**
 * struct gtp_remote - a thread that performs system calls for us
 * @s, @t: the stopped process, and the thread
 * @saved: the thread's registers, with its interrupted system call
 * @mask: the signals that the thread blocks
 * @insn: the address of a syscall instruction
 */
struct gtp_remote {
	struct gtp_stop *s;
	struct gtp_thread *t;
	struct user_regs_struct saved;
	u64 mask;
	u64 insn;
};

/**
 * gtp_remote_begin() - choose a thread and prepare it
 * @r: receives the state
 * @s: the process, which is stopped
 * @insn: the address of a syscall instruction, from gtp_remote_find()
 * @why: receives the reason for a refusal
 *
 * Return: 0; -EPERM if each thread has a seccomp filter that this program may not suspend; -EAGAIN
 * if no thread can perform a call now; or another -errno.
 */
int gtp_remote_begin(struct gtp_remote *r, struct gtp_stop *s, u64 insn, struct gtp_why *why);

/*
 * gtp_remote_call - perform a system call that does not wait; return its result, or -ESRCH if the
 * process was killed
 */
s64 gtp_remote_call(struct gtp_remote *r, u64 nr, const u64 args[6]);

/* gtp_remote_end - restore the thread, which then stands as before; return 0 or -ESRCH */
int gtp_remote_end(struct gtp_remote *r);

/* gtp_remote_find - find a syscall instruction in a process; return its address, or 0 */
u64 gtp_remote_find(const struct gtp_process *p, const struct gtp_maps *maps);

#endif /* _GTP_REMOTE_H */
