// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes function entries: makes the function tracer's call site at the entry call a pad directly.
 *
 * A kprobe at a call site goes through the function tracer's common code, which saves all registers
 * before the condition is evaluated. A direct call does not: the pad evaluates the condition first.
 * ftrace itself changes the code, so the tracer and kprobes on the same function keep working; it
 * allows one direct call (ours, or a BPF fentry program) per site. If the function is live-patched
 * already, ftrace refuses our direct call. If our call is there first, ftrace refuses the live
 * patch until the run has ended (prepare_direct_functions_for_ipmodify()).
 *
 * ftrace removes direct calls one by one, and waits for all tasks each time. So gtp_arm() tries a
 * jump first: a jump after the site sees the same hits (probe/jump/jump_arm.c). Only where no jump
 * is possible does the site become a direct call, at most CALLS_MAX times in a run. Further entries
 * get a kprobe.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>

#include "base/compat.h"
#include "kernel/base/lock_kernel.h"
#include "kernel/base/mem_kernel.h"
#include "kernel/base/params_kernel.h"
#include "kernel/pad/make.h"
#include "probe/backend.h"
#include "probe/policy/entry.h"
#include "probe/policy/probe_test.h"
#include "probe/policy/refuse.h"
#include "probe/wait.h"

enum { CALLS_MAX = 16 };

/**
 * struct fentry - a function entry whose ftrace site calls a pad
 * @p: the pad
 * @call: the direct call that is registered with ftrace
 * @kept: true if ftrace failed to remove the call
 */
struct fentry {
	struct gtp_pad_probe p;
	struct gtp_ftrace_call call;
	bool kept;
};

static u32 calls; /* the number of direct calls that are in place; under gtp_lock */

static struct fentry *to_fentry(struct gtp_pad_probe *p)
{
	return container_of(p, struct fentry, p);
}

/*
 * Check that the address may be probed and that ftrace knows the site. Return 0, -EOPNOTSUPP or a
 * refusal.
 */
static int fentry_check(u64 addr, struct gtp_why *why)
{
	bool on_ftrace = false;
	int err = gtp_probe_refuse(addr, why);

	if (err)
		return err;
	err = gtp_probe_test(addr, &on_ftrace, NULL);
	if (err)
		gtp_probe_explain(err, why);
	else if (!on_ftrace)
		err = -EOPNOTSUPP;
	return err;
}

static int make_pad(struct fentry *f)
{
	int err = gtp_jit_open();

	if (err)
		return err;
	err = gtp_pad_probe_make(&f->p, NULL, NULL);
	gtp_jit_close();
	if (err)
		f->p.loc->no_jump = gtp_pad_probe_why_not(err);
	return err;
}

/*
 * Make ftrace call the pad. Connect the pad before setting the call, because hits may come at once.
 */
static int fentry_place(struct fentry *f)
{
	int err = make_pad(f);

	if (err)
		return err;
	gtp_pad_probe_connect(&f->p);
	f->call.to = f->p.pad.addr;
	err = gtp_ftrace_call_set(&f->call);
	if (err) {
		f->p.loc->no_jump = "the function tracer allows no direct call here now";
		gtp_pad_probe_disconnect(&f->p);
	}
	return err;
}

static void drop(struct fentry *f)
{
	gtp_pad_probe_exit(&f->p);
	gtp_mem_free(f);
}

static int fentry_arm(struct gtp_location *loc, struct gtp_why *why)
{
	u64 site = gtp_entry_idle(loc->addr);
	struct fentry *f;
	int err;

	if (loc->kind == GTP_LOCATION_RETURN || !site || !READ_ONCE(gtp_jumps) || !gtp_jit_ready())
		return -EOPNOTSUPP;
	if (calls == CALLS_MAX) {
		loc->no_jump = "the run calls from as many entries as it may, 16";
		return -EOPNOTSUPP;
	}
	f = gtp_mem_alloc(sizeof(*f));
	if (!f) {
		loc->no_jump = GTP_PAD_NO_MEMORY;
		return -EOPNOTSUPP;
	}
	f->p.called = true;
	err = gtp_pad_probe_init(&f->p, &calls, loc, loc->addr);
	if (err) {
		gtp_mem_free(f);
		return err;
	}
	err = fentry_check(loc->addr, why);
	if (err) {
		drop(f);
		return err;
	}
	f->call.ip = site;
	/* If ftrace refuses the direct call, a kprobe may still be possible. */
	if (fentry_place(f)) {
		drop(f);
		return -EOPNOTSUPP;
	}
	calls++;
	loc->probe_kind = "ftrace call";
	loc->fast = true;
	return 0;
}

static int lead(struct gtp_pad_probe *p, u64 pad)
{
	return gtp_ftrace_call_move(&to_fentry(p)->call, pad);
}

static int fentry_widen(struct gtp_location *loc, struct gtp_why *why)
{
	struct gtp_pad_probe *p = loc->probe;
	int err = p->by_itself ? gtp_pad_probe_widen(p, NULL, lead) : 0;

	if (err)
		gtp_why(why,
			"the ftrace call at 0x%llx cannot be changed now (error %d); tstop and tstart",
			loc->addr, -err);
	return err;
}

/* ftrace failed to remove the call: keep its disconnected pad, and pin the module. */
static void leave(struct fentry *f)
{
	pr_err("ftrace does not give back the entry at %pS: it has shut down after an error\n",
	       (void *)f->p.loc->addr);
	__module_get(THIS_MODULE);
	gtp_pad_probe_part(&f->p);
}

static void take_off(struct fentry *f)
{
	gtp_pad_probe_disconnect(&f->p);
	f->kept = gtp_ftrace_call_clear(&f->call);
	if (!f->kept)
		calls--;
}

static void fentry_disarm(struct gtp_location *first)
{
	struct gtp_location *loc;
	u32 done = 0, total = 0;

	for (loc = first; loc; loc = loc->next_own)
		total++;
	for (loc = first; loc; loc = loc->next_own) {
		take_off(to_fentry(loc->probe));
		gtp_progress("taking off calls", ++done, total);
	}
	gtp_wait_for_tasks();
	for (loc = first; loc; loc = loc->next_own) {
		struct fentry *f = to_fentry(loc->probe);

		if (f->kept)
			leave(f);
		else
			drop(f);
	}
}

const struct gtp_probe_backend gtp_fentry_backend = {
	.name = "ftrace call",
	.arm = fentry_arm,
	.widen = fentry_widen,
	.disarm = fentry_disarm,
	.missed = gtp_pad_probe_missed,
};
