// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps a value for each of some tasks, without a lock.
 *
 * A task belongs to one bucket. It takes a free entry of the bucket by a cmpxchg of @task, and only
 * this task then changes the entry, until it stores a 0 in @task. So a task that finds its own
 * address in an entry needs no atomic operation. The steps of
 *
 *	taking an entry		used + 1; @task: 0 -> task; @born; @value
 *	giving it back		@value = 0; @task = 0; used - 1
 *
 * have an order in which the task itself, interrupted by an NMI that hits, reads either its old
 * value or the new one: until the last step @born differs or @value is 0. Other tasks compare only
 * @task, which is never theirs.
 *
 * gtp_tasks_used of a bucket is at least the number of its entries that are taken. A task sees its
 * own stores, so if it has a value, it never finds a 0 there, whatever CPU it runs on: others add
 * and subtract only for their own entries.
 *
 * A task may end without giving back its entry. The entry stays taken for the rest of the run,
 * unless a new task with the same address sets its value: @born shows that the entry is not its
 * own. It then gives the entry back, because no other living task has that address.
 */
#include "aggregate/tasks.h"
#include "base/cpu.h"

u32 gtp_tasks_used[GTP_TASKS_BUCKETS];

static_assert(sizeof(struct gtp_tasks_bucket) == 128, "whole cache lines");

void gtp_tasks_forget_all(void)
{
	for (u32 nr = 0; nr < GTP_TASKS_BUCKETS; nr++)
		WRITE_ONCE(gtp_tasks_used[nr], 0);
}

/* Return the entry with the address of @task, or NULL. */
static struct gtp_tasks_entry *find(const struct gtp_tasks *t, u64 task)
{
	const struct gtp_tasks_bucket *b = &t->bucket[gtp_tasks_bucket(task)];

	for (u32 i = 0; i < GTP_TASKS_SLOTS; i++)
		if (READ_ONCE(b->entry[i].task) == task)
			return (struct gtp_tasks_entry *)&b->entry[i];
	return NULL;
}

s64 gtp_tasks_get(const struct gtp_tasks *t, u64 task, u64 born)
{
	const struct gtp_tasks_entry *e;

	if (likely(!READ_ONCE(gtp_tasks_used[gtp_tasks_bucket(task)])))
		return 0;
	e = find(t, task);
	return e && READ_ONCE(e->born) == born ? READ_ONCE(e->value) : 0;
}

/* Take a free entry; its value is 0. Return NULL if there is none. */
static struct gtp_tasks_entry *take(struct gtp_tasks *t, u64 task)
{
	u32 nr = gtp_tasks_bucket(task);

	gtp_fetch_add(&gtp_tasks_used[nr], 1);
	for (u32 i = 0; i < GTP_TASKS_SLOTS; i++) {
		struct gtp_tasks_entry *e = &t->bucket[nr].entry[i];

		if (!READ_ONCE(e->task) && !gtp_replace(&e->task, 0, task))
			return e;
	}
	gtp_fetch_add(&gtp_tasks_used[nr], -1);
	return NULL;
}

static void give_back(struct gtp_tasks_entry *e, u64 task)
{
	WRITE_ONCE(e->value, 0);
	gtp_publish(&e->task, 0);
	gtp_fetch_add(&gtp_tasks_used[gtp_tasks_bucket(task)], -1);
}

void gtp_tasks_set(struct gtp_tasks *t, u64 task, u64 born, s64 value)
{
	struct gtp_tasks_entry *e = find(t, task);

	if (e && READ_ONCE(e->born) != born) {
		gtp_fetch_add(&t->died, 1);
		give_back(e, task);
		e = NULL;
	}
	if (!value) {
		if (e)
			give_back(e, task);
		return;
	}
	if (!e) {
		e = take(t, task);
		gtp_fetch_add(e ? &t->sets : &t->no_room, 1);
		if (!e)
			return;
		WRITE_ONCE(e->born, born);
		barrier();
	}
	WRITE_ONCE(e->value, value);
}

u32 gtp_tasks_count(const struct gtp_tasks *t)
{
	u32 n = 0;

	for (u32 nr = 0; nr < GTP_TASKS_BUCKETS; nr++)
		for (u32 i = 0; i < GTP_TASKS_SLOTS; i++)
			n += !!READ_ONCE(t->bucket[nr].entry[i].task);
	return n;
}
