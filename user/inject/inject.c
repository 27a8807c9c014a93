// SPDX-License-Identifier: GPL-2.0-only
/* Changes the code of another process while it runs, in batches. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "user/inject/apart.h"
#include "user/inject/patch.h"
#include "user/inject/where.h"

enum {
	TRIES = 200,	/* stops in which threads may still be in pads */
	WAIT_US = 1000, /* between two of them, at first */
	WAIT_MAX = 16,	/* times as long, at last */
};

static u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

/* Wait longer after each try. */
static void wait_for_threads(u32 try)
{
	u32 times = 1 + try / 8;

	usleep(WAIT_US * (times < WAIT_MAX ? times : WAIT_MAX));
}

/* --- the object --- */

int gtp_inject_open(struct gtp_process *p, struct gtp_inject **ret, struct gtp_why *why)
{
	struct gtp_inject *in = calloc(1, sizeof(*in));
	int err;

	if (!in) {
		gtp_why(why, "out of memory");
		return -ENOMEM;
	}
	in->p = p;
	in->mem = openat(p->dir, "mem", O_RDWR | O_CLOEXEC);
	if (in->mem < 0) {
		err = -errno;
		gtp_why(why, "the memory of process %u cannot be opened for writing: %s", p->pid,
			strerror(-err));
		free(in);
		return err;
	}
	*ret = in;
	return 0;
}

void gtp_inject_forget(struct gtp_inject *in)
{
	gtp_memory_forget(&in->areas);
	free(in->set);
	free(in->leaving);
	close(in->mem);
	free(in);
}

/* --- batches --- */

/*
 * Run before all others as long as threads stand, if this program may do that: each thread that is
 * released competes with it for the processors, and the threads after it in the list still stand.
 */
static void hurry(struct gtp_inject *in)
{
	const struct sched_param first = { .sched_priority = 1 };

	in->policy = sched_getscheduler(0);
	if (in->policy >= 0 && !sched_getparam(0, &in->param))
		in->hurries = !sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);
}

static void calm(struct gtp_inject *in)
{
	if (in->hurries)
		sched_setscheduler(0, in->policy, &in->param);
	in->hurries = false;
}

/*
 * True if the memory that was mapped for us is there: after an exec, the descriptor belongs to
 * memory that is gone.
 */
static bool is_same(const struct gtp_inject *in)
{
	u8 byte;

	return !in->areas.n || !gtp_process_read_from(in->mem, &byte, in->areas.area[0].addr, 1);
}

int gtp_inject_begin(struct gtp_inject *in, struct gtp_why *why)
{
	int err;

	hurry(in);
	err = gtp_stop_begin(&in->stop, in->p, why);
	if (err) {
		calm(in);
		return err;
	}
	in->began = in->stop.began_ns;
	in->stopped = true;
	if (is_same(in))
		return 0;
	gtp_inject_end(in);
	gtp_why(why, "process %u executes another program now: attach again", in->p->pid);
	return -ESRCH;
}

void gtp_inject_end(struct gtp_inject *in)
{
	gtp_stop_end(&in->stop);
	in->stopped = false;
	in->stats.stood = now_ns() - in->began;
	in->stats.batches++;
	calm(in);
}

const struct gtp_inject_stats *gtp_inject_stats(const struct gtp_inject *in)
{
	return &in->stats;
}

/* --- memory --- */

/* struct mapping - the arguments of gtp_inject_map(), or the address to unmap */
struct mapping {
	struct gtp_inject *in;
	enum gtp_inject_kind kind;
	const struct gtp_inject_near *near;
	u64 bytes;
	u64 addr;
};

/*
 * Run a function that lets the process perform system calls: in the caller's batch, or else in a
 * child process. Yama may refuse the child, because it is no ancestor of a process that this
 * program has started.
 */
static int call_apart(struct gtp_inject *in,
		      int (*fn)(void *arg, void *result, struct gtp_why *why), void *arg,
		      void *result, size_t size, struct gtp_why *why)
{
	int err = -EPERM;

	if (!in->stopped)
		err = gtp_apart(fn, arg, result, size, why);
	return err == -EPERM ? fn(arg, result, why) : err;
}

