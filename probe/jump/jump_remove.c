// SPDX-License-Identifier: GPL-2.0-only
/*
 * Removes jumps from the text, all together. A jump on which another prober has set a kprobe is
 * removed later.
 *
 * The kernel lets others register kprobes on our jumps. Such a kprobe saves the jump, emulates it,
 * and writes the jump's first byte back when the kprobe is removed. Until then the jump is stuck:
 * it and its pad stay, the pad is disconnected, the module is pinned, and removal is tried again.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/module.h>
#include <linux/workqueue.h>

#include "base/compat.h"
#include "kernel/base/lock_kernel.h"
#include "probe/jump/jump_remove.h"
#include "probe/kprobe/kprobe_list.h"
#include "probe/wait.h"

/* The interval between tries to remove stuck jumps; it doubles after each failure. */
enum { RETRY_MS = 1000, RETRY_MAX_MS = 60 * 1000 };

static unsigned int retry_ms; /* the current interval; under gtp_lock */

static void retry(struct work_struct *work);
static DECLARE_DELAYED_WORK(retry_work, retry);

/* choose - make the next step change only the places in @state for which @is returns @value */
static void choose(struct gtp_jump_set *set, enum gtp_patch_state state,
		   bool (*is)(const struct gtp_patch *p), bool value)
{
	u32 i;

	for (i = 0; i < set->n; i++) {
		struct gtp_patch *p = &set->jump[i]->patch;

		p->skip_step = p->state != state || is(p) != value;
	}
}

/* True if a kprobe at byte 0 saved the jump, and no kprobe after byte 0 depends on our int3s. */
static bool has_saved_jump(const struct gtp_patch *p)
{
	return gtp_jump_has_first(p) && !gtp_jump_has_inner(p);
}

/*
 * True if a kprobe before the place may have saved our int3s as text. The kernel writes these int3s
 * back when it replaces that kprobe's jump by a breakpoint, or when the kprobe is removed. Do not
 * change the bytes before that.
 */
static bool is_under(const struct gtp_jump *j)
{
	const struct gtp_patch *p = &j->patch;

	return j->under && (gtp_kprobe_list_in(p->addr - (GTP_REGION_JUMP - 1), p->addr) ||
			    gtp_patch_covered(p));
}

static void choose_text(struct gtp_jump_set *set)
{
	u32 i;

	for (i = 0; i < set->n; i++) {
		struct gtp_patch *p = &set->jump[i]->patch;

		p->skip_step =
			(p->state != GTP_PATCH_INT3_ALL && p->state != GTP_PATCH_INT3_TEXT) ||
			gtp_jump_has_other_kprobe(p) || is_under(set->jump[i]);
	}
}

/*
 * Remove the jumps. No kprobe can be registered on our int3. If an earlier kprobe saved the jump,
 * restore the jump. Once the bytes after byte 0 are int3, too, no kprobe can be registered there
 * either. If a kprobe was registered among these bytes before that, they stay int3 until that
 * kprobe is removed. If there is no memory for the list of kprobes, all int3s stay.
 */
static void remove_jumps(struct gtp_jump_set *set)
{
	choose(set, GTP_PATCH_JUMP, gtp_jump_has_other_kprobe, false);
	gtp_patch_int3_jump(set->patch, set->n);
	if (!gtp_kprobe_list_settle())
		return;
	choose(set, GTP_PATCH_INT3_JUMP, has_saved_jump, true);
	gtp_patch_jump(set->patch, set->n);
	choose(set, GTP_PATCH_INT3_JUMP, gtp_jump_has_first, false);
	gtp_patch_int3_all(set->patch, set->n);
	if (!gtp_kprobe_list_settle())
		return;
	choose_text(set);
	gtp_patch_text(set->patch, set->n);
}

/* Wait for all tasks, then free the removed jumps; return false at once if there are none. */
static bool free_removed(struct gtp_jump_set *set)
{
	bool any = false;
	u32 i;

	for (i = 0; i < set->n; i++) {
		struct gtp_jump *j = set->jump[i];

		if (j->patch.state != GTP_PATCH_TEXT)
			continue;
		gtp_patch_unwatch(&j->patch);
		any = true;
	}
	if (any)
		gtp_wait_for_tasks();
	for (i = 0; i < set->n; i++) {
		struct gtp_jump *j = set->jump[i];

		j->patch.skip_step = false;
		j->patch.lost = false;
		if (j->patch.state == GTP_PATCH_TEXT)
			gtp_jump_drop(j);
	}
	if (any)
		gtp_pad_probes_wipe();
	return any;
}

static bool any_free(const struct gtp_jump_set *set)
{
	u32 i;

	for (i = 0; i < set->n; i++)
		if (!gtp_jump_has_other_kprobe(&set->jump[i]->patch))
			return true;
	return false;
}

/*
 * Try to remove the stuck jumps. Return false if all CPUs were interrupted and nothing was removed.
 * If each jump still has another kprobe on it, no CPU is interrupted; such an attempt is cheap, so
 * return true.
 */
static bool sweep(struct gtp_jump_set *set)
{
	bool good = true;
	void *view;
	u32 i;

	if (!gtp_kprobe_list_settle())
		return true;
	for (i = 0; i < set->n; i++) {
		set->patch[i] = &set->jump[i]->patch;
		set->patch[i]->lost = false;
	}
	if (any_free(set) && !gtp_patch_open(set->patch, set->n, &view)) {
		remove_jumps(set);
		gtp_patch_close(set->patch, set->n, view);
		good = free_removed(set);
	}
	gtp_jump_forget_kprobes();
	return good;
}

