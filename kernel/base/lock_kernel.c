// SPDX-License-Identifier: GPL-2.0-only
/* Defines the lock under which all code except hits runs; reports progress during long work. */
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "kernel/base/lock_kernel.h"

DEFINE_MUTEX(gtp_lock); /* guards everything except the data that hits write */

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

/* --- ^C --- */

static bool asked;

void gtp_interrupt(void)
{
	WRITE_ONCE(asked, true);
}

void gtp_interrupt_forget(void)
{
	WRITE_ONCE(asked, false);
}

/*
 * True if the client has sent ^C as a SIGINT: while GDB is in write() with its packet it cannot
 * send a ^C over the line, but its terminal sends it the signal. Other signals (a changed window
 * size, a child that ends) are not a reason to stop.
 */
static bool has_sigint(void)
{
	if (!signal_pending(current) || sigismember(&current->blocked, SIGINT))
		return false;
	return sigismember(&current->pending.signal, SIGINT) ||
	       sigismember(&current->signal->shared_pending.signal, SIGINT);
}

bool gtp_interrupted(void)
{
	lockdep_assert_held(&gtp_lock);
	return fatal_signal_pending(current) || READ_ONCE(asked) || has_sigint();
}