int gtp_inject_apart(struct gtp_inject *in, int (*fn)(void *arg, void *result, struct gtp_why *why),
		     void *arg, void *result, size_t size, struct gtp_why *why)
{
	return call_apart(in, fn, arg, result, size, why);
}

struct gtp_inject_thread *gtp_inject_threads(const struct gtp_inject *in, u32 *n)
{
	struct gtp_inject_thread *all = calloc(in->stop.n + 1, sizeof(*all));

	*n = 0;
	for (u32 i = 0; all && i < in->stop.n; i++) {
		const struct gtp_thread *t = &in->stop.thread[i];

		if (t->stands)
			all[(*n)++] = (struct gtp_inject_thread){ .tid = t->tid,
								  .cs = (u32)t->regs.cs,
								  .fs_base = t->regs.fs_base };
	}
	return all;
}

int gtp_inject_adopt(struct gtp_inject *in, enum gtp_inject_kind kind, u64 addr, u64 bytes)
{
	const struct gtp_area area = { addr, bytes, kind };
	struct gtp_why why;

	if (gtp_memory_find(&in->areas, addr, bytes))
		return 0;
	if (gtp_memory_make_room(&in->areas, &why))
		return -ENOMEM;
	gtp_memory_remember(&in->areas, &area);
	return 0;
}

static int map(void *arg, void *result, struct gtp_why *why)
{
	struct mapping *m = arg;
	struct gtp_inject *in = m->in;
	struct gtp_area *area = result;
	const bool own = !in->stopped;
	int err = own ? gtp_inject_begin(in, why) : 0;

	if (err)
		return err;
	err = gtp_memory_map(&in->areas, &in->stop, m->kind, m->near, m->bytes, area, why);
	if (own)
		gtp_inject_end(in);
	return err;
}

int gtp_inject_map(struct gtp_inject *in, enum gtp_inject_kind kind,
		   const struct gtp_inject_near *near, u64 bytes, u64 *addr, struct gtp_why *why)
{
	struct mapping m = { .in = in, .kind = kind, .near = near, .bytes = bytes };
	struct gtp_area area;
	int err = gtp_memory_make_room(&in->areas, why);

	if (!err)
		err = call_apart(in, map, &m, &area, sizeof(area), why);
	if (err)
		return err;
	gtp_memory_remember(&in->areas, &area);
	*addr = area.addr;
	return 0;
}

bool gtp_inject_idle(struct gtp_inject *in, u64 addr, u64 len)
{
	struct gtp_where w;
	bool idle;

	if (gtp_where_find(&w, &in->stop))
		return false;
	idle = !gtp_where_is_in(&w, addr, len);
	gtp_where_free(&w);
	return idle;
}

static int unmap(void *arg, void *result, struct gtp_why *why)
{
	struct mapping *m = arg;
	struct gtp_inject *in = m->in;
	const bool own = !in->stopped;
	int err = own ? gtp_inject_begin(in, why) : 0;

	if (err)
		return err;
	if (m->kind == GTP_INJECT_CODE && !gtp_inject_idle(in, m->addr, m->bytes)) {
		gtp_why(why, "a thread is still in the memory at 0x%llx", m->addr);
		err = -EBUSY;
	}
	if (!err)
		err = gtp_memory_unmap(&in->areas, &in->stop, m->addr, why);
	if (own)
		gtp_inject_end(in);
	return err;
}

int gtp_inject_unmap(struct gtp_inject *in, u64 addr, struct gtp_why *why)
{
	const struct gtp_area *area = gtp_memory_find(&in->areas, addr, 1);
	struct mapping m = { .in = in, .addr = addr };
	int err;

	if (!area || area->addr != addr) {
		gtp_why(why, "there is no memory of ours at 0x%llx", addr);
		return -EINVAL;
	}
	m.kind = area->kind;
	m.bytes = area->bytes;
	err = call_apart(in, unmap, &m, NULL, 0, why);
	if (!err)
		gtp_memory_drop(&in->areas, addr);
	return err;
}

int gtp_inject_write(struct gtp_inject *in, u64 addr, const void *src, u64 len)
{
	return gtp_memory_write(in->mem, addr, src, len);
}

int gtp_inject_read(struct gtp_inject *in, void *dst, u64 addr, u64 len)
{
	return gtp_process_read_from(in->mem, dst, addr, len);
}

