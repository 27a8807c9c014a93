// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes programs by uprobes: one uprobe for each location.
 *
 * The kernel calls the handler in the task that has met the breakpoint, in process context, with
 * preemption and interrupts on, on any number of CPUs at once. The handler may sleep. The handler
 * first fetches the task's memory, which may sleep and uses no per-CPU data. Then the handler
 * writes to this CPU's trace buffer with interrupts off, as a hit of a kernel tracepoint does.
 *
 * While a handler sleeps, removing its probe waits for it, under gtp_lock. The handler sleeps in a
 * page fault of the task, which ends when the page has been read or the task is killed.
 */
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "base/compat.h"
#include "hit/fetch.h"
#include "hit/hit.h"
#include "kernel/base/lock_kernel.h"
#include "kernel/base/mem_kernel.h"
#include "kernel/hit/access_kernel.h"
#include "kernel/hit/cpu_kernel.h"
#include "kernel/hit/irqsave_notrace.h"
#include "kernel/hit/user_kernel.h"
#include "kernel/hit/ustack_kernel.h"
#include "probe/backend.h"
#include "probe/policy/refuse.h"
#include "probe/self.h"
#include "probe/user/sdt.h"
#include "probe/user/semaphore.h"
#include "probe/user/uprobe.h"

enum {
	AT_ONCE = 64, /* probes that a worker sets or removes between two progress reports */
	TRIES = 3,    /* most times that a hit's memory is fetched */
};

/**
 * struct user_probe - the uprobe of a location
 * @probe: the kernel's own struct uprobe_consumer, and its place
 * @prepared: in the list of probes that uprobe_commit() will set; empty for a probe that is set
 * @loc: the location
 * @file: the file of the location
 * @place: the description of the location that hits use
 * @missed: hits on CPUs without a buffer, and of tasks that were killed while waiting for memory
 */
struct user_probe {
	struct gtp_uprobe probe;
	struct list_head prepared;
	struct gtp_location *loc;
	struct gtp_file_space *file;
	struct gtp_uprobe_place place;
	atomic_long_t missed;
};

/* The probes that are prepared but not set, in the order of their locations; under gtp_lock. */
static LIST_HEAD(prepared);
static u32 nprepared;

/* Turn interrupts off. With interrupts on, a hit in an interrupt would be lost as a nested one. */
struct gtp_uprobe_moment gtp_uprobe_enter(atomic_long_t *missed, struct gtp_user_hit *user)
{
	struct gtp_uprobe_moment m;

	m.flags = gtp_irqsave_notrace(&m.tell);
	m.cpu = this_cpu_read(gtp_this_cpu);
	this_cpu_write(gtp_user_now, user);
	if (unlikely(!m.cpu))
		atomic_long_inc(missed);
	return m;
}

void gtp_uprobe_leave(const struct gtp_uprobe_moment *m)
{
	this_cpu_write(gtp_user_now, NULL);
	gtp_irqrestore_notrace(m->flags, m->tell);
}

/*
 * Handle a hit of the first tracepoint without fetching memory first. Return false if the hit read
 * memory that is not resident, and was undone.
 */
static bool hit_or_undo(struct gtp_tracepoint *first, struct gtp_cpu *cpu,
			const struct gtp_regs *regs, bool held)
{
	bool done;

	if (!gtp_hit_begin(cpu))
		return true;
	cpu->undo = GTP_UNDO_ASKED;
	cpu->env.err.code = AX_OK; /* an error of an earlier hit must not count */
	cpu->env.regs = regs;
	cpu->env.time = 0;
	gtp_hit_turn(cpu, first, held);
	done = cpu->undo != GTP_UNDO_DONE;
	cpu->undo = GTP_UNDO_NEVER;
	gtp_hit_end(cpu);
	return done;
}

/*
 * Handle a hit of all tracepoints without fetching memory first. Return false if the hit was
 * undone, or was not tried.
 */
static bool hit_without(struct gtp_tracepoint *first, struct gtp_cpu *cpu,
			const struct gtp_regs *regs, bool held)
{
	if (gtp_fetch_needed(first))
		return READ_ONCE(first->plan.undoable) && hit_or_undo(first, cpu, regs, held);
	if (held)
		gtp_hit_held(first, cpu, regs, 0);
	else
		gtp_hit(first, cpu, regs, 0);
	return true;
}

/*
 * Handle a hit for which no memory has to be fetched: its condition is false, nothing reads memory,
 * or all that it reads is resident, as most memory of programs is.
 * Return: false if nothing was done, because memory may have to be fetched first.
 */
