// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine sleeps during a run, and wakes up.
 *
 * The run continues: suspend to RAM and hibernation keep code and buffers, but not the processor's
 * counter. That may have restarted, or may or may not have counted during sleep. So note in every
 * buffer which frames were made before, and calibrate again for $clock, the monotonic clock, which
 * does not count sleep. In suspend to idle the counter continues, and this is not called.
 *
 * Timekeeping was registered earlier, so its clock runs again here. Hits between waking up and this
 * use the old calibration; only this CPU is online, so its frames are in order.
 */
#include "base/compat.h"
#include "kernel/hit/cpu_kernel.h"
#include "kernel/hit/hit_kernel.h"
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
