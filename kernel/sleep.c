// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handles a suspend of the machine during a run.
 *
 * The run continues: suspend to RAM, hibernation and suspend to idle keep code and buffers.
 *
 * Suspend to RAM and hibernation do not preserve the processor's counter (the TSC): it may have
 * restarted, stopped, or continued during sleep. So note in every buffer which frames were made
 * before the sleep, and calibrate the TSC again: $clock is the monotonic clock, which does not
 * count sleep. The kernel's timekeeping was registered earlier and so resumes earlier: its
 * clock is running again when wake() is called. Hits between the wake-up and the new calibration
 * use the old calibration; only this CPU is online, so its frames are in order.
 *
 * In suspend to idle the TSC continues, so frames stay in order, and no syscore function is called.
 * Calibrate when the kernel reports that the suspend is over. Tasks run again before that: until
 * the calibration, $clock includes the sleep, and gtp_hit_clock_off() does not compare the clocks.
 */
#include <linux/suspend.h>

#include "base/compat.h"
#include "kernel/base/lock_kernel.h"
#include "kernel/hit/cpu_kernel.h"
#include "kernel/hit/hit_kernel.h"
#include "kernel/host.h"
#include "kernel/sleep.h"

static void wake(void)
{
	gtp_hit_recalibrate_tsc();
	gtp_buffers_restart();
}

GTP_SYSCORE(sleeper, wake);

static void wake_from_idle(void)
{
	const struct gtp_calibration *tsc = gtp_hit_replace_calibration();

	if (tsc)
		gtp_buffers_calibrate(tsc);
	gtp_hit_sleeps(false);
	gtp_trace_check_clock(&gtp_host.trace);
}

/* Every PM_SUSPEND_PREPARE is followed by PM_POST_SUSPEND, even if the suspend fails. */
static int power_changed(struct notifier_block *nb, unsigned long event, void *unused)
{
	mutex_lock(&gtp_lock);
	if (event == PM_SUSPEND_PREPARE)
		gtp_hit_sleeps(true);
	if (event == PM_POST_SUSPEND)
		wake_from_idle();
	mutex_unlock(&gtp_lock);
	return NOTIFY_DONE;
}

static struct notifier_block power_notifier = {
	.notifier_call = power_changed,
};

void gtp_sleep_init(void)
{
	gtp_syscore_register(&sleeper);
	register_pm_notifier(&power_notifier);
}

void gtp_sleep_exit(void)
{
	unregister_pm_notifier(&power_notifier);
	gtp_syscore_unregister(&sleeper);
}
