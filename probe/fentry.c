// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hits from function entries: the function tracer's site there calls a jump pad directly.
 *
 * A kprobe at such a site goes through the function tracer's common code, which saves all registers
 * before anything of ours is asked. A direct call does not: the condition stands in the pad. What
 * changes the code is ftrace itself, so the tracer and kprobes on the same function keep working;
 * of direct calls (ours, BPF's fentry programs) it allows one. A live patch that is there first
 * keeps ours away; one that comes later is refused by ftrace until the run has ended
 * (prepare_direct_functions_for_ipmodify()).
 *
 * Taking one off waits for every task of the machine, in ftrace, one by one. So a run has only a
 * few; further entries get a kprobe.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/uaccess.h>

#include "base/compat.h"
#include "probe/jump/jump_internal.h"
#include "probe/fentry.h"
#include "probe/probe_test.h"
#include "probe/jump/can_jump.h"

enum { CALLS_MAX = 16 };

static u32 calls; /* in place, under gtp_host.lock */

static const u8 endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
static const u8 idle_site[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 }; /* nopl 0(%rax,%rax) */

/*
 * The site that belongs to an address: there, or behind the endbr64 that is there. One that calls
 * something already cannot be told from any other call; a kprobe will do. 0: none.
 */
static u64 idle_site_at(u64 addr)
{
	u8 code[sizeof(endbr64) + sizeof(idle_site)];
	u32 at;

	if (copy_from_kernel_nofault(code, (void *)addr, sizeof(code)))
		return 0;
	at = memcmp(code, endbr64, sizeof(endbr64)) ? 0 : sizeof(endbr64);
	return memcmp(code + at, idle_site, sizeof(idle_site)) ? 0 : addr + at;
}

/*
 * Weak functions that another has replaced are still in the code, without a symbol. ftrace has
 * their sites and never calls from there, but takes a call, and warns when that is taken off.
 */
static bool begins_function(u64 addr)
{
	u64 start;
	u32 size;

	return gtp_function_bounds(addr, &start, &size) && addr - start <= sizeof(endbr64);
}

/* May it be probed at all, and does ftrace know the site? 0, -EOPNOTSUPP or a refusal. */
static int vet(u64 addr, struct gtp_why *why)
{
	bool on_ftrace = false;
	int err = gtp_kprobe_refuse(addr, why);

	if (err)
		return err;
	if (!begins_function(addr))
		return -EOPNOTSUPP;
	err = gtp_probe_test(addr, &on_ftrace, NULL);
	if (err)
		gtp_kprobe_explain(err, why);
	else if (!on_ftrace)
		err = -EOPNOTSUPP;
	return err;
}

static int make_pad(struct gtp_jump *d)
{
	int err = gtp_jit_open();

	if (err)
		return err;
	err = gtp_jump_make_pad(d);
	gtp_jit_close();
	if (err)
		d->loc->no_jump = gtp_jump_no_pad(err);
	return err;
}

/* Hits come from the moment that ftrace has the call. */
static int place(struct gtp_jump *d)
{
	int err = make_pad(d);

	if (err)
		return err;
	gtp_jump_connect(d);
	d->call->to = d->pad.addr;
	err = gtp_ftrace_call_set(d->call);
	if (err) {
		d->loc->no_jump = "the function tracer allows no direct call here now";
		gtp_jump_disconnect(d);
	}
	return err;
}

int gtp_fentry_arm(struct gtp_location *loc, struct gtp_why *why)
{
	u64 site = idle_site_at(loc->addr);
	struct gtp_jump *d;
	int err;

	if (!site || !READ_ONCE(gtp_jumps) || !gtp_jit_ready())
		return -EOPNOTSUPP;
	if (calls == CALLS_MAX) {
		loc->no_jump = "the run calls from as many entries as it may, 16";
		return -EOPNOTSUPP;
	}
	d = gtp_jump_add(loc);
	if (!d)
		return -EOPNOTSUPP;
	err = vet(loc->addr, why);
	if (err) {
		gtp_jump_drop(d);
		return err;
	}
	d->call = gtp_mem_alloc(sizeof(*d->call));
	if (!d->call) {
		gtp_jump_drop(d);
		loc->no_jump = GTP_JUMP_NO_MEMORY;
		return -EOPNOTSUPP;
	}
	d->call->ip = site;
	/* Whatever ftrace says no to, a kprobe may still be possible. */
	if (place(d)) {
		gtp_jump_drop(d);
		return -EOPNOTSUPP;
	}
	calls++;
	gtp_jump_become(d, GTP_JUMP_CALLED);
	loc->mechanism = "ftrace call";
	loc->fast = true;
	return 0;
}

int gtp_fentry_move(struct gtp_jump *d, u64 pad)
{
	return gtp_ftrace_call_move(d->call, pad);
}

static struct gtp_jump *called(const struct gtp_location *loc)
{
	struct gtp_jump *d = loc->jump;

	return d && d->state == GTP_JUMP_CALLED ? d : NULL;
}

/* What is called for ever keeps all it may reach, and that is muted: the pad, and us. */
static void leave(struct gtp_jump *d)
{
	pr_err("ftrace does not give back the entry at %pS: it has shut down after an error\n",
	       (void *)d->loc->addr);
	__module_get(THIS_MODULE);
	d->loc->missed += atomic_long_read(&d->no_buffer);
	d->loc->jump = NULL;
	d->loc = NULL;
}

static void take_off(struct gtp_jump *d)
{
	gtp_jump_disconnect(d);
	if (gtp_ftrace_call_clear(d->call))
		return;
	d->call->to = 0;
	calls--;
}

void gtp_fentry_disarm(struct gtp_location *first)
{
	struct gtp_location *loc;
	struct gtp_jump *d;
	u32 done = 0, total = 0;

	for (loc = first; loc; loc = loc->next)
		total += !!called(loc);
	if (!total)
		return;
	for (loc = first; loc; loc = loc->next) {
		d = called(loc);
		if (!d)
			continue;
		take_off(d);
		gtp_host_progress(NULL, "taking off calls", ++done, total);
	}
	gtp_jump_wait();
	for (loc = first; loc; loc = loc->next) {
		d = called(loc);
		if (d && d->call->to)
			leave(d);
		else if (d)
			gtp_jump_drop(d);
	}
}
