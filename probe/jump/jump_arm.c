// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jumps come into the text: chosen one by one, made together.
 *
 * However many there are, the machine is waited for a fixed number of times. What is found to be
 * in the way at any step (another probe, changed bytes, no room for a pad) turns that one place
 * into a kprobe at the end, and leaves its text as it was.
 */
#include <linux/string.h>

#include "probe/jump/jump_internal.h"
#include "probe/fentry.h"
#include "probe/blacklist.h"
#include "probe/jump/can_jump.h"

static const char near_kprobe[] = "a kprobe is among the bytes or before them";

/* --- one location --- */

/*
 * On the list before the table is looked for: a module that goes takes its table away, and then
 * looks at the list. So there is no table any more, or it finds us and waits.
 */
int gtp_jump_stage(struct gtp_location *loc, struct gtp_why *why)
{
	const char *no_jump;
	struct gtp_jump *d;
	int err;

	gtp_jump_sweep_once();
	err = gtp_jump_beside(loc->addr, &loc->no_jump, why);
	if (err)
		return err;
	if (!READ_ONCE(gtp_jumps) || !gtp_jit_ready())
		return -EOPNOTSUPP;
	if (gtp_can_jump_batch_need()) {
		loc->no_jump = GTP_JUMP_NO_MEMORY;
		return -EOPNOTSUPP;
	}
	no_jump = gtp_blacklist_jump(loc->addr);
	if (no_jump) {
		loc->no_jump = no_jump;
		return -EOPNOTSUPP;
	}
	d = gtp_jump_add(loc);
	if (!d)
		return -EOPNOTSUPP;
	err = gtp_can_jump(loc->addr, &d->region, &no_jump, why);
	if (err) {
		gtp_jump_drop(d);
		if (!loc->no_jump) /* of an entry it is known already, and better */
			loc->no_jump = no_jump;
		return err;
	}
	d->patch.len = d->region.len;
	memcpy(d->patch.old, d->region.bytes, d->region.len);
	loc->no_jump = NULL;
	return 0;
}

/* --- pads --- */

static const struct ax_verified *condition_for_pad(const struct gtp_location *loc)
{
	const struct gtp_tracepoint *tp = loc->first;

	if (!tp->cond || tp->next_here || !READ_ONCE(gtp_jit) || !gtp_pad_can(&tp->cond->ax))
		return NULL;
	return &tp->cond->ax;
}

/* A pad keeps flags that no instruction looks at only when a frame is to hold them. */
static bool collects_flags(const struct gtp_tracepoint *tp)
{
	const struct gtp_action *a;

	for (a = tp->actions; a; a = a->next) {
		if (a->kind == GTP_ACTION_REGS && a->mask >> GTP_REG_EFLAGS & 1)
			return true;
		if (a->kind == GTP_ACTION_EXPR && a->expr->ax.regs_used >> GTP_REG_EFLAGS & 1)
			return true;
	}
	return false;
}

static int make_pad(struct gtp_jump *d, const struct ax_verified *cond, struct gtp_jit_pad *pad,
		    u32 *copies)
{
	struct ax_jit_target target = *gtp_jit_target();
	struct gtp_pad_request req = {
		.region = d->call ? NULL : &d->region,
		.target = &target,
		.cond = cond,
		.at = d->patch.addr,
		.number = d->number,
		.keep_flags = collects_flags(d->loc->first),
		.copies = copies,
	};

	if (d->call)
		target.pad_hit = (u64)gtp_pad_called;
	d->conditional = cond;
	return gtp_jit_pad_make(&req, pad);
}

/* Who is among the instructions when they go finds each of them in the pad. */
static void mark(struct gtp_jump *d, const u32 *copies)
{
	struct gtp_patch *p = &d->patch;
	u64 at = p->addr;
	u32 i;

	for (i = 0; i < d->region.n; i++) {
		p->mark[i].addr = at;
		p->mark[i].to = d->pad.addr + copies[i];
		at += d->region.insn[i].len;
	}
	p->marks = d->region.n;
}

int gtp_jump_make_pad(struct gtp_jump *d)
{
	const struct ax_verified *cond = condition_for_pad(d->loc);
	u32 copies[GTP_REGION_JUMP] = { 0 };
	int err = make_pad(d, cond, &d->pad, copies);

	if (err && cond)
		err = make_pad(d, NULL, &d->pad, copies);
	if (err)
		d->pad.len = 0;
	else if (!d->call)
		mark(d, copies);
	return err;
}

