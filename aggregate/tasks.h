/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A value for each of some tasks: the table of a variable $task_NAME. The table is in the caller's
 * memory.
 */
#ifndef _GTP_TASKS_H
#define _GTP_TASKS_H

#include "base/base.h"

enum {
	GTP_TASKS_BITS = 10,
	GTP_TASKS_BUCKETS = 1 << GTP_TASKS_BITS,
	GTP_TASKS_SLOTS = 5, /* of a bucket: two cache lines */
	/*
	 * Multiplies the low 32 bits of a task's address; the highest bits of the product select
	 * the bucket. It is 0x9e3779b1, near 2^32 divided by the golden ratio.
	 */
	GTP_TASKS_FACTOR = -0x61c8864f,
};

/**
 * struct gtp_tasks_entry - the value of one task
 * @task: the address of the task; 0: this entry is free
 * @born: the time when the task started, which tells it from an earlier task at that address
 * @value: the value; 0 while the entry is being taken or given back
 */
struct gtp_tasks_entry {
	u64 task;
	u64 born;
	s64 value;
};

struct gtp_tasks_bucket {
	struct gtp_tasks_entry entry[GTP_TASKS_SLOTS];
	u64 unused; /* buckets do not share cache lines */
};

/**
 * struct gtp_tasks - the values of all tasks
 * @bucket: the entries
 * @sets: how often a task without a value got one
 * @no_room: how often a task got no value because its bucket was full
 * @died: entries whose task had died, found because a new task had its address
 *
 * Only the task itself sets its value and gives it back, in hits, which do not nest. So each entry
 * has one writer, and tasks compete only for free entries.
 */
struct gtp_tasks {
	struct gtp_tasks_bucket bucket[GTP_TASKS_BUCKETS];
	u64 sets;
	u64 no_room;
	u64 died;
};

/*
 * gtp_tasks_used - for each bucket the number of its entries, in all tables, that are taken, or are
 * being taken or given back. If it is 0, no task of this bucket has a value in any table. It is not
 * part of a table, because a jump pad reads it (jit/ops_call.c), and a pad that cannot be removed
 * outlives the run
 */
extern u32 gtp_tasks_used[GTP_TASKS_BUCKETS];

/* gtp_tasks_forget_all - there is no table any more, and no hit that uses one */
void gtp_tasks_forget_all(void);

/* gtp_tasks_bucket - return the number of the bucket in which the value of @task may be */
static __always_inline u32 gtp_tasks_bucket(u64 task)
{
	return (u32)task * (u32)GTP_TASKS_FACTOR >> (32 - GTP_TASKS_BITS);
}

/**
 * gtp_tasks_get() - return the value of the current task
 * @t: the table
 * @task: the address of the current task, not 0
 * @born: the time when that task started
 *
 * Context: any, also in the middle of gtp_tasks_set() for the same task, which then has either the
 * value before or the one after. Return: the value; 0: the task has none.
 */
s64 gtp_tasks_get(const struct gtp_tasks *t, u64 task, u64 born);

/**
 * gtp_tasks_set() - set the value of the current task
 * @t: the table
 * @task: the address of the current task, not 0
 * @born: the time when that task started
 * @value: the value; 0 removes the task from the table
 *
 * If there is no room, the task has no value, and this is counted.
 * Context: a hit; for one task there is never more than one call at a time. Takes no lock and
 * allocates nothing; the number of steps is fixed.
 */
void gtp_tasks_set(struct gtp_tasks *t, u64 task, u64 born, s64 value);

/*
 * gtp_tasks_count - return the number of tasks that have a value, those included that have died;
 * exact if no hit uses the table
 */
u32 gtp_tasks_count(const struct gtp_tasks *t);

#endif /* _GTP_TASKS_H */
