// SPDX-License-Identifier: GPL-2.0-only
/*
 * Puts jumps into the text. Jumps are staged one by one, and then written all together.
 *
 * The number of waits for all tasks does not depend on the number of jumps. A place where any step
 * finds an obstacle (another probe, changed bytes, no room for a pad) gets its original text back,
 * and the next backend is offered its location at the end.
 *
 * The steps are numbered as in "Arming" of docs/jumps.md. Each step changes the places that are in
 * the state it begins with and whose ->skip_step is false. Between two steps, the code looks for
 * other probers and sets ->skip_step of the places that the next step must not change. A place that
 * cannot go on is in one of three cases:
 *
 *	refused, TEXT   nothing of ours is in it: the next backend is offered the location
 *	refused, int3s  they cannot be removed yet (->under): the pad runs the displaced
 *	                instructions and records nothing; removal is tried again later
 *	not refused     its int3s stay and lead to the pad as the jump would: hits count
 */
#include <linux/string.h>

#include "kernel/base/lock_kernel.h"
#include "kernel/base/params_kernel.h"
#include "kernel/pad/make.h"
#include "probe/jump/can_jump.h"
#include "probe/jump/jump_arm.h"
#include "probe/jump/jump_remove.h"
#include "probe/kprobe/kprobe_list.h"
#include "probe/policy/blacklist.h"
#include "probe/policy/entry.h"
#include "probe/policy/refuse.h"
#include "probe/policy/symbol.h"
#include "probe/tables.h"
#include "probe/wait.h"

static const char near_kprobe[] = "a kprobe is among the bytes or before them";

/* --- staging one location --- */

/*
 * Step 1. Add the place to the index of probed places before looking up the table of regions.
 * Unloading a module drops its table first and then reads the index: either the table is gone
 * already, or the unloading finds the place and waits for gtp_lock.
 */
static int stage(struct gtp_location *loc, u64 at, struct gtp_why *why)
{
	bool behind = at != loc->addr;
	const char *no_jump;
	struct gtp_jump *j;
	int err;

	if (!READ_ONCE(gtp_jumps) || !gtp_jit_ready())
		return -EOPNOTSUPP;
	if (gtp_kprobe_list_need()) {
		loc->no_jump = GTP_PAD_NO_MEMORY;
		return -EOPNOTSUPP;
	}
	no_jump = gtp_blacklist_jump(at);
	if (no_jump) {
		loc->no_jump = no_jump;
		return -EOPNOTSUPP;
	}
	j = gtp_jump_add(loc, at);
	if (!j)
		return -EOPNOTSUPP;
	err = gtp_can_jump(at, behind, &j->region, &no_jump, why);
	if (err) {
		gtp_jump_drop(j);
		loc->no_jump = no_jump;
		return err;
	}
	j->patch.len = j->region.len;
	memcpy(j->patch.old, j->region.bytes, j->region.len);
	loc->no_jump = NULL;
	return 0;
}

/*
 * True if a pad can follow this function's calls until they return, each in the task that made it.
 */
static bool can_follow(struct gtp_location *loc)
{
	if (!gtp_tables_wraps(loc->addr))
		loc->no_jump = "no table says that it returns, and has no argument on the stack";
	else if (!strncmp(gtp_symbol_at(loc->addr), "__switch_to+", 12))
		loc->no_jump = "the task changes in it";
	else
		return true;
	return false;
}

/*
 * A function's first instruction is the function tracer's site, which only ftrace may change. While
 * the site is a no-op, the place after it sees the same calls with the same registers. Put the jump
 * there, if control reaches that place only from the site. If another tracer turns the site into a
 * call, hits continue, because the call returns to the place after the site. A live patch ends the
 * hits: the function that the user asked for no longer runs.
 */
int gtp_jump_stage(struct gtp_location *loc, struct gtp_why *why)
{
	u64 site = gtp_entry_idle(loc->addr);
	int err;

	if (loc->kind == GTP_LOCATION_RETURN && !can_follow(loc))
		return -EOPNOTSUPP;
	gtp_jump_sweep_once();
	if (!site || gtp_entry_ask(site)) {
		err = gtp_jump_beside(loc->addr, &loc->no_jump, why);
		return err ? err : stage(loc, loc->addr, why);
	}
	err = gtp_probe_refuse(loc->addr, why);
	if (err)
		return err;
	err = gtp_jump_beside(site + GTP_ENTRY_SITE, &loc->no_jump, why);
	if (!err)
		err = stage(loc, site + GTP_ENTRY_SITE, why);
	if (!err || gtp_why_is_general(err))
		return err;
	/* If no probe can be after the site, one can still be at the entry itself. */
	if (err != -EOPNOTSUPP)
		loc->no_jump = "the place after the function tracer's site takes no probe";
	why->text[0] = '\0';
	return -EOPNOTSUPP;
}

