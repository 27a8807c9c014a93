// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports the returns of functions in programs, by uprobes at a function's entry and at each place
 * where it ends.
 *
 * Nothing on the stack is replaced, so exceptions, longjmp(), debuggers and shadow stacks find what
 * the program has put there. A call is identified by its task and the address of its return
 * address: at the instruction that returns, the stack pointer has that address
 * (probe/user/calls.h).
 *
 * A function may end with a jump to another one, which returns in its place. In that case the
 * returns of the other function have a probe, too. Other callers reach these probes as well, so the
 * return address must match the call's. If it does not, or if the call ends with a jump to unknown
 * code, the call is counted as missed.
 *
 * The entry's probe is set last and removed first, so that a call that is followed finds the probes
 * at the exits. For everything else see probe/user/uprobe.c.
 */
#include <linux/percpu.h>
#include <linux/uaccess.h>

#include "hit/fetch.h"
#include "hit/returns.h"
#include "kernel/base/lock_kernel.h"
#include "kernel/base/mem_kernel.h"
#include "kernel/hit/cpu_kernel.h"
#include "probe/backend.h"
#include "probe/self.h"
#include "probe/user/calls.h"
#include "probe/user/uprobe.h"

struct user_return;

/**
 * struct return_place - a probe of a function, at its entry or at an exit
 * @probe: the uprobe
 * @of: the function
 * @exit: the place of the probe
 */
struct return_place {
	struct gtp_uprobe probe;
	struct user_return *of;
	struct gtp_exit exit;
};

/**
 * struct user_return - a location whose calls are reported when they return
 * @loc: the location
 * @file: the file of the function
 * @entry: the entry, as hits need it
 * @above: bytes from the stack pointer to the return address, at the entry
 * @shared: an exit is in a function that other functions call, too
 * @missed: entries and returns on CPUs without a buffer; calls that found no room in the table,
 *	    ended in code that is not followed, or whose task was killed while it waited for memory
 * @n: the number of entries of @place
 * @from: the first entry of @place whose probe is set; the later ones are set, too. If it is @n, no
 *	  probe is set, and no call is followed
 * @place: the entry, and after it the exits
 */
struct user_return {
	struct gtp_location *loc;
	struct gtp_file_space *file;
	struct gtp_uprobe_place entry;
	u32 above;
	bool shared;
	atomic_long_t missed;
	u32 n;
	u32 from;
	struct return_place place[];
};

/* --- following calls --- */

/*
 * Return the word at @top, the return address; 0 if it cannot be read. The task has just written
 * it, or is about to read it.
 */
static u64 return_address(u64 top)
{
	u64 back;

	return copy_from_user(&back, (const void __user *)top, sizeof(back)) ? 0 : back;
}

static bool reads_at_entry(const struct gtp_tracepoint *tp)
{
	for (; tp; tp = gtp_acquire(&tp->next_here))
		if (tp->cond_reads && !tp->cond_at_return)
			return true;
	return false;
}

/*
 * Return the time, or 0 on a CPU without a buffer. If the task migrates meanwhile, the time of its
 * earlier CPU is exact enough.
 */
static u64 now_ns(void)
{
	const struct gtp_cpu *cpu = this_cpu_read(gtp_this_cpu);

	return cpu ? gtp_hit_now_ns(cpu) : 0;
}

/*
 * Fetch memory for the return of @call, or for an entry if @call is NULL. Return false if the task
 * has been killed meanwhile. Not inline, so that hits that fetch nothing need no stack for it.
 */
static noinline bool bring(struct user_return *r, const struct gtp_regs *regs,
			   struct gtp_user_hit *user, const struct gtp_user_call *call, u64 value)
{
	u64 now = now_ns(), entered = call ? call->pending.entered : now;
	struct gtp_fetch fetch;

