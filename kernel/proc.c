// SPDX-License-Identifier: GPL-2.0-only
/* Checks the permission to open the module's files in /proc. */
#include <linux/capability.h>
#include <linux/errno.h>
#include <linux/security.h>

#include "kernel/proc.h"

/*
 * Check the lockdown of probes and of reading kernel memory, because our files offer both. The
 * kernel's own lockdown treats these two alike ("confidentiality"), but another security module may
 * distinguish them.
 */
int gtp_proc_allowed(void)
{
	int err;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	err = security_locked_down(LOCKDOWN_KPROBES);
	return err ? err : security_locked_down(LOCKDOWN_KCORE);
}
