// SPDX-License-Identifier: GPL-2.0-only
/*
 * Things that are begun at one place and finished at another, by the same CPU or another one; a
 * mutex; memory that is allocated and not freed.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched/clock.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "gtp_target.h"

enum {
	BOXES = 64,
	SPARE = 128, /* a loop's CPUs need one thing each, and each box has room for one */
	LEAKS = 4096,
	LEAK_BYTES = 40,
	THINGS = 8, /* those of calls, by number */
};

/*
 * struct gtp_target_thing - @number: the number of its last beginning; @before, @after: the clock
 * before and after that call
 */
struct gtp_target_thing {
	u64 number;
	u64 before, after;
};

static struct gtp_target_thing things[THINGS + SPARE];
static struct gtp_target_thing *box[BOXES];
static atomic_t spare = ATOMIC_INIT(0);
static atomic64_t numbers = ATOMIC64_INIT(0);
static atomic64_t inner = ATOMIC64_INIT(0), outer = ATOMIC64_INIT(0);

GTP_TARGET_FN u64 gtp_target_begin(struct gtp_target_thing *t, u64 number)
{
	return t->number + number;
}

GTP_TARGET_FN u64 gtp_target_finish(struct gtp_target_thing *t, u64 number)
{
	return t->number - number;
}

static void begin(struct gtp_target_thing *t)
{
	gtp_target_count(GTP_TARGET_COUNT_begin);
	t->number = atomic64_inc_return(&numbers);
	t->before = local_clock();
	gtp_target_begin(t, t->number);
	t->after = local_clock();
}

static void finish(struct gtp_target_thing *t)
{
	u64 before = local_clock();

	gtp_target_count(GTP_TARGET_COUNT_finish);
	gtp_target_finish(t, t->number);
	atomic64_add(before - t->after, &inner);
	atomic64_add(local_clock() - t->before, &outer);
}

/* Return a thing that nobody has, or NULL if there is none any more. */
static struct gtp_target_thing *take_spare(void)
{
	int n = atomic_inc_return(&spare) - 1;

	return n < SPARE ? &things[THINGS + n] : NULL;
}

/*
 * Begin the thing in this CPU's hand, and exchange it for the one in a box, which some CPU has
 * begun. Finish that one.
 */
void gtp_target_pair_round(u64 i)
{
	static DEFINE_PER_CPU(struct gtp_target_thing *, hand);
	int cpu = raw_smp_processor_id(); /* a loop's thread stays on its CPU */
	struct gtp_target_thing *t = per_cpu(hand, cpu);

	if (!t)
		t = take_spare();
	if (!t)
		return;
	begin(t);
	t = xchg(&box[(i + cpu) % BOXES], t);
	if (t)
		finish(t);
	per_cpu(hand, cpu) = t;
}

/* --- a mutex, and memory --- */

static DEFINE_MUTEX(gtp_target_guard);

static GTP_TARGET_FN u64 gtp_target_guarded(u32 ms)
{
	u64 start;

	mutex_lock(&gtp_target_guard);
	start = local_clock();
	msleep(ms);
	start = local_clock() - start;
	mutex_unlock(&gtp_target_guard);
	return start;
}

static void *leaked[LEAKS];
static u32 nleaked;

static GTP_TARGET_FN int gtp_target_leak(u32 n)
{
	for (; n && nleaked < LEAKS; n--, nleaked++) {
		leaked[nleaked] = kmalloc(LEAK_BYTES, GFP_KERNEL);
		if (!leaked[nleaked])
			return -ENOMEM;
	}
	return n ? -ENOSPC : 0;
}

static void unleak(u32 n)
{
	for (; n && nleaked; n--)
		kfree(leaked[--nleaked]);
}

void gtp_target_pair_exit(void)
{
	unleak(LEAKS);
}

/* --- /proc/gtp_target --- */

static u64 guarded;

/*
 * Obey one of these lines:
 *	begin N		begin thing number N
 *	finish N	finish it
 *	guarded MS	hold a mutex for that long; "value guarded" is the time in ns
 *	leak N		allocate N pieces of memory
 *	unleak N	free the last N of them
 */
int gtp_target_pair_call(const char *what)
{
	u32 n;

	if (sscanf(what, "begin %u", &n) == 1 && n < THINGS)
		begin(&things[n]);
	else if (sscanf(what, "finish %u", &n) == 1 && n < THINGS)
		finish(&things[n]);
	else if (sscanf(what, "guarded %u", &n) == 1)
		guarded = gtp_target_guarded(n);
	else if (sscanf(what, "leak %u", &n) == 1)
		return gtp_target_leak(n);
	else if (sscanf(what, "unleak %u", &n) == 1)
		unleak(n);
	else
		return -EINVAL;
	return 0;
}

void gtp_target_pair_show(struct seq_file *m)
{
	seq_printf(m, "value pair_inner %lld\n", atomic64_read(&inner));
	seq_printf(m, "value pair_outer %lld\n", atomic64_read(&outer));
	seq_printf(m, "value guarded %llu\n", guarded);
}