	fetch.part = call ? GTP_FETCH_RETURN : GTP_FETCH_ENTRY;
	fetch.wanted = call ? call->pending.wanted : 0;
	fetch.value = (s64)value;
	fetch.entered = entered;
	fetch.latency = now > entered ? now - entered : 0;
	if (gtp_uprobe_fetch(&fetch, r->loc, regs, user))
		return true;
	atomic_long_inc(&r->missed);
	return false;
}

static bool wants_with_memory(struct user_return *r, const struct gtp_regs *regs,
			      struct gtp_user_hit *user, struct gtp_pending *p)
{
	struct gtp_uprobe_moment m;
	bool wanted = false;

	if (!bring(r, regs, user, NULL, 0))
		return false;
	m = gtp_uprobe_enter(&r->missed, user);
	if (likely(m.cpu))
		wanted = gtp_returns_enter(r->loc->first, m.cpu, regs, p, false, 0);
	gtp_uprobe_leave(&m);
	return wanted;
}

/*
 * Return true if the call's return must be reported; then fill in @p. If the condition is already
 * known to be false, no memory is fetched.
 */
static bool wants(struct user_return *r, const struct gtp_regs *regs, struct gtp_user_hit *user,
		  struct gtp_pending *p)
{
	struct gtp_tracepoint *first = r->loc->first;
	struct gtp_uprobe_moment m = gtp_uprobe_enter(&r->missed, user);
	enum gtp_early early = likely(m.cpu) ? gtp_hit_early(first, m.cpu, regs) : GTP_EARLY_FALSE;
	bool fetch = early == GTP_EARLY_OPEN && reads_at_entry(first), wanted = false;

	if (early != GTP_EARLY_FALSE && !fetch)
		wanted = gtp_returns_enter(first, m.cpu, regs, p, early == GTP_EARLY_HOLDS, 0);
	gtp_uprobe_leave(&m);
	return fetch ? wants_with_memory(r, regs, user, p) : wanted;
}

/* Return true if the call was kept. The call replaces an earlier call at the same stack address. */
static noinline bool enter_call(struct user_return *r, struct pt_regs *regs, u64 top)
{
	const struct gtp_regs *at_hit = (const struct gtp_regs *)regs;
	struct gtp_user_hit user =
		gtp_uprobe_user(&r->entry, instruction_pointer(regs) - r->entry.second, at_hit);
	struct gtp_user_call call;

	if (!wants(r, at_hit, &user, &call.pending))
		return false;
	call.of = r;
	call.top = top;
	call.back = r->shared ? return_address(top) : 0;
	if (gtp_user_calls_add(&call))
		return true;
	atomic_long_inc(&r->missed);
	return false;
}

/*
 * Handle an entry. An earlier call at this stack address is over, so drop its record even if this
 * call is not followed.
 */
GTP_UPROBE_HANDLER(handle_entry)
{
	struct user_return *r = container_of(self, struct return_place, probe.consumer)->of;
	u64 top = user_stack_pointer(regs) + r->above;
	bool skipped = unlikely(gtp_self_maybe()) && gtp_self_skip(r->loc, preempt_count());

	if (skipped || !READ_ONCE(r->loc->run->active) || !enter_call(r, regs, top))
		gtp_user_calls_take(r, top, NULL);
	return 0;
}

/*
 * Report the return, with the registers of the entry and memory as it is now. From the return
 * address on, the stack is the same as at the entry, so $ustack begins as at the entry.
 */
static void leave_call(struct user_return *r, const struct gtp_user_call *call, u64 value,
		       struct gtp_user_hit *user)
{
	struct gtp_uprobe_moment m;

	if (READ_ONCE(r->loc->run->active) && gtp_fetch_needed(r->loc->first) &&
	    !bring(r, &call->pending.regs, user, call, value))
		return;
	m = gtp_uprobe_enter(&r->missed, user);
	if (likely(m.cpu))
		gtp_returns_leave(r->loc->first, m.cpu, &call->pending, value);
	gtp_uprobe_leave(&m);
}