/* --- making pads --- */

/* Map each displaced instruction to its copy in the pad, where a trapped task resumes. */
static void mark(struct gtp_jump *j, const u64 *copies)
{
	struct gtp_patch *p = &j->patch;
	u64 at = p->addr;
	u32 i;

	for (i = 0; i < j->region.n; i++) {
		p->mark[i].addr = at;
		p->mark[i].to = copies[i];
		at += j->region.insn[i].len;
	}
	p->marks = j->region.n;
}

static int prepare(struct gtp_jump *j)
{
	u64 copies[GTP_REGION_JUMP];
	int err = gtp_pad_probe_make(&j->p, &j->region, copies);

	if (!err) {
		mark(j, copies);
		err = gtp_patch_set(&j->patch, j->p.pad.addr);
	}
	if (err)
		j->p.loc->no_jump = gtp_pad_probe_why_not(err);
	return err;
}

/* --- all staged jumps together --- */

/* Leave the location to the next backend. If ->no_jump has a reason already, keep it. */
static void refuse_jump(struct gtp_jump *j, const char *no_jump)
{
	j->refused = true;
	if (!j->p.loc->no_jump)
		j->p.loc->no_jump = no_jump;
}

/*
 * Step 2. Of two jumps that overlap refuse both: the kernel accepts no kprobe after byte 0 of a
 * jump. But if the first one is after a function tracer's site, refuse only that one: its location
 * can use the site itself, which becomes a call.
 */
static void refuse_overlaps(struct gtp_jump_set *set)
{
	u32 i;

	for (i = 1; i < set->n; i++) {
		struct gtp_jump *a = set->jump[i - 1], *b = set->jump[i];

		if (a->patch.addr + a->patch.len <= b->patch.addr)
			continue;
		refuse_jump(a, "another tracepoint is within the 5 bytes");
		if (!gtp_jump_is_behind(a))
			refuse_jump(b, "another tracepoint's jump would reach it");
	}
}

/* Step 3. Make the pads; nothing leads to them yet. gtp_jit_close() makes all CPUs see them. */
static int make_pads(struct gtp_jump_set *set)
{
	u32 i;
	int err = gtp_jit_open();

	if (err)
		return err;
	for (i = 0; i < set->n; i++) {
		if (!set->jump[i]->refused && prepare(set->jump[i]))
			set->jump[i]->refused = true;
		if (i % 64 == 63)
			gtp_progress("making jump pads", i, set->n);
	}
	gtp_jit_close();
	return 0;
}

/*
 * List the patches of jumps that are not refused, and return their number. The text of refused
 * jumps is not changed.
 */
static u32 list_patches(struct gtp_jump_set *set)
{
	u32 i, n = 0;

	for (i = 0; i < set->n; i++) {
		if (!set->jump[i]->refused)
			set->patch[n++] = &set->jump[i]->patch;
	}
	return n;
}

/*
 * Register the places with our int3 handler. Call this before writing the first int3: a task that
 * traps at one of our int3s then resumes in the pad.
 */
static void watch(struct gtp_jump_set *set)
{
	u32 i;

	for (i = 0; i < set->n; i++) {
		if (set->jump[i]->refused)
			continue;
		gtp_pad_probe_connect(&set->jump[i]->p);
		gtp_patch_watch(&set->jump[i]->patch);
	}
}

/* Disconnect the jump's pad; unwatch the place unless an int3 of ours is still in it. */
static void abandon(struct gtp_jump *j)
{
	refuse_jump(j, "something else has changed its bytes");
	gtp_pad_probe_disconnect(&j->p);
	if (j->patch.state == GTP_PATCH_TEXT)
		gtp_patch_unwatch(&j->patch);
}

/*
 * Unwatch the places whose text step 6 restored. The wait in step 8 lasts until no task is in their
 * pads any more.
 */
static void unwatch_refused(struct gtp_jump_set *set)
{
	u32 i;

	for (i = 0; i < set->n; i++) {
		struct gtp_jump *j = set->jump[i];

		if (j->patch.state == GTP_PATCH_TEXT && gtp_patch_is_watched(&j->patch))
			abandon(j);
	}
}

/*
 * Unwatch the places that did not become jumps. Return true if tasks may be in the pads of such
 * places: then the caller waits once more.
 */