const char *gtp_jump_no_pad(int err)
{
	switch (err) {
	case -ENOSPC:
		return "there is no room for more jump pads";
	case -ENOMEM:
		return GTP_JUMP_NO_MEMORY;
	case -ERANGE:
		return "its pad is too far away";
	default:
		return "its instructions cannot be moved";
	}
}

static int prepare(struct gtp_jump *d)
{
	int err = gtp_jump_make_pad(d);

	if (!err)
		err = gtp_patch_set(&d->patch, d->pad.addr);
	if (err)
		d->loc->no_jump = gtp_jump_no_pad(err);
	return err;
}

/* --- the batch --- */

/* refuse - one for which a kprobe must do; the others stay in order */
static void refuse(struct gtp_jump *d, const char *no_jump)
{
	d->refused = true;
	if (!d->loc->no_jump)
		d->loc->no_jump = no_jump;
}

/* Two that overlap are both refused: the kernel takes no kprobe behind the first byte of a jump. */
static void refuse_overlaps(struct gtp_jump_set *set)
{
	u32 i;

	for (i = 1; i < set->n; i++) {
		struct gtp_patch *a = &set->d[i - 1]->patch, *b = &set->d[i]->patch;

		if (a->addr + a->len <= b->addr)
			continue;
		refuse(set->d[i - 1], "another tracepoint is within the 5 bytes");
		refuse(set->d[i], "another tracepoint's jump would reach it");
	}
}

static int make_pads(struct gtp_jump_set *set)
{
	u32 i;
	int err = gtp_jit_open();

	if (err)
		return err;
	for (i = 0; i < set->n; i++) {
		if (!set->d[i]->refused && prepare(set->d[i]))
			set->d[i]->refused = true;
		if (i % 64 == 63)
			gtp_host_progress(NULL, "making jump pads", i, set->n);
	}
	gtp_jit_close();
	return 0;
}

/* Those that are left; the others' text is not touched. */
static u32 list_patches(struct gtp_jump_set *set)
{
	u32 i, n = 0;

	for (i = 0; i < set->n; i++) {
		if (!set->d[i]->refused)
			set->patch[n++] = &set->d[i]->patch;
	}
	return n;
}

static void watch(struct gtp_jump_set *set)
{
	u32 i;

	for (i = 0; i < set->n; i++) {
		if (set->d[i]->refused)
			continue;
		gtp_jump_connect(set->d[i]);
		gtp_patch_watch(&set->d[i]->patch);
	}
}

/* A breakpoint of ours is met, and leads to the pad as a jump does. */
static bool is_hit(const struct gtp_jump *d)
{
	return d->patch.state == GTP_PATCH_JUMP ||
	       (d->patch.state != GTP_PATCH_TEXT && !d->refused);
}

/* Nobody gets there any more, or nothing comes of it. */
static void abandon(struct gtp_jump *d)
{
	refuse(d, "something else has changed its bytes");
	gtp_jump_disconnect(d);
	if (d->patch.state == GTP_PATCH_TEXT)
		gtp_patch_unwatch(&d->patch);
}

/* What is text again before the wait: nobody is in its pad after it. */
static void unwatch_refused(struct gtp_jump_set *set)
{
	u32 i;

	for (i = 0; i < set->n; i++) {
		struct gtp_jump *d = set->d[i];

		if (d->patch.state == GTP_PATCH_TEXT && gtp_patch_is_watched(&d->patch))
			abandon(d);
	}
}

/* What has not become a jump since. true: in some of their pads tasks may be */
static bool unwatch(struct gtp_jump_set *set)
{
	bool late = false;
	u32 i;

	for (i = 0; i < set->n; i++) {
		struct gtp_jump *d = set->d[i];

		if (is_hit(d) || !gtp_patch_is_watched(&d->patch))
			continue;
		abandon(d);
		late = true;
	}
	return late;
}

static bool has_neighbour(const struct gtp_patch *p)
{
	return gtp_kprobe_list_in(p->addr - (GTP_REGION_JUMP - 1), p->addr + p->len);
}

/*
 * The kernel copies four bytes behind a kprobe when it makes a jump of it, to bring them back when
 * that goes. It must not find a breakpoint of ours there; so those of which there is a kprobe in
 * reach, ours among them, are not even begun with.
 */
