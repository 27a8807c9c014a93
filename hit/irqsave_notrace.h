/* SPDX-License-Identifier: GPL-2.0-only */
/* Interrupts off for a hit, so that what hits in an interrupt is not lost as a hit inside a hit. */
#ifndef _GTP_IRQSAVE_NOTRACE_H
#define _GTP_IRQSAVE_NOTRACE_H

#include <linux/irqflags.h>

/*
 * gtp_irqsave_notrace - interrupts off, without a word to who traces that: it may be what has been hit.
 *
 * Lockdep must know, though: what a hit calls may take locks that it watches.
 */
static __always_inline unsigned long gtp_irqsave_notrace(bool *tell)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	*tell = !raw_irqs_disabled_flags(flags) && lockdep_hardirqs_enabled();
	if (*tell)
		lockdep_hardirqs_off(_THIS_IP_);
	return flags;
}

static __always_inline void gtp_irqrestore_notrace(unsigned long flags, bool tell)
{
	if (tell) {
		lockdep_hardirqs_on_prepare();
		lockdep_hardirqs_on(_THIS_IP_);
	}
	raw_local_irq_restore(flags);
}

/*
 * The same for code whose flags somebody has in @flags and will put back: then they are off until
 * that. Not for Xen's paravirtual guests, where flags do not say it.
 */
static __always_inline bool gtp_irqs_off_notrace(unsigned long flags)
{
	bool tell;

	native_irq_disable();
	tell = !raw_irqs_disabled_flags(flags) && lockdep_hardirqs_enabled();
	if (tell)
		lockdep_hardirqs_off(_THIS_IP_);
	return tell;
}

static __always_inline void gtp_irqs_restored_notrace(bool tell)
{
	if (tell) {
		lockdep_hardirqs_on_prepare();
		lockdep_hardirqs_on(_THIS_IP_);
	}
}

#endif /* _GTP_IRQSAVE_NOTRACE_H */
