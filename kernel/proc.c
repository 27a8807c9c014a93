// SPDX-License-Identifier: GPL-2.0-only
/* The permission to open the module's files in /proc. */
#include <linux/capability.h>
#include <linux/errno.h>
#include <linux/security.h>

#include "kernel/proc.h"

/*
 * Check both, because our files offer both: probes, and the memory of the kernel. They have the
 * same level ("confidentiality") in the kernel's own list, but another security module may
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
