// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jumps leave the text: all of them together, or later those on which somebody else's probe sits.
 *
 * The kernel lets others put a kprobe on our jump. It remembers the jump, executes it by
 * emulation, and writes its first byte back when it goes; so as long as it is there, the jump and
 * its pad must stay. Such a jump is stuck: its pad means nothing to anybody, the module stays, and
 * we come back.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>

#include "probe/jump/jump_internal.h"
#include "probe/jump/can_jump.h"

enum { RETRY_MS = 1000 };

static void retry(struct work_struct *work);
static DECLARE_DELAYED_WORK(retry_work, retry);

/* choose - the next step is for those in @state of which @is says what @wanted does */
static void choose(struct gtp_jump_set *set, enum gtp_patch_state state,
		   bool (*is)(const struct gtp_patch *p), bool wanted)
{
	u32 i;

	for (i = 0; i < set->n; i++) {
		struct gtp_patch *p = &set->d[i]->patch;

		p->skip = p->state != state || is(p) != wanted;
	}
}

static bool knows_jump(const struct gtp_patch *p)
{
	return gtp_jump_has_first(p) && !gtp_jump_has_inner(p);
}

/*
 * Where a kprobe in front has taken our breakpoints for text, they come back when that goes, and
 * when the kernel has taken back the jump that it made of it.
 */
static bool is_under(const struct gtp_jump *d)
{
	const struct gtp_patch *p = &d->patch;

	return d->under && (gtp_kprobe_list_in(p->addr - (GTP_REGION_JUMP - 1), p->addr) ||
			    gtp_patch_covered(p));
}

static void choose_text(struct gtp_jump_set *set)
{
	u32 i;

	for (i = 0; i < set->n; i++) {
		struct gtp_patch *p = &set->d[i]->patch;

		p->skip = (p->state != GTP_PATCH_INT3_ALL && p->state != GTP_PATCH_INT3_TEXT) ||
			  gtp_jump_has_other_kprobe(p) || is_under(set->d[i]);
	}
}

/*
 * Once our breakpoint is in, no kprobe can be set at it: who has come before gets the jump back
 * that he knows. Once the bytes behind it are blank, too, none can be set there: what somebody has
 * taken for text in them stays blank until he is gone. Where it cannot be known who is there, the
 * breakpoints stay.
 */
static void remove_jumps(struct gtp_jump_set *set)
{
	choose(set, GTP_PATCH_JUMP, gtp_jump_has_other_kprobe, false);
	gtp_patch_int3_jump(set->patch, set->n);
	if (!gtp_jump_look())
		return;
	choose(set, GTP_PATCH_INT3_JUMP, knows_jump, true);
	gtp_patch_jump(set->patch, set->n);
	choose(set, GTP_PATCH_INT3_JUMP, gtp_jump_has_first, false);
	gtp_patch_int3_all(set->patch, set->n);
	if (!gtp_jump_look())
		return;
	choose_text(set);
	gtp_patch_text(set->patch, set->n);
}

static void free_removed(struct gtp_jump_set *set)
{
	u32 i;

	for (i = 0; i < set->n; i++) {
		struct gtp_jump *d = set->d[i];

		if (d->patch.state == GTP_PATCH_TEXT)
			gtp_patch_unwatch(&d->patch);
	}
	gtp_jump_wait();
	for (i = 0; i < set->n; i++) {
		struct gtp_jump *d = set->d[i];

		d->patch.skip = false;
		d->patch.lost = false;
		if (d->patch.state == GTP_PATCH_TEXT)
			gtp_jump_drop(d);
	}
}

static bool any_free(const struct gtp_jump_set *set)
{
	u32 i;

	for (i = 0; i < set->n; i++)
		if (!gtp_jump_has_other_kprobe(&set->d[i]->patch))
			return true;
	return false;
}

static void sweep(struct gtp_jump_set *set)
{
	void *view;
	u32 i;

	if (!gtp_jump_look())
		return;
	for (i = 0; i < set->n; i++) {
		set->patch[i] = &set->d[i]->patch;
		set->patch[i]->lost = false;
	}
	if (any_free(set) && !gtp_patch_open(set->patch, set->n, &view)) {
		remove_jumps(set);
		gtp_patch_close(set->patch, set->n, view);
		free_removed(set);
	}
	gtp_can_jump_batch_end();
}

void gtp_jump_sweep(void)
{
	struct gtp_jump_set set;

	if (gtp_jump_select(&set, GTP_JUMP_STUCK))
		return;
	sweep(&set);
	gtp_jump_deselect(&set);
}

static bool swept;

void gtp_jump_sweep_once(void)
{
	if (!swept && gtp_jump_any(GTP_JUMP_STUCK))
		gtp_jump_sweep();
	swept = true;
}

void gtp_jump_batch_ends(void)
{
	swept = false;
}

/* --- what stays for a while --- */

/* The module cannot be unloaded while a pad may be needed by somebody else's probe. */
static void hold(struct gtp_jump *d)
{
	if (d->holds)
		return;
	d->holds = try_module_get(THIS_MODULE);
	pr_info("the jump at %pS stays until the kprobe on it is gone\n", (void *)d->patch.addr);
}

