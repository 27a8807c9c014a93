// SPDX-License-Identifier: GPL-2.0-only
/* Makes calls on all CPUs at once, also from interrupts, to test exact counts under contention. */
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/version.h>

#include "gtp_target.h"

static const u64 timer_ns = 300 * 1000;

enum { TICKS = 4 }; /* the loop goes on until each CPU has had this many timer interrupts */

/*
 * struct loop - the shared state of a loop's threads
 * @one: makes the calls of a round, whose number is the argument
 * @count: number of rounds for every CPU
 * @timer: also call gtp_target_irq() from timer interrupts
 * @holds: delay synchronize_rcu_tasks() until the loop is over
 * @go: lets all threads start together, so that they contend
 * @left: number of threads that are not finished; the last one completes @done
 */
struct loop {
	void (*one)(u64 i);
	u64 count;
	bool timer;
	bool holds;
	struct completion go;
	atomic_t left;
	struct completion done;
};

/* struct worker - one thread of a loop, its timer, and how often the timer has interrupted */
struct worker {
	struct loop *loop;
	struct task_struct *task;
	struct hrtimer timer;
	u32 ticks;
};

static void one_leaf(u64 i)
{
	gtp_target_count(GTP_TARGET_COUNT_leaf);
	gtp_target_leaf(i);
}

static void one_add(u64 i)
{
	gtp_target_count(GTP_TARGET_COUNT_add);
	gtp_target_add(i, raw_smp_processor_id());
}

static void one_obj(u64 i)
{
	gtp_target_count(GTP_TARGET_COUNT_obj);
	gtp_target_obj(&gtp_target_objs[i % GTP_TARGET_OBJS], i % GTP_TARGET_OBJS);
}

/* Write the watched variable. No value is written twice, on any CPU. */
static void one_watch(u64 i)
{
	gtp_target_count(GTP_TARGET_COUNT_watch);
	gtp_target_write(0, (long)raw_smp_processor_id() << 32 | (long)(i + 1));
}

static void one_mix(u64 i)
{
	one_leaf(i);
	one_add(i);
	one_obj(i);
}

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	struct worker *w = container_of(timer, struct worker, timer);

	gtp_target_count(GTP_TARGET_COUNT_irq);
	gtp_target_irq(raw_smp_processor_id());
	WRITE_ONCE(w->ticks, w->ticks + 1);
	hrtimer_forward_now(timer, ns_to_ktime(timer_ns));
	return HRTIMER_RESTART;
}

void gtp_target_timer(struct hrtimer *timer, enum hrtimer_restart (*fn)(struct hrtimer *), u64 ns)
{
	/* since 6.13 ("hrtimers: Introduce hrtimer_setup() to replace hrtimer_init()") */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, fn, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer->function = fn;
#endif
	hrtimer_start(timer, ns_to_ktime(ns), HRTIMER_MODE_REL_PINNED_HARD);
}

static bool ended;

void gtp_target_loop_end(void)
{
	WRITE_ONCE(ended, true);
}

static void work(struct worker *w)
{
	struct loop *l = w->loop;
	u64 i;

	if (l->timer)
		gtp_target_timer(&w->timer, tick, timer_ns);
	for (i = 0; i < l->count || (l->timer && READ_ONCE(w->ticks) < TICKS); i++) {
		l->one(i);
		if (i % 1024)
			continue;
		if (READ_ONCE(ended))
			break;
		/*
		 * Normally report a quiescent state: the kernel's optimizer waits for RCU tasks
		 * while it holds kprobe_mutex, and GDB could not end the loop while it waits for
		 * that mutex.
		 */
		if (l->holds)
			cond_resched();
		else
			cond_resched_tasks_rcu_qs();
	}
	if (l->timer)
		hrtimer_cancel(&w->timer);
}

void gtp_target_until_stopped(void)
{
	set_current_state(TASK_INTERRUPTIBLE);
	while (!kthread_should_stop()) {
		schedule();
		set_current_state(TASK_INTERRUPTIBLE);
	}
	__set_current_state(TASK_RUNNING);
}

/* Stay until kthread_stop(), so that no thread is in this module's code when it is unloaded. */
static int loop_thread(void *data)
{
	struct worker *w = data;

	wait_for_completion(&w->loop->go);
	work(w);
	if (atomic_dec_and_test(&w->loop->left))
		complete(&w->loop->done);
	gtp_target_until_stopped();
	return 0;
}

/* Make a thread. If that fails, the loop has fewer calls, which the counters show. */
static void make_thread(struct loop *l, struct worker *w, int cpu)
{
	struct task_struct *t;

	w->loop = l;
	t = kthread_create_on_cpu(loop_thread, w, cpu, "gtp_target/%u");
	if (IS_ERR(t))
		return;
	atomic_inc(&l->left);
	w->task = t;
	wake_up_process(t);
}

static void run(struct loop *l, struct worker *workers)
{
	int cpu;

	init_completion(&l->go);
	init_completion(&l->done);
	atomic_set(&l->left, 1);
	cpus_read_lock();
	for_each_online_cpu(cpu)
		make_thread(l, &workers[cpu], cpu);
	cpus_read_unlock();
	complete_all(&l->go);
	if (!atomic_dec_and_test(&l->left))
		wait_for_completion(&l->done);
	for_each_possible_cpu(cpu) {
		if (workers[cpu].task)
			kthread_stop(workers[cpu].task);
	}
}

int gtp_target_loop(const char *what, u64 count)
{
	static const struct {
		const char *name;
		void (*one)(u64 i);
		bool timer;
		bool holds;
	} loops[] = {
		{ "leaf", one_leaf },
		{ "add", one_add },
		{ "obj", one_obj },
		{ "event", gtp_target_event_count },
		{ "watch", one_watch },
		{ "pair", gtp_target_pair_round },
		{ "mix", one_mix, .timer = true },
		{ "busy", one_leaf, .holds = true },
	};
	struct worker *workers;
	struct loop l = { .count = count };
	int i;

	for (i = 0; i < ARRAY_SIZE(loops); i++) {
		if (!strcmp(loops[i].name, what))
			break;
	}
	if (i == ARRAY_SIZE(loops))
		return -EINVAL;
	workers = kcalloc(nr_cpu_ids, sizeof(*workers), GFP_KERNEL);
	if (!workers)
		return -ENOMEM;
	l.one = loops[i].one;
	l.timer = loops[i].timer;
	l.holds = loops[i].holds;
	WRITE_ONCE(ended, false);
	run(&l, workers);
	kfree(workers);
	return 0;
}
