// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of calls in programs that have been entered and whose return will be reported.
 *
 * A call is identified by its task and by the stack address of its return address. Even a task with
 * several stacks (coroutines, an alternate stack for signals) has no two calls at one stack
 * address. So matching a return with its call does not depend on the order of calls, and no call is
 * dropped because another one returned.
 *
 * A call that never returns (longjmp(), an exception, exec, exit) leaves its record in the table.
 * The next call at the same stack address replaces the record. Otherwise the record stays until its
 * room is needed: it is then replaced if its task has ended, or if the new call is of the same task
 * and at a higher stack address. Only in the latter case can a call on another, lower stack of the
 * same task be lost.
 *
 * The table has sets of 16 records, and a hash of task and stack address selects the set. The table
 * is allocated in advance. Records change under the lock of their set.
 */
#include <linux/hash.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "kernel/base/lock_kernel.h"
#include "kernel/base/mem_kernel.h"
#include "probe/user/calls.h"

enum {
	SETS_LOG = 10,
	SETS = 1 << SETS_LOG,
	SLOTS = 16, /* the number of records in a set; all sets together have 16384 */
};

/*
 * struct slot - a call and its task; @task NULL: the slot is free. @task is only compared, never
 * dereferenced: a later task may have the address of one that has ended, but it then has another
 * @started
 */
struct slot {
	const struct task_struct *task;
	u64 started;
	pid_t pid;
	struct gtp_user_call call;
};

struct set {
	spinlock_t lock; /* guards @slot */
	struct slot slot[SLOTS];
};

/* Written under gtp_lock while no probe is set. */
static struct set *sets;
static u32 gets;

int gtp_user_calls_get(void)
{
	u32 i;

	lockdep_assert_held(&gtp_lock);
	if (!sets) {
		sets = gtp_mem_alloc(SETS * sizeof(*sets));
		if (!sets)
			return -ENOMEM;
		for (i = 0; i < SETS; i++)
			spin_lock_init(&sets[i].lock);
	}
	gets++;
	return 0;
}

void gtp_user_calls_put(void)
{
	lockdep_assert_held(&gtp_lock);
	if (--gets)
		return;
	gtp_mem_free(sets);
	sets = NULL;
}

static struct set *set_of(u64 top)
{
	return &sets[hash_64(top ^ (u64)current, SETS_LOG)];
}

static bool is_own(const struct slot *s)
{
	return s->task == current && s->started == current->start_time;
}

static struct slot *find(struct set *set, const void *of, u64 top)
{
	struct slot *s;

	for (s = set->slot; s < set->slot + SLOTS; s++)
		if (s->call.top == top && s->call.of == of && is_own(s))
			return s;
	return NULL;
}

/*
 * True if the slot's task has ended. Another task may have its PID by now, but then its task_struct
 * is at another address or it began later.
 */
static bool has_gone(const struct slot *s)
{
	struct task_struct *task;
	bool gone;

	rcu_read_lock();
	task = pid_task(find_pid_ns(s->pid, &init_pid_ns), PIDTYPE_PID);
	gone = task != s->task || task->start_time != s->started;
	rcu_read_unlock();
	return gone;
}

/*
 * Find a slot that is free, or whose call does not return any more. A call at the same stack
 * address keeps its slot: its function may have jumped to the function of the new call, and then
 * its return is still to come.
 */
static struct slot *find_room(struct set *set, u64 top)
{
	struct slot *s;

	for (s = set->slot; s < set->slot + SLOTS; s++)
		if (!s->task)
			return s;
	for (s = set->slot; s < set->slot + SLOTS; s++)
		if (is_own(s) ? s->call.top < top : has_gone(s))
			return s;
	return NULL;
}

bool gtp_user_calls_add(const struct gtp_user_call *call)
{
	struct set *set = set_of(call->top);
	struct slot *s;

	spin_lock(&set->lock);
	s = find(set, call->of, call->top);
	if (!s)
		s = find_room(set, call->top);
	if (s) {
		s->task = current;
		s->started = current->start_time;
		s->pid = task_pid_nr(current);
		s->call = *call;
	}
	spin_unlock(&set->lock);
	return s;
}

bool gtp_user_calls_take(const void *of, u64 top, struct gtp_user_call *call)
{
	struct set *set = set_of(top);
	struct slot *s;

	spin_lock(&set->lock);
	s = find(set, of, top);
	if (s) {
		if (call)
			*call = s->call;
		s->task = NULL;
	}
	spin_unlock(&set->lock);
	return s;
}

void gtp_user_calls_forget(bool (*is_gone)(const void *of))
{
	struct slot *s;
	u32 i;

	for (i = 0; i < SETS; i++) {
		spin_lock(&sets[i].lock);
		for (s = sets[i].slot; s < sets[i].slot + SLOTS; s++)
			if (s->task && is_gone(s->call.of))
				s->task = NULL;
		spin_unlock(&sets[i].lock);
	}
}
