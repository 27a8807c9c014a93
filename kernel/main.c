// SPDX-License-Identifier: GPL-2.0-only
/* The module itself: its parameters, and the order in which its parts come up and go down. */
#include <linux/module.h>

#include "kernel/kernel.h"
#include "base/version.h"
#include "probe/jump/jump.h"
#include "probe/jump/can_jump.h"

bool gtp_allow_write;
module_param_named(allow_write, gtp_allow_write, bool, 0400);
MODULE_PARM_DESC(allow_write, "let GDB write to kernel memory (default: no)");

bool gtp_self_trace;
module_param_named(self_trace, gtp_self_trace, bool, 0600);
MODULE_PARM_DESC(self_trace, "trace the connected GDB's own tasks too (default: no)");

unsigned int gtp_buffer_kb = 4096;
module_param_named(buffer_kb, gtp_buffer_kb, uint, 0600);
MODULE_PARM_DESC(buffer_kb, "trace buffer per CPU in KiB, unless GDB asks for a size (default: 4096)");

bool gtp_jit = true;
module_param_named(jit, gtp_jit, bool, 0600);
MODULE_PARM_DESC(jit, "compile expressions at tstart instead of interpreting them (default: yes)");

bool gtp_jumps = true;
module_param_named(jumps, gtp_jumps, bool, 0600);
MODULE_PARM_DESC(jumps, "replace instructions by jumps where that is safe (default: yes)");

static int __init gtp_init(void)
{
	int err;

	gtp_kernel_target_init();
	gtp_jit_start();
	err = gtp_event_init();
	if (err)
		return err;
	err = gtp_jump_init();
	if (err)
		goto err_event;
	err = gtp_host_init();
	if (err)
		goto err_jump;
	err = gtp_can_jump_init();
	if (err)
		goto err_host;
	err = gtp_proc_gtp_init();
	if (err)
		goto err_vet;
	err = gtp_proc_gtpframe_init();
	if (err)
		goto err_procfs;
	return 0;

err_procfs:
	gtp_proc_gtp_exit();
err_vet:
	gtp_can_jump_exit();
err_host:
	gtp_host_exit();
err_jump:
	gtp_jump_exit();
err_event:
	gtp_event_exit();
	return err;
}

/*
 * No file is open by now: each holds a reference to the module. A run that was left alone may
 * still be on.
 */
static void __exit gtp_exit(void)
{
	gtp_proc_gtpframe_exit();
	gtp_proc_gtp_exit();
	gtp_can_jump_exit();
	gtp_host_exit();
	gtp_jump_exit();
	gtp_event_exit();
}

module_init(gtp_init);
module_exit(gtp_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("GDB traces the running kernel through /proc/gtp");
MODULE_VERSION(GTP_VERSION);