static bool hit_at_once(struct user_probe *p, const struct gtp_regs *regs,
			struct gtp_user_hit *user)
{
	struct gtp_tracepoint *first = p->loc->first;
	enum gtp_early early = GTP_EARLY_OPEN;
	struct gtp_uprobe_moment m = gtp_uprobe_enter(&p->missed, user);
	bool done = true;

	if (likely(m.cpu)) {
		early = gtp_hit_early(first, m.cpu, regs);
		if (early != GTP_EARLY_FALSE)
			done = hit_without(first, m.cpu, regs, early == GTP_EARLY_HOLDS);
	}
	gtp_uprobe_leave(&m);
	return done;
}

static int read_and_wait(void *ctx, void *dst, u64 addr, u32 len)
{
	if ((s64)addr < 0)
		return gtp_access_read_kernel(dst, addr, len);
	if (gtp_space_is(addr) && !gtp_user_address(ctx, addr, &addr))
		return -EFAULT;
	if (gtp_access_read_small(dst, addr, len))
		return 0;
	return copy_from_user(dst, (const void __user *)addr, len) ? -EFAULT : 0;
}

static void program_stack(void *ctx, const struct gtp_regs *regs, struct gtp_ustack_from *from)
{
	gtp_ustack_begin_at(ctx, from);
}

/*
 * Return false for a task that has been killed: the kernel gives up its page faults, so readable
 * memory seems bad. Such a task executes no more of its program.
 */
bool gtp_uprobe_fetch(struct gtp_fetch *f, const struct gtp_location *loc,
		      const struct gtp_regs *regs, struct gtp_user_hit *user)
{
	f->run = loc->run;
	f->cpu = this_cpu_read(gtp_this_cpu);
	f->read = read_and_wait;
	f->ustack = program_stack;
	f->ctx = user;
	gtp_fetch(f, loc->first, regs);
	return !fatal_signal_pending(current);
}

/*
 * Fetch the memory that the hit will read. Not inline, so that other hits need no stack memory for
 * this. Return false if the task was killed, like gtp_uprobe_fetch().
 */
static noinline bool bring(struct user_probe *p, const struct gtp_regs *regs,
			   struct gtp_user_hit *user)
{
	struct gtp_fetch fetch;

	/*
	 * This much is allowed: a task that has just entered the kernel has used little of its
	 * stack.
	 */
	BUILD_BUG_ON(sizeof(fetch) > 1536);
	fetch.part = GTP_FETCH_HIT;
	return gtp_uprobe_fetch(&fetch, p->loc, regs, user);
}

/*
 * Fetch a hit's memory, then handle the hit. Variables may change between the two, so that the hit
 * reads other memory: then fetch again, if the hit can be undone. The last try reports memory that
 * is still missing as an error.
 */
static void hit_with_memory(struct user_probe *p, const struct gtp_regs *regs,
			    struct gtp_user_hit *user)
{
	u32 tries = READ_ONCE(p->loc->first->plan.undoable) ? TRIES : 1;
	struct gtp_uprobe_moment m;

	while (tries--) {
		if (!READ_ONCE(p->loc->run->active))
			return;
		if (!bring(p, regs, user)) {
			atomic_long_inc(&p->missed);
			return;
		}
		if (tries && hit_at_once(p, regs, user))
			return;
	}
	m = gtp_uprobe_enter(&p->missed, user);
	if (likely(m.cpu))
		gtp_hit(p->loc->first, m.cpu, regs, 0);
	gtp_uprobe_leave(&m);
}

/* Handle a hit. The kernel has set ip back to the address of the breakpoint. */
GTP_UPROBE_HANDLER(handle_hit)
{
	struct user_probe *p = container_of(self, struct user_probe, probe.consumer);
	const struct gtp_regs *at_hit = (const struct gtp_regs *)regs;
	struct gtp_user_hit user = gtp_uprobe_user(&p->place, regs->ip - p->place.second, at_hit);

	if (unlikely(gtp_self_maybe()) && gtp_self_skip(p->loc, preempt_count()))
		return 0;
	if (!hit_at_once(p, at_hit, &user))
		hit_with_memory(p, at_hit, &user);
	return 0;
}

/* --- setting and removing uprobes --- */

/* struct worker_call - a call for a worker to make */
struct worker_call {
	struct work_struct work;
	int (*fn)(void *arg);
	void *arg;
	int result;
};

static void make_call(struct work_struct *work)
{
	struct worker_call *c = container_of(work, struct worker_call, work);

	c->result = c->fn(c->arg);
}

