/* SPDX-License-Identifier: GPL-2.0-only */
/* Disable interrupts for a hit, so that hits in interrupts are not lost as nested ones. */
#ifndef _GTP_IRQSAVE_NOTRACE_H
#define _GTP_IRQSAVE_NOTRACE_H

#include <linux/irqflags.h>

/*
 * gtp_irqsave_notrace - disable interrupts without calling the irqsoff tracer, which may be probed
 *
 * Lockdep's state is still updated: code that a hit calls may take locks, which lockdep checks.
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
 * gtp_irqs_off_notrace - disable interrupts for a caller that has saved the flags, passes them in
 * @flags and will restore them. Not for Xen PV guests, where the flags lack the interrupt state.
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
