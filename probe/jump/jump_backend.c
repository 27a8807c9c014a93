// SPDX-License-Identifier: GPL-2.0-only
/* The backend that replaces instructions by jumps: the fastest way to probe a place. */
#include "kernel/pad/follow.h"
#include "probe/backend.h"
#include "probe/jump/can_jump.h"
#include "probe/jump/jump.h"
#include "probe/jump/jump_arm.h"
#include "probe/jump/jump_remove.h"
#include "probe/jump/jump_widen.h"
#include "probe/policy/notrace.h"
#include "probe/policy/symbol.h"

static void end_batch(void)
{
	gtp_jump_forget_kprobes();
	gtp_can_jump_end();
	gtp_symbol_forget();
	gtp_notrace_forget();
	gtp_jump_sweep_again();
	gtp_pad_probes_wipe(); /* also wipes pads that other backends have freed */
}

static void jump_exit(void)
{
	gtp_jump_remove_exit();
	gtp_patch_exit();
	gtp_follow_exit();
}

const struct gtp_probe_backend gtp_jump_backend = {
	.name = "jump",
	.arm = gtp_jump_stage,
	.commit = gtp_jump_commit,
	.widen = gtp_jump_widen,
	.disarm = gtp_jump_disarm,
	.missed = gtp_pad_probe_missed,
	.end_batch = end_batch,
	.text_goes = gtp_jump_text_goes,
	.init = gtp_patch_init,
	.exit = jump_exit,
};