/*
 * Call a function in a worker. The kernel writes breakpoints with get_user_pages(), which gives up
 * once its caller was killed. If a GDB that was killed removed the breakpoints itself, some would
 * stay in the programs, and nothing would remove them. A worker is never killed. The worker takes
 * no lock of ours, so wait for it under gtp_lock.
 */
int gtp_uprobe_by_worker(int (*fn)(void *arg), void *arg)
{
	struct worker_call c = { .fn = fn, .arg = arg };

	INIT_WORK_ONSTACK(&c.work, make_call);
	queue_work(gtp_unbound_wq(), &c.work);
	flush_work(&c.work);
	destroy_work_on_stack(&c.work);
	return c.result;
}

int gtp_uprobe_explain(int err, struct gtp_why *why)
{
	switch (err) {
	case -EINVAL:
		gtp_why(why,
			"the kernel refused a uprobe: another tracer may have one there, with another semaphore or none");
		break;
	case -EOPNOTSUPP:
	case -ENOTSUPP:
		gtp_why(why,
			"the kernel does not probe this instruction of a program: one with the prefix lock, for example. Try the next line or instruction");
		break;
	case -EIO:
		gtp_why(why, "the kernel does not probe files of this file system");
		break;
	case -ENOEXEC:
		gtp_why(why, "this is no instruction, or one that the kernel does not know");
		break;
	case -ENOMEM:
		gtp_why(why, "no memory for a probe");
		break;
	default:
		gtp_why(why, "the kernel refused a uprobe (%pe)", ERR_PTR(err));
	}
	/* Ask no other backend: the others do not know such addresses. */
	return err == -EOPNOTSUPP ? -EINVAL : err;
}

int gtp_uprobe_check(const struct gtp_location *loc, struct gtp_file_space **file,
		     struct gtp_why *why)
{
	int err = gtp_probe_allowed(why);

	if (err)
		return err;
	*file = gtp_files_find(loc->addr);
	if (!*file) {
		gtp_why(why, "this address is of a file that is not known any more: gtp lib FILE");
		return -ENOENT;
	}
	if (!gtp_elf_code(&(*file)->elf, gtp_space_linked(loc->addr))) {
		gtp_why(why, "%s has no code there", (*file)->name);
		return -EINVAL;
	}
	if (loc->fast_only) {
		gtp_why(why, "a place in a program takes an exception; use trace, not ftrace");
		return -EINVAL;
	}
	return 0;
}

/*
 * Find out where the return address is, judging by the instruction in the file. The instruction may
 * be shorter than the bytes that are read.
 */
static enum gtp_ustack_at judge(const struct gtp_location *loc)
{
	u8 code[4];

	return gtp_ustack_judge(code, gtp_files_code(code, loc->addr, sizeof(code)));
}

/*
 * True if a marker's second nop takes the probe: newer kernels turn that nop into a call, which
 * costs half as much as an exception.
 */
static bool has_second(u64 addr)
{
	u8 code[16];

	return GTP_UPROBE_CALLS_NOP10 && !gtp_files_read(code, addr, sizeof(code)) &&
	       gtp_sdt_second(code, sizeof(code));
}

int gtp_uprobe_put(struct gtp_uprobe *u, struct gtp_file_space *file, u64 linked,
		   struct gtp_why *why)
{
	const struct gtp_elf_segment *segment = gtp_elf_code(&file->elf, linked);
	u64 semaphore;
	int marker = gtp_semaphore_find(file, linked, &semaphore, why);

	if (marker < 0)
		return marker;
	u->inode = file->inode;
	u->ref_ctr = (loff_t)semaphore;
	u->offset = linked - segment->addr + segment->offset;
	return marker;
}

int gtp_uprobe_put_at(struct gtp_uprobe *u, struct gtp_uprobe_place *place,
		      struct gtp_file_space *file, const struct gtp_location *loc,
		      struct gtp_why *why)
{
	u64 linked = gtp_space_linked(loc->addr);
	const struct gtp_elf_segment *segment = gtp_elf_code(&file->elf, linked);
	int marker = gtp_uprobe_put(u, file, linked, why);

	if (marker < 0)
		return marker;
	place->user = (struct gtp_user_place){
		.here = loc->addr,
		.from_code = linked - segment->addr,
		.code_bytes = segment->bytes,
		.says = judge(loc),
	};
	place->second = marker && has_second(loc->addr);
	u->offset += place->second;
	return 0;
}