static bool sweep_stuck(void)
{
	struct gtp_jump_set set;
	bool good;

	if (gtp_jump_select(&set, GTP_JUMP_STUCK))
		return true;
	good = sweep(&set);
	gtp_jump_deselect(&set);
	return good;
}

static bool swept; /* true after a sweep, until gtp_jump_sweep_again() */

void gtp_jump_sweep_once(void)
{
	if (!swept && gtp_jump_any(GTP_JUMP_STUCK))
		sweep_stuck();
	swept = true;
}

void gtp_jump_sweep_again(void)
{
	swept = false;
}

/* --- stuck jumps --- */

/* Pin the module while another prober's kprobe may send tasks to the jump's pad. */
static void hold(struct gtp_jump *j)
{
	if (j->holds)
		return;
	j->holds = try_module_get(THIS_MODULE);
	pr_info("the jump at %pS stays until the kprobe on it is gone\n", (void *)j->patch.addr);
}

static void retry_soon(void)
{
	retry_ms = RETRY_MS;
	mod_delayed_work(gtp_unbound_wq(), &retry_work, msecs_to_jiffies(retry_ms));
}

static void hold_stuck(void)
{
	gtp_jump_each(GTP_JUMP_STUCK, hold);
	retry_soon();
}

/*
 * Try to remove the stuck jumps again. Another prober may have changed the text for good, and each
 * attempt interrupts all CPUs, so double the interval after a failure.
 */
static void retry(struct work_struct *work)
{
	unsigned int ms = RETRY_MS;

	if (mutex_trylock(&gtp_lock)) {
		retry_ms = sweep_stuck() ? RETRY_MS : min(2 * retry_ms, (u32)RETRY_MAX_MS);
		ms = retry_ms;
		mutex_unlock(&gtp_lock);
	}
	if (gtp_jump_any(GTP_JUMP_STUCK))
		queue_delayed_work(gtp_unbound_wq(), &retry_work, msecs_to_jiffies(ms));
}

/* --- disarming --- */

/*
 * Take a jump out: free a jump that was only staged; make any other stuck until a sweep removes it.
 */
static void take_out(struct gtp_jump *j)
{
	gtp_pad_probe_disconnect(&j->p);
	if (j->state == GTP_JUMP_STAGED && j->patch.state == GTP_PATCH_TEXT)
		gtp_jump_drop(j);
	else
		gtp_jump_become(j, GTP_JUMP_STUCK);
}

void gtp_jump_disarm(struct gtp_location *first)
{
	struct gtp_location *loc;

	for (loc = first; loc; loc = loc->next_own)
		take_out(gtp_jump_of_pad(loc->probe));
	sweep_stuck();
	if (!gtp_jump_any(GTP_JUMP_STUCK))
		return;
	gtp_wait_for_tasks(); /* hits that began earlier may still use the location */
	for (loc = first; loc; loc = loc->next_own)
		if (loc->probe)
			gtp_pad_probe_part(loc->probe);
	hold_stuck();
}

void gtp_jump_leave(struct gtp_jump *j)
{
	gtp_pad_probe_part(&j->p);
	gtp_jump_become(j, GTP_JUMP_STUCK);
	hold_stuck();
}

/* --- unloading of a probed module --- */

static bool is_in(const struct gtp_jump *j, const struct module *mod, bool init)
{
	u64 addr = j->patch.addr;

	return init ? within_module_init(addr, mod) : within_module_core(addr, mod);
}

/*
 * Forget the jumps in text that is about to be freed. No task runs that text any more. The kernel
 * marks a kprobe on a jump there as gone and writes nothing back, so the pad can be freed with the
 * text.
 */
void gtp_jump_text_goes(const struct module *mod, bool init)
{
	struct gtp_jump_set set;
	u32 i;

	if (!gtp_jump_any(GTP_JUMP_STUCK))
		return;
	while (gtp_jump_select(&set, GTP_JUMP_STUCK))
		msleep(RETRY_MS);
	for (i = 0; i < set.n; i++) {
		if (is_in(set.jump[i], mod, init))
			gtp_patch_unwatch(&set.jump[i]->patch);
	}
	gtp_wait_for_tasks();
	for (i = 0; i < set.n; i++) {
		if (is_in(set.jump[i], mod, init))
			gtp_jump_drop(set.jump[i]);
	}
	gtp_jump_forget_kprobes();
	gtp_pad_probes_wipe();
	gtp_jump_deselect(&set);
}

/*
 * Wait until no jump is stuck any more. A jump that gets stuck when rmmod ends the run can no
 * longer pin our module. So wait here until the kprobe on it is removed, or until the module that
 * has the jump is unloaded.
 */
void gtp_jump_remove_exit(void)
{
	bool told = false;

	cancel_delayed_work_sync(&retry_work);
	while (gtp_jump_any(GTP_JUMP_STUCK)) {
		mutex_lock(&gtp_lock);
		sweep_stuck();
		mutex_unlock(&gtp_lock);
		if (!gtp_jump_any(GTP_JUMP_STUCK))
			break;
		if (!told)
			pr_warn("rmmod waits: something else has its probe on a jump of this module's, or has changed one\n");
		told = true;
		msleep(RETRY_MS / 10);
	}
}
