// SPDX-License-Identifier: GPL-2.0-only
/* Functions whose returns the tests trace, and tasks that sleep or end in such a function. */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/stacktrace.h>
#include <linux/wait.h>

#include "gtp_target.h"

static DECLARE_WAIT_QUEUE_HEAD(released_queue);
static bool released;
static atomic_t inside = ATOMIC_INIT(0);

/* Change the value at the pointer, so that it differs between entry and return. */
GTP_TARGET_FN int gtp_target_out(int n, long *out)
{
	*out = n * 2L;
	return -n;
}

/* Recurse @n times; each call has only the return address on the stack. */
GTP_TARGET_FN long gtp_target_recurse(long n)
{
	long depth = 0;

	if (n) {
		depth = gtp_target_recurse(n - 1);
		asm volatile("" : "+r"(depth));
		depth++;
	}
	return depth;
}

/* The call in this function is a tail call: a jump. */
GTP_TARGET_FN long gtp_target_tail(long n)
{
	return gtp_target_add(n, 1);
}

/* The last two arguments are on the stack. */
GTP_TARGET_FN long gtp_target_eight(long a, long b, long c, long d, long e, long f, long g, long h)
{
	return a + 10 * (b + c + d + e + f) + 100 * g + 1000 * h;
}

/* A struct that is passed by value is on the stack, too. */
GTP_TARGET_FN long gtp_target_triple(struct gtp_target_triple t, long n)
{
	return t.x + 10 * t.y + 100 * t.z + n;
}

/* Wait in the idle state, so that the kernel does not report the task as hung. */
GTP_TARGET_FN long gtp_target_wait(long n)
{
	atomic_inc(&inside);
	wait_event_idle(released_queue, READ_ONCE(released));
	atomic_dec(&inside);
	return n * 2;
}

GTP_TARGET_FN long gtp_target_sink(long n)
{
	long depth = 0;

	if (n) {
		depth = gtp_target_sink(n - 1);
		asm volatile("" : "+r"(depth));
		depth++;
	} else {
		gtp_target_wait(n);
	}
	return depth;
}

static unsigned long frames[32];
static u32 nframes;

GTP_TARGET_FN long gtp_target_stack(long n)
{
	nframes = stack_trace_save(frames, ARRAY_SIZE(frames), 0);
	dump_stack_lvl(KERN_DEBUG);
	return nframes;
}

void *gtp_target_stack_nth(u32 n)
{
	return n < nframes ? (void *)frames[n] : NULL;
}

static DECLARE_COMPLETION(exited);

/* Unless @n is negative, the task ends in this function, which then never returns. */
GTP_TARGET_FN long gtp_target_exit(long n)
{
	if (n >= 0)
		kthread_complete_and_exit(&exited, n);
	return n;
}

static int exiting(void *n)
{
	gtp_target_count(GTP_TARGET_COUNT_exit);
	return gtp_target_exit((long)n);
}

int gtp_target_exits(long n)
{
	struct task_struct *t;

	reinit_completion(&exited);
	t = kthread_run(exiting, (void *)n, "gtp_target/exit");
	if (IS_ERR(t))
		return PTR_ERR(t);
	wait_for_completion(&exited);
	return 0;
}

/* Each task of the crowd completes this when it ends, in code outside this module. */
static DECLARE_COMPLETION(finished);
static u32 crowd, depth_of_crowd;

static int waiting(void *n)
{
	gtp_target_count(GTP_TARGET_COUNT_wait);
	if (depth_of_crowd)
		gtp_target_sink(depth_of_crowd);
	else
		gtp_target_wait((long)n);
	kthread_complete_and_exit(&finished, 0);
	return 0;
}

int gtp_target_crowd(u32 count, u32 depth)
{
	struct task_struct *t;

	if (crowd)
		return -EBUSY;
	WRITE_ONCE(released, false);
	depth_of_crowd = depth;
	for (; crowd < count; crowd++) {
		t = kthread_run(waiting, (void *)(long)crowd, "gtp_target/wait");
		if (IS_ERR(t))
			return PTR_ERR(t);
	}
	while (atomic_read(&inside) < crowd)
		msleep(20);
	return 0;
}

void gtp_target_release(void)
{
	WRITE_ONCE(released, true);
	wake_up_all(&released_queue);
	for (; crowd; crowd--)
		wait_for_completion(&finished);
}