static noinline void end_call(struct return_place *at, struct pt_regs *regs, u64 top)
{
	struct user_return *r = at->of;
	u64 entry = instruction_pointer(regs) - at->exit.addr + r->place->exit.addr;
	struct gtp_user_call call;
	struct gtp_user_hit user = gtp_uprobe_user(&r->entry, entry, &call.pending.regs);

	/*
	 * This much is allowed: a task that has just entered the kernel has used little of its
	 * stack.
	 */
	BUILD_BUG_ON(sizeof(struct gtp_fetch) + sizeof(call) > 2048);
	if (!gtp_user_calls_take(r, top, &call))
		return;
	/*
	 * If the return address differs, this is another call, at the stack address of one that
	 * ended without a probe; or a uretprobe of another tracer has replaced the address.
	 */
	if (at->exit.kind == GTP_EXIT_JUMP ||
	    (at->exit.kind == GTP_EXIT_SHARED && call.back != return_address(top)))
		atomic_long_inc(&r->missed);
	else
		leave_call(r, &call, regs_return_value(regs), &user);
}

/* Handle an exit. At an instruction that returns, the stack pointer is at the return address. */
GTP_UPROBE_HANDLER(handle_exit)
{
	struct return_place *at = container_of(self, struct return_place, probe.consumer);

	end_call(at, regs, user_stack_pointer(regs));
	return 0;
}

/* --- setting and removing probes --- */

/* Set the probes of the exits, then the entry's. Hits may come at once. */
static int set_places(void *arg)
{
	struct user_return *r = arg;
	int err;

	for (; r->from; r->from--) {
		err = gtp_uprobe_set(&r->place[r->from - 1].probe);
		if (err)
			return err;
	}
	return 0;
}

static int clear_places(void *arg)
{
	struct user_return *r = arg;

	for (; r->from < r->n; r->from++)
		gtp_uprobe_clear(&r->place[r->from].probe);
	return 0;
}

static int put_entry(struct user_return *r, struct gtp_why *why)
{
	struct return_place *at = r->place;
	int err;

	at->of = r;
	at->exit.addr = gtp_space_linked(r->loc->addr);
	at->probe.consumer.handler = handle_entry;
	err = gtp_uprobe_put_at(&at->probe, &r->entry, r->file, r->loc, why);
	/*
	 * For $ustack: GDB has seen the whole function, while the instruction alone may not show
	 * where the return address is.
	 */
	if (!r->above)
		r->entry.user.says = GTP_USTACK_FIRST;
	return err;
}

/* Check that the file still has this exit: it may have been changed since GDB read it. */
static int check_exit(const struct user_return *r, struct gtp_exit exit, struct gtp_why *why)
{
	u8 code[GTP_EXIT_BYTES];
	u32 n = gtp_files_code(code, r->file->base + exit.addr, sizeof(code));

	if (gtp_exits_is(exit.kind, code, n))
		return 0;
	gtp_why(why,
		"the function does not end at %#llx, where GDB has read a return or a jump: %s may have been changed since gtp lib",
		exit.addr, r->file->name);
	return -EINVAL;
}

static int put_exit(struct user_return *r, u32 i, struct gtp_exit exit, struct gtp_why *why)
{
	struct return_place *at = &r->place[i];
	int err = check_exit(r, exit, why);

	if (!err)
		err = gtp_uprobe_put(&at->probe, r->file, exit.addr, why);
	at->of = r;
	at->exit = exit;
	at->probe.consumer.handler = handle_exit;
	r->shared |= exit.kind == GTP_EXIT_SHARED;
	return err < 0 ? err : 0;
}

/*
 * Set up the entry's probe and those of the exits. Count the file as armed as soon as the entry's
 * probe is set up, so that its notes are not read again for each exit.
 */