static void hold_stuck(void)
{
	gtp_jump_each(GTP_JUMP_STUCK, hold);
	queue_delayed_work(system_unbound_wq, &retry_work, msecs_to_jiffies(RETRY_MS));
}

static void retry(struct work_struct *work)
{
	if (mutex_trylock(&gtp_host.lock)) {
		gtp_jump_sweep();
		mutex_unlock(&gtp_host.lock);
	}
	if (gtp_jump_any(GTP_JUMP_STUCK))
		queue_delayed_work(system_unbound_wq, &retry_work, msecs_to_jiffies(RETRY_MS));
}

/* --- disarming --- */

static void take_out(struct gtp_location *loc)
{
	struct gtp_jump *d = loc->jump;

	gtp_jump_disconnect(d);
	if (d->state == GTP_JUMP_STAGED && d->patch.state == GTP_PATCH_TEXT)
		gtp_jump_drop(d);
	else
		gtp_jump_become(d, GTP_JUMP_STUCK);
}

/* What could not be removed has no location any more; its hits are over. */
static void part(struct gtp_jump *d)
{
	struct gtp_location *loc = d->loc;

	loc->missed += atomic_long_read(&d->no_buffer);
	loc->jump = NULL;
	d->loc = NULL;
}

void gtp_jump_disarm(struct gtp_location *first)
{
	struct gtp_location *loc;
	bool any = false;

	for (loc = first; loc; loc = loc->next) {
		if (!loc->jump)
			continue;
		take_out(loc);
		any = true;
	}
	gtp_can_jump_batch_end();
	gtp_jump_batch_ends();
	if (!any)
		return;
	gtp_jump_sweep();
	if (!gtp_jump_any(GTP_JUMP_STUCK))
		return;
	gtp_jump_wait(); /* for hits that have seen the location */
	for (loc = first; loc; loc = loc->next) {
		if (loc->jump)
			part(loc->jump);
	}
	hold_stuck();
}

void gtp_jump_leave(struct gtp_jump *d)
{
	part(d);
	gtp_jump_become(d, GTP_JUMP_STUCK);
	hold_stuck();
}

static bool is_in(const struct gtp_jump *d, const struct module *mod, bool init)
{
	u64 addr = d->patch.addr;

	return init ? within_module_init(addr, mod) : within_module_core(addr, mod);
}

/* The text goes, so nothing can sit on it: the kernel has declared all kprobes there dead. */
static void forget(const struct module *mod, bool init)
{
	struct gtp_jump_set set;
	u32 i;

	if (!gtp_jump_any(GTP_JUMP_STUCK))
		return;
	while (gtp_jump_select(&set, GTP_JUMP_STUCK))
		msleep(RETRY_MS);
	for (i = 0; i < set.n; i++) {
		if (is_in(set.d[i], mod, init))
			gtp_patch_unwatch(&set.d[i]->patch);
	}
	gtp_jump_wait();
	for (i = 0; i < set.n; i++) {
		if (is_in(set.d[i], mod, init))
			gtp_jump_drop(set.d[i]);
	}
	gtp_jump_deselect(&set);
}

static void forget_text(const struct module *mod, bool init)
{
	u64 start, end;

	/* Without a jump in it a module comes and goes without our lock, as in host.c. */
	if (!gtp_jump_range_in(mod, init, &start, &end))
		return;
	mutex_lock(&gtp_host.lock);
	forget(mod, init);
	mutex_unlock(&gtp_host.lock);
}

static int module_changed(struct notifier_block *nb, unsigned long state, void *data)
{
	if (state == MODULE_STATE_GOING || state == MODULE_STATE_LIVE)
		forget_text(data, true);
	if (state == MODULE_STATE_GOING)
		forget_text(data, false);
	return NOTIFY_DONE;
}

/* After the session's own, which takes off what is armed there; some of that may get stuck. */
static struct notifier_block module_notifier = {
	.notifier_call = module_changed,
	.priority = -1,
};

int gtp_jump_init(void)
{
	int err = gtp_patch_init();

	if (err)
		return err;
	err = register_module_notifier(&module_notifier);
	if (err)
		gtp_patch_exit();
	return err;
}

/*
 * A jump that got stuck when the run was ended by the end of the module cannot hold it any more;
 * who waits is rmmod. Meanwhile the module that it is in may go.
 */
void gtp_jump_exit(void)
{
	bool told = false;

	cancel_delayed_work_sync(&retry_work);
	while (gtp_jump_any(GTP_JUMP_STUCK)) {
		mutex_lock(&gtp_host.lock);
		gtp_jump_sweep();
		mutex_unlock(&gtp_host.lock);
		if (!gtp_jump_any(GTP_JUMP_STUCK))
			break;
		if (!told)
			pr_warn("rmmod waits: something else has its probe on a jump of this module's, or has changed one\n");
		told = true;
		msleep(RETRY_MS / 10);
	}
	unregister_module_notifier(&module_notifier);
	gtp_patch_exit();
}