static int refuse_neighbours(struct gtp_jump_set *set)
{
	u32 i;

	if (!gtp_jump_look())
		return -ENOMEM;
	for (i = 0; i < set->n; i++) {
		if (has_neighbour(&set->d[i]->patch))
			refuse(set->d[i], near_kprobe);
		if (i % 64 == 63)
			gtp_host_progress(NULL, "looking for others' kprobes", i, set->n);
	}
	gtp_can_jump_batch_end();
	return 0;
}

/*
 * Until all bytes are breakpoints, the kernel may accept a kprobe in the middle of an instruction.
 * What it would write there must not become text.
 */
static bool has_kprobe_inside(const struct gtp_jump *d)
{
	u64 at = d->patch.addr;
	u32 i;

	for (i = 0; i < d->region.n; i++) {
		if (gtp_kprobe_list_in(at + 1, at + d->region.insn[i].len))
			return true;
		at += d->region.insn[i].len;
	}
	return false;
}

/*
 * With our breakpoints in, the kernel refuses new kprobes there, and it makes no jump any more of
 * one in front; but of those that were on their way it may have.
 */
static void refuse_near_kprobes(struct gtp_jump_set *set)
{
	bool known = gtp_jump_look();
	u32 i;

	for (i = 0; i < set->n; i++) {
		struct gtp_jump *d = set->d[i];

		d->patch.skip = true;
		if (d->patch.state == GTP_PATCH_TEXT)
			continue;
		if (known && !d->patch.lost && !has_neighbour(&d->patch))
			continue;
		refuse(d, known ? near_kprobe : GTP_JUMP_NO_MEMORY);
		d->under = d->patch.lost || gtp_patch_covered(&d->patch) || has_kprobe_inside(d);
		d->patch.skip = d->under;
	}
}

/* The same for who came since then, while not all bytes were breakpoints. */
static void refuse_late_kprobes(struct gtp_jump_set *set)
{
	bool known = gtp_jump_look();
	u32 i;

	for (i = 0; i < set->n; i++) {
		struct gtp_jump *d = set->d[i];

		if (d->refused || d->patch.state == GTP_PATCH_TEXT)
			continue;
		if (known && !d->patch.lost && !gtp_jump_has_other_kprobe(&d->patch))
			continue;
		refuse(d, known ? near_kprobe : GTP_JUMP_NO_MEMORY);
		d->under = true;
	}
}

static void skip_refused(struct gtp_jump_set *set)
{
	u32 i;

	for (i = 0; i < set->n; i++)
		set->d[i]->patch.skip = set->d[i]->refused;
}

static int patch(struct gtp_jump_set *set)
{
	u32 n = list_patches(set);
	void *view;
	int err;

	if (!n)
		return 0;
	err = gtp_patch_open(set->patch, n, &view);
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
	gtp_can_jump_batch_end();
	skip_refused(set);
	gtp_jump_wait();
	gtp_patch_jump(set->patch, n);
	gtp_jump_late_kprobes(set->patch, n);
	skip_refused(set);
	gtp_patch_close(set->patch, n, view);
	if (unwatch(set))
		gtp_jump_wait();
	return 0;
}

/* A pad that was never reached, or that is no longer since before the wait. */
static int use_kprobe(struct gtp_jump *d, struct gtp_why *why)
{
	struct gtp_location *loc = d->loc;
	struct gtp_why inner = { "" };
	int err;

	gtp_jump_drop(d);
	err = gtp_kprobe_arm(NULL, loc, &inner);
	if (err)
		gtp_why(why, "tracepoint %u at 0x%llx: %s", loc->first->num, loc->addr, inner.text);
	return err;
}

/* Its first byte is under somebody's jump now, where the kernel takes no kprobe of ours either. */
static int use_nothing(struct gtp_jump *d, struct gtp_why *why)
{
	gtp_why(why, "tracepoint %u at 0x%llx: %s, since a moment ago; tstart again",
		d->loc->first->num, d->loc->addr, d->loc->no_jump);
	gtp_jump_leave(d);
	return -EBUSY;
}

static const char *mechanism(const struct gtp_jump *d)
{
	if (d->patch.state == GTP_PATCH_JUMP)
		return "jump";
	if (is_hit(d))
		return "jump, kept a breakpoint: another probe has come into its bytes";
	return "nothing any more: something else has changed its bytes";
}

