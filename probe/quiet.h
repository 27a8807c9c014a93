/* SPDX-License-Identifier: GPL-2.0-only */
/* Interrupts off for a hit, so that what hits in an interrupt is not lost as a hit inside a hit. */
#ifndef _GTP_QUIET_H
#define _GTP_QUIET_H

#include <linux/irqflags.h>

/*
 * gtp_quiet - interrupts off, without a word to who traces that: it may be what has been hit.
 *
 * Lockdep must know, though: what a hit calls may take locks that it watches.
 */
static __always_inline unsigned long gtp_quiet(bool *tell)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	*tell = !raw_irqs_disabled_flags(flags) && lockdep_hardirqs_enabled();
	if (*tell)
		lockdep_hardirqs_off(_THIS_IP_);
	return flags;
}

/* The same where it is known whether they are on; @on: the caller has looked. */
static __always_inline bool gtp_quiet_if(bool on)
{
	bool tell = on && lockdep_hardirqs_enabled();

	if (on)
		raw_local_irq_disable();
	if (tell)
		lockdep_hardirqs_off(_THIS_IP_);
	return tell;
}

static __always_inline void gtp_quiet_if_end(bool on, bool tell)
{
	if (tell) {
		lockdep_hardirqs_on_prepare();
		lockdep_hardirqs_on(_THIS_IP_);
	}
	if (on)
		raw_local_irq_enable();
}

static __always_inline void gtp_quiet_end(unsigned long flags, bool tell)
{
	if (tell) {
		lockdep_hardirqs_on_prepare();
		lockdep_hardirqs_on(_THIS_IP_);
	}
	raw_local_irq_restore(flags);
}

#endif /* _GTP_QUIET_H */