int gtp_inject_call(struct gtp_inject *in, u32 nr, const u64 args[6], s64 *result,
		    struct gtp_why *why)
{
	return gtp_memory_call(&in->areas, &in->stop, nr, args, result, why);
}

/* --- jumps --- */

/* Perform @step in a batch of its own, unless the caller has begun one. */
static int in_batch(struct gtp_inject *in, struct gtp_batch *b, struct gtp_why *why,
		    int (*step)(struct gtp_inject *in, struct gtp_batch *b, struct gtp_why *why))
{
	u32 try;
	int err;

	if (in->stopped)
		return step(in, b, why);
	for (try = 0; try < TRIES; try++) {
		err = gtp_inject_begin(in, why);
		if (err)
			return err;
		err = step(in, b, why);
		gtp_inject_end(in);
		if (err != -EAGAIN)
			return err;
		wait_for_threads(try);
	}
	return -EBUSY;
}

static int plan(struct gtp_batch *b, struct gtp_patch *const *patch, u32 n, struct gtp_why *why)
{
	int err = gtp_patch_plan(b, patch, n);

	if (err)
		gtp_why(why, "out of memory");
	return err;
}

int gtp_inject_patch(struct gtp_inject *in, struct gtp_patch *const *patch, u32 n,
		     struct gtp_why *why)
{
	struct gtp_batch b;
	int err = plan(&b, patch, n, why);

	if (err)
		return err;
	err = gtp_patch_check(in, &b, why);
	if (!err) {
		gtp_text_own(&b.text, in->p, in->mem);
		err = in_batch(in, &b, why, gtp_patch_set);
	}
	gtp_patch_free(&b);
	return err;
}

int gtp_inject_unpatch(struct gtp_inject *in, struct gtp_patch *const *patch, u32 n,
		       struct gtp_why *why)
{
	struct gtp_batch b;
	int err = plan(&b, patch, n, why);

	if (err)
		return err;
	err = in_batch(in, &b, why, gtp_patch_unset);
	gtp_patch_free(&b);
	return err;
}

int gtp_inject_adopt_jumps(struct gtp_inject *in, struct gtp_patch *const *patch, u32 n)
{
	struct gtp_batch b;
	int err = gtp_patch_plan(&b, patch, n);

	if (err)
		return err;
	err = gtp_patch_adopt(in, &b);
	gtp_patch_free(&b);
	return err;
}

/* --- the end --- */

/* True if no thread is in any of our memory for code. */
static bool all_left(struct gtp_inject *in)
{
	struct gtp_where w;
	bool left = true;
	u32 i;

	if (gtp_where_find(&w, &in->stop))
		return false;
	for (i = 0; left && i < in->areas.n; i++)
		if (in->areas.area[i].kind == GTP_INJECT_CODE)
			left = !gtp_where_is_in(&w, in->areas.area[i].addr,
						in->areas.area[i].bytes);
	gtp_where_free(&w);
	return left;
}

/* Restore everything in one batch. Return 0; -EAGAIN if a thread is in a pad; or another -errno. */
static int restore(struct gtp_inject *in, struct gtp_why *why)
{
	int err = gtp_inject_begin(in, why);

	if (err)
		return err;
	if (in->nset)
		err = gtp_inject_unpatch(in, in->set, in->nset, why);
	if (!err && !all_left(in)) {
		gtp_why(why, "a thread of process %u does not leave the pads: their memory stays",
			in->p->pid);
		err = -EAGAIN;
	}
	if (!err)
		err = gtp_memory_unmap(&in->areas, &in->stop, 0, why);
	gtp_inject_end(in);
	return err;
}

static int restore_all(void *arg, void *result, struct gtp_why *why)
{
	struct gtp_inject *in = arg;
	int err = 0;
	u32 try;

	for (try = 0; try < TRIES; try++) {
		err = restore(in, why);
		if (err != -EAGAIN)
			return err;
		wait_for_threads(try);
	}
	return -EBUSY;
}

int gtp_inject_close(struct gtp_inject *in, struct gtp_why *why)
{
	int err = 0;

	if (!in)
		return 0;
	if (in->areas.n)
		err = call_apart(in, restore_all, in, NULL, 0, why);
	gtp_inject_forget(in);
	return err;
}
