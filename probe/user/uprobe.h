/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions for all hits in programs: they keep the task on its CPU, fetch memory, and set uprobes.
 */
#ifndef _GTP_UPROBE_H
#define _GTP_UPROBE_H

#include <linux/atomic.h>

#include "base/compat.h"
#include "hit/fetch.h"
#include "kernel/hit/user_kernel.h"
#include "probe/user/files.h"

/* --- in a hit --- */

/**
 * struct gtp_uprobe_moment - the time in which the task stays on its CPU
 * @cpu: the struct gtp_cpu of that CPU; NULL: the CPU has no buffer
 * @flags, @tell: the interrupt state before that time
 */
struct gtp_uprobe_moment {
	struct gtp_cpu *cpu;
	unsigned long flags;
	bool tell;
};

/* gtp_uprobe_enter - turn interrupts off; count the hit in @missed if the CPU has no buffer */
struct gtp_uprobe_moment gtp_uprobe_enter(atomic_long_t *missed, struct gtp_user_hit *user);

/* gtp_uprobe_leave - restore the interrupt state */
void gtp_uprobe_leave(const struct gtp_uprobe_moment *m);

/**
 * struct gtp_uprobe_place - a location in a program, as its hits need it
 * @user: the part that expressions need
 * @second: the probe is on the long nop after a marker's nop, one byte after the location
 */
struct gtp_uprobe_place {
	struct gtp_user_place user;
	bool second;
};

/*
 * gtp_uprobe_user - return the hit of a place, at address @at in the task; @place and @regs must
 * outlive the returned struct
 */
static inline struct gtp_user_hit gtp_uprobe_user(const struct gtp_uprobe_place *place, u64 at,
						  const struct gtp_regs *regs)
{
	return (struct gtp_user_hit){ .place = &place->user, .at = at, .regs = regs };
}

/*
 * gtp_uprobe_fetch - have gtp_fetch() read the task's memory, and wait for it. Return: false if the
 * task has been killed meanwhile, so that memory may be missing
 */
bool gtp_uprobe_fetch(struct gtp_fetch *f, const struct gtp_location *loc,
		      const struct gtp_regs *regs, struct gtp_user_hit *user);

/* --- setting and removing uprobes, under gtp_lock --- */

/* gtp_uprobe_by_worker - have a worker call @fn(@arg), wait for it, and return the result */
int gtp_uprobe_by_worker(int (*fn)(void *arg), void *arg);

/* gtp_uprobe_explain - put an error of the kernel into words; return the error for ->arm */
int gtp_uprobe_explain(int err, struct gtp_why *why);

/*
 * gtp_uprobe_check - find a location's file; return 0, or -errno with @why if it takes no probe
 */
int gtp_uprobe_check(const struct gtp_location *loc, struct gtp_file_space **file,
		     struct gtp_why *why);

/**
 * gtp_uprobe_put() - set the place of a probe in the file, and the semaphore that counts the probe
 * @u: the probe
 * @file: the file that contains the place
 * @linked: the link-time address of the place in the file's code
 * @why: the refusal
 *
 * The kernel refuses two probes at one instruction of which only one has a semaphore. So all probes
 * at a marker's place have its semaphore.
 * Return: 1 if a marker is there; 0 if not; -errno with @why.
 */
int gtp_uprobe_put(struct gtp_uprobe *u, struct gtp_file_space *file, u64 linked,
		   struct gtp_why *why);

/*
 * gtp_uprobe_put_at - do gtp_uprobe_put() for a location, and fill in @place; return 0, or -errno
 * with @why
 */
int gtp_uprobe_put_at(struct gtp_uprobe *u, struct gtp_uprobe_place *place,
		      struct gtp_file_space *file, const struct gtp_location *loc,
		      struct gtp_why *why);

#endif /* _GTP_UPROBE_H */
