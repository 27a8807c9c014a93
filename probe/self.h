/* SPDX-License-Identifier: GPL-2.0-only */
/* GDB's own tasks, and those of the reader of frames, which are not traced. */
#ifndef _GTP_SELF_H
#define _GTP_SELF_H

#include <linux/compiler.h>
#include <linux/sched.h>

#include "hit/run.h"

/* enum gtp_self - processes whose tasks are not traced, by the file that they have open */
enum gtp_self {
	GTP_SELF_GDB,	 /* /proc/gtp */
	GTP_SELF_READER, /* /proc/gtpframe_pipe */
	GTP_SELVES,
};

/*
 * gtp_self_set - the process, which is not taken for another one that has its number later; NULL:
 * none. Context: process, gtp_lock
 */
void gtp_self_set(enum gtp_self which, struct pid *tgid);

/* gtp_self_skipped - number of hits skipped for them */
u64 gtp_self_skipped(void);

/*
 * gtp_self_skip - at a hit, when gtp_self_maybe(): is the task not to be traced? Counts it then.
 * @context: preempt_count() of the code that was hit. Context: a hit at @loc, this CPU
 */
bool gtp_self_skip(const struct gtp_location *loc, unsigned int context);

/* struct gtp_self_test - @value: the bits of @mask that the processes' numbers have in common */
struct gtp_self_test {
	pid_t mask, value;
};

extern struct gtp_self_test gtp_self_test;

/*
 * gtp_self_maybe - false: it is none of them; the cheap test before gtp_self_skip(), one comparison
 * for both. Where there are two, some other processes pass it
 */
static inline bool gtp_self_maybe(void)
{
	return (current->tgid & READ_ONCE(gtp_self_test.mask)) == READ_ONCE(gtp_self_test.value);
}

#endif /* _GTP_SELF_H */