static int put_all(struct user_return *r, const struct gtp_file_exits *exits, struct gtp_why *why)
{
	int err = put_entry(r, why);
	u32 i;

	r->file->armed++;
	for (i = 0; !err && i < exits->n; i++)
		err = put_exit(r, i + 1, exits->exit[i], why);
	return err;
}

static struct user_return *make(struct gtp_location *loc, struct gtp_file_space *file,
				const struct gtp_file_exits *exits)
{
	struct user_return *r = gtp_mem_alloc(struct_size(r, place, exits->n + 1));

	if (!r)
		return NULL;
	r->loc = loc;
	r->file = file;
	r->above = exits->above;
	r->n = exits->n + 1;
	r->from = r->n;
	return r;
}

/* Free the struct of a function that is not followed any more: the table has no call of it. */
static void drop(struct user_return *r)
{
	r->file->armed--;
	gtp_user_calls_put();
	gtp_mem_free(r);
}

static bool is_going(const void *of)
{
	const struct user_return *r = of;

	return r->from == r->n;
}

static int set_all(struct user_return *r, struct gtp_why *why)
{
	int err = gtp_uprobe_by_worker(set_places, r);

	if (!err)
		return 0;
	gtp_uprobe_by_worker(clear_places, r);
	gtp_uprobes_wait();
	/* Before the failure, processes in which a probe was set already may have entered calls. */
	gtp_user_calls_forget(is_going);
	return gtp_uprobe_explain(err, why);
}

static int find_exits(const struct gtp_location *loc, struct gtp_file_space **file,
		      const struct gtp_file_exits **exits, struct gtp_why *why)
{
	int err = gtp_uprobe_check(loc, file, why);

	if (err)
		return err;
	*exits = gtp_files_exits_at(*file, loc->addr);
	if (*exits)
		return 0;
	gtp_why(why,
		"it is not known where this function of a program returns: gtp.py in GDB finds out at tstart, and during a run at gtp trace");
	return -ENOENT;
}

static int user_return_arm(struct gtp_location *loc, struct gtp_why *why)
{
	const struct gtp_file_exits *exits;
	struct gtp_file_space *file;
	struct user_return *r;
	int err;

	if (loc->kind != GTP_LOCATION_USER_RETURN)
		return -EOPNOTSUPP;
	err = find_exits(loc, &file, &exits, why);
	if (err)
		return err;
	r = make(loc, file, exits);
	err = r ? gtp_user_calls_get() : -ENOMEM;
	if (err) {
		gtp_mem_free(r);
		return gtp_uprobe_explain(err, why);
	}
	err = put_all(r, exits, why);
	if (!err)
		err = set_all(r, why);
	if (err) {
		drop(r);
		return err;
	}
	loc->probe = r;
	loc->probe_kind = "uprobes";
	return 0;
}

static u64 user_return_missed(const struct gtp_location *loc)
{
	const struct user_return *r = loc->probe;

	return atomic_long_read(&r->missed);
}

static void forget(struct gtp_location *loc)
{
	struct user_return *r = loc->probe;

	loc->missed += user_return_missed(loc);
	loc->probe = NULL;
	drop(r);
}

static void user_return_disarm(struct gtp_location *first)
{
	struct gtp_location *loc;
	u32 total = 0, done = 0;

	for (loc = first; loc; loc = loc->next_own)
		total++;
	for (loc = first; loc; loc = loc->next_own) {
		struct user_return *r = loc->probe;

		gtp_uprobe_by_worker(clear_places, r);
		gtp_progress("removing uprobes", ++done, total);
	}
	gtp_uprobes_wait();
	gtp_user_calls_forget(is_going);
	for (loc = first; loc; loc = loc->next_own)
		forget(loc);
}

const struct gtp_probe_backend gtp_user_return_backend = {
	.name = "uprobes at returns",
	.arm = user_return_arm,
	.disarm = user_return_disarm,
	.missed = user_return_missed,
};
