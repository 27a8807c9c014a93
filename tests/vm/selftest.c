// SPDX-License-Identifier: GPL-2.0-only
// Job: a module that misbehaves on request, so that the runner's verdicts can be tested.

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bug.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/processor.h>
#include <linux/string.h>

static char *mode = "none";
module_param(mode, charp, 0400);
MODULE_PARM_DESC(mode, "what to do at load: none, warn, oops, trace or spin");

static void oops(void)
{
	int *nowhere = NULL;

	/* The compiler must not see that the pointer is NULL, or it emits ud2 instead of the store. */
	OPTIMIZER_HIDE_VAR(nowhere);
	*nowhere = 1;
}

static void spin(void)
{
	pr_emerg("spinning with interrupts off\n");
	local_irq_disable();
	for (;;)
		cpu_relax();
}

static int __init selftest_init(void)
{
	if (!strcmp(mode, "warn"))
		WARN(1, "asked to warn\n");
	else if (!strcmp(mode, "oops"))
		oops();
	else if (!strcmp(mode, "trace"))
		dump_stack();
	else if (!strcmp(mode, "spin"))
		spin();
	return 0;
}

static void __exit selftest_exit(void)
{
}

module_init(selftest_init);
module_exit(selftest_exit);

MODULE_DESCRIPTION("misbehaves on request, to test the guest runner");
MODULE_LICENSE("GPL");
