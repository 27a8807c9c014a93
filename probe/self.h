/* SPDX-License-Identifier: GPL-2.0-only */
/* Keeps hits of GDB's own tasks, and of the reader of frames, from being traced. */
#ifndef _GTP_SELF_H
#define _GTP_SELF_H

#include <linux/compiler.h>
#include <linux/sched.h>

#include "hit/run.h"

/* enum gtp_self - the processes whose tasks are not traced, by the file that each has open */
enum gtp_self {
	GTP_SELF_GDB,	 /* /proc/gtp */
	GTP_SELF_READER, /* /proc/gtpframe_pipe */
	GTP_SELVES,
};

/*
 * gtp_self_set - set the process that has the file of @which open; NULL: there is none. A later
 * process with the same PID is not mistaken for this one. Context: process, under gtp_lock
 */
void gtp_self_set(enum gtp_self which, struct pid *tgid);

/* gtp_self_skipped - return how many hits of these processes were skipped */
u64 gtp_self_skipped(void);

/*
 * gtp_self_skip - true if the hit's task is not traced, in which case the hit is counted. Call it
 * after gtp_self_maybe().
 * @context: preempt_count() of the code that was hit. Context: a hit at @loc, on this CPU
 */
bool gtp_self_skip(const struct gtp_location *loc, unsigned int context);

/*
 * struct gtp_self_test - @mask: the bits in which the PIDs of the processes agree; @value: these
 * bits
 */
struct gtp_self_test {
	pid_t mask, value;
};

extern struct gtp_self_test gtp_self_test;

/*
 * gtp_self_maybe - false if the task cannot belong to either process. This test is cheap, one
 * comparison for both processes, and so comes before gtp_self_skip(). If there are two processes,
 * tasks of some others pass the test, too
 */
static inline bool gtp_self_maybe(void)
{
	return (current->tgid & READ_ONCE(gtp_self_test.mask)) == READ_ONCE(gtp_self_test.value);
}

#endif /* _GTP_SELF_H */
