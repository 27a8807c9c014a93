// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine sleeps during a run, and wakes up.
 *
 * The run goes on: code and buffers are kept by suspend to RAM and by hibernation. The processor's
 * counter is not: it may have restarted, or may have counted or not while the machine slept. Note
 * in every buffer which frames were made before, and calibrate again for $clock, the monotonic
 * clock, which does not count sleep. In suspend to idle the counter goes on, and nothing is called.
 *
 * Timekeeping has been registered earlier, so its clock runs again here. Hits between waking
 * up and this have the old calibration; only this CPU is on, so its frames are in order.
 */
#include "base/compat.h"
#include "hit/cpu_kernel.h"
#include "hit/hit_kernel.h"
#include "kernel/sleep.h"

static void wake(void)
{
	gtp_hit_recalibrate_tsc();
	gtp_buffers_restart();
}

GTP_SYSCORE(sleeper, wake);

void gtp_sleep_init(void)
{
	gtp_syscore_register(&sleeper);
}

void gtp_sleep_exit(void)
{
	gtp_syscore_unregister(&sleeper);
}