static bool unwatch(struct gtp_jump_set *set)
{
	bool late = false;
	u32 i;

	for (i = 0; i < set->n; i++) {
		struct gtp_jump *j = set->jump[i];

		if (gtp_jump_is_hit(j) || !gtp_patch_is_watched(&j->patch))
			continue;
		abandon(j);
		late = true;
	}
	return late;
}

static bool has_neighbour(const struct gtp_patch *p)
{
	return gtp_kprobe_list_in(p->addr - (GTP_REGION_JUMP - 1), p->addr + p->len);
}

/*
 * Step 4. Refuse a place with any kprobe in reach, our own included, before its text is changed.
 * When the kernel optimizes a kprobe to a jump it saves the four bytes after the kprobe's int3, and
 * restores them when the kprobe is removed. These bytes must not include an int3 of ours.
 */
static int refuse_neighbours(struct gtp_jump_set *set)
{
	u32 i;

	if (!gtp_kprobe_list_settle())
		return -ENOMEM;
	for (i = 0; i < set->n; i++) {
		if (has_neighbour(&set->jump[i]->patch))
			refuse_jump(set->jump[i], near_kprobe);
		if (i % 64 == 63)
			gtp_progress("looking for others' kprobes", i, set->n);
	}
	gtp_kprobe_list_forget();
	return 0;
}

/*
 * True if a kprobe is in the middle of an instruction. The kernel may accept one there until all
 * bytes are int3. Do not restore the text of the place while such a kprobe exists.
 */
static bool has_kprobe_inside(const struct gtp_jump *j)
{
	u64 at = j->patch.addr;
	u32 i;

	for (i = 0; i < j->region.n; i++) {
		if (gtp_kprobe_list_in(at + 1, at + j->region.insn[i].len))
			return true;
		at += j->region.insn[i].len;
	}
	return false;
}

/*
 * Step 6. Refuse places near kprobes. With our int3s in place, the kernel refuses new kprobes there
 * and no longer optimizes one before them. Kprobes whose registration began earlier may be there;
 * they are in the list that gtp_kprobe_list_settle() reads. Set ->skip_step so that
 * gtp_patch_text(), which comes next, restores only places that are refused and can be restored.
 */
static void refuse_near_kprobes(struct gtp_jump_set *set)
{
	bool known = gtp_kprobe_list_settle();
	u32 i;

	for (i = 0; i < set->n; i++) {
		struct gtp_jump *j = set->jump[i];

		j->patch.skip_step = true;
		if (j->patch.state == GTP_PATCH_TEXT)
			continue;
		if (known && !j->patch.lost && !has_neighbour(&j->patch))
			continue;
		refuse_jump(j, known ? near_kprobe : GTP_PAD_NO_MEMORY);
		j->under = j->patch.lost || gtp_patch_covered(&j->patch) || has_kprobe_inside(j);
		j->patch.skip_step = j->under;
	}
}

/*
 * Step 7. Refuse places near kprobes that were registered after step 6, before all bytes were int3.
 * A kprobe among the bytes has saved an int3 of ours or a byte that is no longer text: nothing can
 * be restored until that kprobe is removed.
 */
static void refuse_late_kprobes(struct gtp_jump_set *set)
{
	bool known = gtp_kprobe_list_settle();
	u32 i;

	for (i = 0; i < set->n; i++) {
		struct gtp_jump *j = set->jump[i];

		if (j->refused || j->patch.state == GTP_PATCH_TEXT)
			continue;
		if (known && !j->patch.lost && !gtp_jump_has_other_kprobe(&j->patch))
			continue;
		refuse_jump(j, known ? near_kprobe : GTP_PAD_NO_MEMORY);
		j->under = true;
	}
}

/* Make the next step skip the places that are refused. */
static void skip_refused(struct gtp_jump_set *set)
{
	u32 i;

	for (i = 0; i < set->n; i++)
		set->jump[i]->patch.skip_step = set->jump[i]->refused;
}

/*
 * End step 9. A kprobe that was registered after byte 0 while the jumps were written has saved the
 * displacement as text: make all bytes int3 as long as it exists. A kprobe that was registered at
 * byte 0 after the jump was written has saved 0xe9 as the original: keep the jump.
 */
void gtp_jump_late_kprobes(struct gtp_patch **p, u32 n)
{
	bool known = gtp_kprobe_list_settle(), any = false;
	u32 i;

	for (i = 0; i < n; i++) {
		p[i]->skip_step = p[i]->state != GTP_PATCH_JUMP || !known ||
				  !gtp_jump_has_inner(p[i]) || gtp_jump_has_first(p[i]);
		any |= !p[i]->skip_step;
	}
	if (!any)
		return;
	gtp_patch_int3_jump(p, n);
	known = gtp_kprobe_list_settle();
	for (i = 0; i < n; i++)
		p[i]->skip_step |= !known || gtp_jump_has_first(p[i]);
	gtp_patch_int3_all(p, n);
}