static int conclude(struct gtp_jump_set *set, struct gtp_why *why)
{
	int err = 0, rc;
	u32 i;

	for (i = 0; i < set->n; i++) {
		struct gtp_jump *d = set->d[i];

		rc = 0;
		if (is_hit(d)) {
			d->loc->fast = true;
			d->loc->mechanism = mechanism(d);
			gtp_jump_become(d, GTP_JUMP_ARMED);
		} else if (d->patch.state != GTP_PATCH_TEXT) {
			rc = use_nothing(d, why);
		} else if (!err) {
			rc = use_kprobe(d, why);
		}
		err = err ? err : rc;
	}
	return err;
}

static int commit(struct gtp_jump_set *set, struct gtp_why *why)
{
	int err;

	refuse_overlaps(set);
	err = make_pads(set);
	gtp_can_jump_batch_end(); /* the kprobes that vetted are gone */
	if (!err)
		err = refuse_neighbours(set);
	if (!err)
		err = patch(set);
	if (err) {
		gtp_why(why, "no memory to put jumps into the kernel's code");
		return err;
	}
	return conclude(set, why);
}

int gtp_jump_commit(struct gtp_why *why)
{
	struct gtp_jump_set set;
	int err;

	gtp_jump_batch_ends();
	if (!gtp_jump_any(GTP_JUMP_STAGED)) {
		gtp_can_jump_batch_end();
		return 0;
	}
	err = gtp_jump_select(&set, GTP_JUMP_STAGED);
	if (err) {
		gtp_why(why, "no memory to put jumps into the kernel's code");
	} else {
		err = commit(&set, why);
		gtp_jump_deselect(&set);
	}
	gtp_can_jump_batch_end();
	return err;
}

/* --- a second tracepoint --- */

/*
 * Nobody is behind the first byte of a jump, so there is no wait before the next one. A kprobe at
 * the first byte jumps where the jump led when it was set, so that comes back. Who has come behind
 * it while our breakpoint was there keeps the bytes blank.
 */
static int turn(struct gtp_patch *p, u64 to)
{
	gtp_patch_int3_jump(&p, 1);
	if (p->state != GTP_PATCH_INT3_JUMP || !gtp_jump_look())
		return -EBUSY;
	if (gtp_jump_has_first(p)) {
		if (!gtp_jump_has_inner(p))
			gtp_patch_jump(&p, 1);
		return -EBUSY;
	}
	gtp_patch_int3_all(&p, 1);
	if (p->state != GTP_PATCH_INT3_ALL || !gtp_jump_look() || gtp_jump_has_other_kprobe(p) ||
	    gtp_patch_set(p, to))
		return -EBUSY;
	gtp_patch_jump(&p, 1);
	gtp_jump_late_kprobes(&p, 1);
	return 0;
}

/* lead_elsewhere - 0: tasks may be in the new pad, and in the old one; else in the old one alone */
static int lead_elsewhere(struct gtp_jump *d, const struct gtp_jit_pad *pad)
{
	struct gtp_patch *p = &d->patch;
	void *view;
	int err;

	if (d->call)
		return gtp_fentry_move(d, pad->addr);
	err = gtp_jump_look() && !gtp_jump_has_other_kprobe(p) ? gtp_patch_open(&p, 1, &view) : -EBUSY;
	if (!err) {
		err = turn(p, pad->addr);
		gtp_patch_close(&p, 1, view);
		p->lost = false;
		p->skip = false;
	}
	gtp_can_jump_batch_end();
	return err;
}

static void cannot_widen(const struct gtp_location *loc, int err, struct gtp_why *why)
{
	gtp_why(why, "the jump at 0x%llx cannot be changed now (%s); tstop and tstart", loc->addr,
		err == -EBUSY ? "another probe sits on it" : "no memory or no reach");
}

int gtp_jump_widen(struct gtp_location *loc, struct gtp_why *why)
{
	struct gtp_jump *d = loc->jump;
	struct gtp_jit_pad pad = { 0 };
	int err;

	if (!d || !d->conditional)
		return 0;
	err = gtp_jit_open();
	if (!err) {
		err = make_pad(d, NULL, &pad, NULL);
		gtp_jit_close();
	}
	if (!err)
		err = lead_elsewhere(d, &pad);
	if (err) {
		d->conditional = true;
		if (pad.len)
			gtp_jit_pad_free(&pad);
	} else {
		d->old_pad = d->pad;
		d->pad = pad;
	}
	if (!d->call) {
		loc->mechanism = mechanism(d);
		err = err || is_hit(d) ? err : -EBUSY;
	}
	if (err)
		cannot_widen(loc, err, why);
	return err;
}
