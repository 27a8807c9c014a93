// SPDX-License-Identifier: GPL-2.0-only
/*
 * A live patch of the function that prints /proc/cmdline. With the patch, /proc/cmdline says that
 * it is patched.
 */
#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/seq_file.h>

static int patched_cmdline_show(struct seq_file *m, void *v)
{
	seq_puts(m, "patched\n");
	return 0;
}

static struct klp_func funcs[] = { {
					   .old_name = "cmdline_proc_show",
					   .new_func = patched_cmdline_show,
				   },
				   {} };

static struct klp_object objs[] = { { .funcs = funcs }, {} };

static struct klp_patch patch = {
	.mod = THIS_MODULE,
	.objs = objs,
};

static int __init gtp_livepatch_init(void)
{
	return klp_enable_patch(&patch);
}

static void __exit gtp_livepatch_exit(void)
{
}

module_init(gtp_livepatch_init);
module_exit(gtp_livepatch_exit);
MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
MODULE_DESCRIPTION("a live patch for the tests of gdbtp");