/*
 * Steps 5 to 7. Write the int3s. The writable mapping of the text is removed before the wait of
 * step 8, which may take seconds. After the first int3 nothing can fail any more: each place
 * becomes a jump or ends in one of the three cases at the top of this file.
 */
static int write_int3s(struct gtp_jump_set *set, u32 n)
{
	void *view;
	int err = gtp_patch_open(set->patch, n, &view);

	if (err)
		return err;
	watch(set);
	gtp_patch_int3(set->patch, n);
	refuse_near_kprobes(set);
	gtp_patch_text(set->patch, n);
	skip_refused(set);
	unwatch_refused(set);
	gtp_patch_int3_all(set->patch, n);
	refuse_late_kprobes(set);
	gtp_kprobe_list_forget();
	skip_refused(set);
	gtp_patch_close(set->patch, n, view);
	return 0;
}

/*
 * Step 9. Write the jumps. No task is among the bytes. If there is no memory for the mapping, the
 * int3s stay; they lead to the pads as the jumps would.
 */
static void write_jumps(struct gtp_jump_set *set, u32 n)
{
	void *view;
	u32 i;

	if (gtp_patch_open(set->patch, n, &view)) {
		for (i = 0; i < set->n; i++)
			set->jump[i]->no_memory = true;
		return;
	}
	gtp_patch_jump(set->patch, n);
	gtp_jump_late_kprobes(set->patch, n);
	skip_refused(set);
	gtp_patch_close(set->patch, n, view);
}

/*
 * Steps 5 to 9. Patch the text. The second wait is for tasks in the pads of places that became text
 * only in step 9: conclude() frees these pads.
 */
static int patch(struct gtp_jump_set *set)
{
	u32 n = list_patches(set);
	int err;

	if (!n)
		return 0;
	err = write_int3s(set, n);
	if (err)
		return err;
	gtp_wait_for_tasks(); /* step 8 */
	write_jumps(set, n);
	if (unwatch(set))
		gtp_wait_for_tasks();
	return 0;
}

/* Free the pad of a jump that was never reachable, or was disconnected before the last wait. */
static void give_up(struct gtp_jump *j)
{
	j->p.loc->backend = NULL;
	gtp_jump_drop(j);
}

/*
 * Refuse a place for every backend: another prober's jump covers byte 0 now, so the kernel would
 * accept no kprobe of ours there either.
 */
static void use_nothing(struct gtp_jump *j)
{
	struct gtp_location *loc = j->p.loc;

	gtp_why(&loc->refused, "%s, since a moment ago; tstart again", loc->no_jump);
	loc->backend = NULL;
	gtp_jump_leave(j);
}

/* Set each location's kind of probe, or the reason why it has no jump. */
static void conclude(struct gtp_jump_set *set)
{
	u32 i;

	for (i = 0; i < set->n; i++) {
		struct gtp_jump *j = set->jump[i];

		if (gtp_jump_is_hit(j)) {
			j->p.loc->fast = true;
			j->p.loc->probe_kind = gtp_jump_kind(j);
			gtp_jump_become(j, GTP_JUMP_ARMED);
		} else if (j->patch.state == GTP_PATCH_TEXT) {
			give_up(j);
		} else {
			use_nothing(j);
		}
	}
}

/*
 * Steps 2 to 9. Put a batch into the text. A ^C takes effect only before the text changes and at
 * the end, so that no batch is left half done. Return 0, or -EINTR or -ENOMEM with @why.
 */
static int commit(struct gtp_jump_set *set, struct gtp_why *why)
{
	int err;

	refuse_overlaps(set);
	err = make_pads(set);
	gtp_kprobe_list_forget(); /* unregisters the test kprobes of gtp_can_jump() */
	if (!err)
		err = refuse_neighbours(set);
	if (!err && gtp_probe_interrupted(why))
		return -EINTR;
	if (!err)
		err = patch(set);
	if (err) {
		gtp_why(why, "no memory to put jumps into the kernel's code");
		return err;
	}
	conclude(set);
	return gtp_probe_interrupted(why);
}

int gtp_jump_commit(struct gtp_why *why)
{
	struct gtp_jump_set set;
	int err;

	if (!gtp_jump_any(GTP_JUMP_STAGED))
		return 0;
	err = gtp_jump_select(&set, GTP_JUMP_STAGED);
	if (err) {
		gtp_why(why, "no memory to put jumps into the kernel's code");
		return err;
	}
	err = commit(&set, why);
	gtp_jump_deselect(&set);
	return err;
}
