// SPDX-License-Identifier: GPL-2.0-only
// Job: a module that misbehaves on request, so that the runner's verdicts can be tested.

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bug.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/processor.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

static char *mode = "none";
module_param(mode, charp, 0400);
MODULE_PARM_DESC(mode, "what to do at load, a name in the table of misdeeds");

static void oops(void)
{
	int *nowhere = NULL;

	/* If the compiler saw that the pointer is NULL, it would emit ud2 instead of the store. */
	OPTIMIZER_HIDE_VAR(nowhere);
	*nowhere = 1;
}

/*
 * Hang: only an NMI interrupts this loop. The CPU halts in it, because a CPU that is busy until the
 * runner notices the silence would take more of the host's time than all else in this test.
 */
static void spin(void)
{
	pr_emerg("spinning with interrupts off\n");
	local_irq_disable();
	for (;;)
		asm volatile("hlt");
}

static void make_warning(void)
{
	WARN(1, "asked to warn\n");
}

/* Make the faults that only a debug kernel notices. */

static void overrun(void)
{
	char *buf = kzalloc(40, GFP_KERNEL);

	if (!buf)
		return;
	OPTIMIZER_HIDE_VAR(buf);
	buf[40] = 1;
	kfree(buf);
}

static void abba(void)
{
	static DEFINE_MUTEX(a);
	static DEFINE_MUTEX(b);

	mutex_lock(&a);
	mutex_lock(&b);
	mutex_unlock(&b);
	mutex_unlock(&a);
	mutex_lock(&b);
	mutex_lock(&a);
	mutex_unlock(&a);
	mutex_unlock(&b);
}

static void sleep(void)
{
	static DEFINE_SPINLOCK(lock);

	spin_lock(&lock);
	msleep(20);
	spin_unlock(&lock);
}

static const struct {
	const char *name;
	void (*run)(void);
} misdeeds[] = {
	{ "warn", make_warning }, { "oops", oops }, { "trace", dump_stack }, { "spin", spin },
	{ "overrun", overrun },	  { "abba", abba }, { "sleep", sleep },
};

static int __init selftest_init(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(misdeeds); i++)
		if (!strcmp(mode, misdeeds[i].name))
			misdeeds[i].run();
	return 0;
}

static void __exit selftest_exit(void)
{
}

module_init(selftest_init);
module_exit(selftest_exit);

MODULE_DESCRIPTION("misbehaves on request, to test the guest runner");
MODULE_LICENSE("GPL");