static int uprobe_arm(struct gtp_location *loc, struct gtp_why *why)
{
	struct gtp_file_space *file;
	struct user_probe *p;
	int err;

	if (loc->kind != GTP_LOCATION_USER)
		return -EOPNOTSUPP;
	err = gtp_uprobe_check(loc, &file, why);
	if (err)
		return err;
	p = gtp_mem_alloc(sizeof(*p));
	if (!p)
		return gtp_uprobe_explain(-ENOMEM, why);
	err = gtp_uprobe_put_at(&p->probe, &p->place, file, loc, why);
	if (err) {
		gtp_mem_free(p);
		return err;
	}
	p->probe.consumer.handler = handle_hit;
	p->loc = loc;
	p->file = file;
	file->armed++;
	list_add_tail(&p->prepared, &prepared);
	nprepared++;
	loc->probe = p;
	loc->probe_kind = "uprobe";
	return 0;
}

static u64 uprobe_missed(const struct gtp_location *loc)
{
	const struct user_probe *p = loc->probe;

	return atomic_long_read(&p->missed);
}

/* Take a probe from the list of those that are prepared, if it is there. */
static void unprepare(struct user_probe *p)
{
	if (list_empty(&p->prepared))
		return;
	list_del_init(&p->prepared);
	nprepared--;
}

static void uprobe_forget(struct gtp_location *loc)
{
	struct user_probe *p = loc->probe;

	loc->missed += uprobe_missed(loc);
	loc->probe = NULL;
	p->file->armed--;
	unprepare(p);
	gtp_mem_free(p);
}

/*
 * struct batch - the probes that a worker sets; @failed: the first one that the kernel has refused
 */
struct batch {
	struct user_probe *failed;
	u32 done;
};

/* Set some of the prepared probes. Hits may come at once. Return 0, or the error of @failed. */
static int set_some(void *arg)
{
	struct user_probe *p, *next;
	struct batch *batch = arg;
	u32 n = 0;
	int err;

	list_for_each_entry_safe(p, next, &prepared, prepared) {
		if (n++ == AT_ONCE)
			break;
		batch->done++;
		err = gtp_uprobe_set(&p->probe);
		if (err) {
			batch->failed = p;
			return err;
		}
		unprepare(p);
	}
	return 0;
}

/* Return 0 if the other probes can still be set, after the kernel has refused this one. */
static int refuse_probe(struct user_probe *p, int err, struct gtp_why *why)
{
	struct gtp_location *loc = p->loc;
	struct gtp_why inner;

	err = gtp_uprobe_explain(err, &inner);
	if (gtp_why_is_general(err)) {
		*why = inner;
		return err;
	}
	loc->refused = inner;
	uprobe_forget(loc);
	loc->backend = NULL;
	return 0;
}

/*
 * Set the prepared probes, many in each call of a worker: to wake up a worker for each one takes as
 * long as to set it.
 */
static int uprobe_commit(struct gtp_why *why)
{
	struct batch batch = { .done = 0 };
	u32 total = nprepared;
	int err = 0;

	while (!err && nprepared) {
		err = gtp_uprobe_by_worker(set_some, &batch);
		if (err)
			err = refuse_probe(batch.failed, err, why);
		if (!err)
			err = gtp_probe_interrupted(why);
		gtp_progress("setting uprobes", batch.done, total);
	}
	return err;
}

/* struct row - the probes that a worker removes; @next: the first one that is not removed yet */
struct row {
	struct gtp_location *next;
	u32 done;
};

static int clear_some(void *arg)
{
	struct row *row = arg;
	u32 n;

	for (n = 0; row->next && n < AT_ONCE; n++) {
		struct user_probe *p = row->next->probe;

		if (list_empty(&p->prepared))
			gtp_uprobe_clear(&p->probe);
		row->next = row->next->next_own;
	}
	row->done += n;
	return 0;
}

static void uprobe_disarm(struct gtp_location *first)
{
	struct row row = { .next = first };
	struct gtp_location *loc;
	u32 total = 0;

	for (loc = first; loc; loc = loc->next_own)
		total++;
	while (row.next) {
		gtp_uprobe_by_worker(clear_some, &row);
		gtp_progress("removing uprobes", row.done, total);
	}
	gtp_uprobes_wait();
	for (loc = first; loc; loc = loc->next_own)
		uprobe_forget(loc);
}

static bool is_named_by_nobody(void *ctx, u64 first, u64 last)
{
	return false;
}

/* Close the files at module exit, when nothing is armed any more. */
static void uprobe_exit(void)
{
	mutex_lock(&gtp_lock);
	gtp_files_forget(is_named_by_nobody, NULL);
	mutex_unlock(&gtp_lock);
}

const struct gtp_probe_backend gtp_uprobe_backend = {
	.name = "uprobe",
	.arm = uprobe_arm,
	.commit = uprobe_commit,
	.disarm = uprobe_disarm,
	.missed = uprobe_missed,
	.exit = uprobe_exit,
};
