// SPDX-License-Identifier: GPL-2.0-only
/*
 * Another tracepoint joins a jump during the run: the jump is redirected to a pad without a
 * condition ("other pad" in docs/jumps.md).
 *
 * No task is among the bytes after byte 0 of a jump, so there is no wait for tasks. Tasks may be in
 * the old pad, which stays until the location is disarmed.
 */
#include "kernel/pad/make.h"
#include "probe/jump/jump_arm.h"
#include "probe/jump/jump_widen.h"
#include "probe/kprobe/kprobe_list.h"

/*
 * Redirect a jump to the pad at @to: JUMP to INT3_JUMP to INT3_ALL to INT3_JUMP to JUMP. If a
 * kprobe at byte 0 has saved the jump as it was, write that back. If a kprobe was registered after
 * byte 0 while our int3 was there, all bytes stay int3, and the int3 in byte 0 leads to the pad.
 */
static int turn(struct gtp_patch *p, u64 to)
{
	gtp_patch_int3_jump(&p, 1);
	if (p->state != GTP_PATCH_INT3_JUMP || !gtp_kprobe_list_settle())
		return -EBUSY;
	if (gtp_jump_has_first(p)) {
		if (!gtp_jump_has_inner(p))
			gtp_patch_jump(&p, 1);
		return -EBUSY;
	}
	gtp_patch_int3_all(&p, 1);
	if (p->state != GTP_PATCH_INT3_ALL || !gtp_kprobe_list_settle() ||
	    gtp_jump_has_other_kprobe(p) || gtp_patch_set(p, to))
		return -EBUSY;
	gtp_patch_jump(&p, 1);
	gtp_jump_late_kprobes(&p, 1);
	return 0;
}

/*
 * Redirect the jump to the pad that gtp_pad_probe_widen(), the caller, has made. Return 0 or
 * -errno.
 */
static int lead(struct gtp_pad_probe *pad_probe, u64 pad)
{
	struct gtp_patch *p = &gtp_jump_of_pad(pad_probe)->patch;
	void *view;
	int err;

	if (!gtp_kprobe_list_settle() || gtp_jump_has_other_kprobe(p))
		return -EBUSY;
	err = gtp_patch_open(&p, 1, &view);
	if (!err) {
		err = turn(p, pad);
		gtp_patch_close(&p, 1, view);
		p->lost = false;
		p->skip_step = false;
	}
	return err;
}

/*
 * Redirect the jump to a pad that serves any number of tracepoints, because it leaves everything to
 * C code.
 */
int gtp_jump_widen(struct gtp_location *loc, struct gtp_why *why)
{
	struct gtp_jump *j = gtp_jump_of_pad(loc->probe);
	int err;

	if (!j->p.by_itself)
		return 0;
	err = gtp_pad_probe_widen(&j->p, &j->region, lead);
	loc->probe_kind = gtp_jump_kind(j);
	if (!err && !gtp_jump_is_hit(j))
		err = -EBUSY;
	if (err)
		gtp_why(why, "the jump at 0x%llx cannot be changed now (%s); tstop and tstart",
			loc->addr,
			err == -EBUSY ? "another probe sits on it" : "no memory or no reach");
	return err;
}
