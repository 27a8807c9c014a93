// SPDX-License-Identifier: GPL-2.0-only
/* The one lock that all but hits run under, and the sign of life during long work. */
#include <linux/lockdep.h>
#include <linux/sched.h>

#include "base/lock_kernel.h"

DEFINE_MUTEX(gtp_lock); /* of everything but what hits write */

static void (*progress)(const char *what, u32 done, u32 total);

void gtp_progress_to(void (*tell)(const char *what, u32 done, u32 total))
{
	lockdep_assert_held(&gtp_lock);
	progress = tell;
}

void gtp_progress(const char *what, u32 done, u32 total)
{
	lockdep_assert_held(&gtp_lock);
	cond_resched();
	if (progress)
		progress(what, done, total);
}
