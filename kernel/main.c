// SPDX-License-Identifier: GPL-2.0-only
/* Starts and stops the parts of the module in the right order. */
#include <linux/module.h>

#include "base/version.h"
#include "kernel/backends.h"
#include "kernel/base/image_kernel.h"
#include "kernel/dying.h"
#include "kernel/host.h"
#include "kernel/jit/run_kernel.h"
#include "kernel/proc.h"
#include "kernel/sleep.h"
#include "kernel/unload.h"
#include "probe/policy/entry.h"

static int __init gtp_init(void)
{
	int err;

	gtp_image_init();
	gtp_jit_start();
	err = gtp_host_init();
	if (err)
		return err;
	err = gtp_dying_init();
	if (err)
		goto err_host;
	err = gtp_unload_init();
	if (err)
		goto err_dying;
	err = gtp_backends_init();
	if (err)
		goto err_unload;
	err = gtp_proc_gtpregions_init();
	if (err)
		goto err_backends;
	err = gtp_proc_gtp_init();
	if (err)
		goto err_gtpregions;
	err = gtp_proc_gtpframe_init();
	if (err)
		goto err_gtp;
	err = gtp_proc_pipe_init();
	if (err)
		goto err_gtpframe;
	gtp_sleep_init();
	return 0;

err_gtpframe:
	gtp_proc_gtpframe_exit();
err_gtp:
	gtp_proc_gtp_exit();
err_gtpregions:
	gtp_proc_gtpregions_exit();
err_backends:
	gtp_host_stop();
	gtp_backends_exit();
	gtp_entry_exit();
err_unload:
	gtp_unload_exit();
err_dying:
	gtp_dying_exit();
err_host:
	gtp_host_exit();
	return err;
}

/*
 * Unload the module. None of our /proc files is open by now, because an open one holds a reference
 * to the module. A run without a connection may still be active. Other modules may be unloaded
 * until the last jump in them is removed, so the module notifier stays until then.
 */
static void __exit gtp_exit(void)
{
	gtp_sleep_exit();
	gtp_proc_pipe_exit();
	gtp_proc_gtpframe_exit();
	gtp_proc_gtp_exit();
	gtp_proc_gtpregions_exit();
	gtp_host_stop();
	gtp_backends_exit();
	gtp_entry_exit();
	gtp_unload_exit();
	gtp_dying_exit();
	gtp_host_exit();
}

module_init(gtp_init);
module_exit(gtp_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("GDB traces the running kernel through /proc/gtp");
MODULE_VERSION(GTP_VERSION);
