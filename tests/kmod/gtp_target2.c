// SPDX-License-Identifier: GPL-2.0-only
/*
 * A second fixture, which tests unload while it has tracepoints. A write to its parameter `call`
 * calls its function.
 */
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "gtp_target.h"

#define CREATE_TRACE_POINTS
#include "gtp_target2_event.h"

static u64 calls;
module_param(calls, ullong, 0400);
MODULE_PARM_DESC(calls, "how often gtp_target2_fn() has been called");

GTP_TARGET_FN long gtp_target2_fn(long n)
{
	return n + 7;
}

/*
 * The last function of the module, because .gtp_last is its last section of code. It has seven
 * bytes from an even address, so that an odd number of zeros follows up to the end of the page. It
 * is never called.
 */
__asm__(".pushsection .gtp_last, \"ax\"\n"
	"	.balign 2\n"
	"	.type gtp_target2_last, @function\n"
	"gtp_target2_last:\n"
	"	.byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
	"	ud2\n"
	"	.size gtp_target2_last, . - gtp_target2_last\n"
	"	.popsection");

static int set_call(const char *text, const struct kernel_param *kp)
{
	long n;
	int err = kstrtol(text, 0, &n);

	if (err)
		return err;
	calls++;
	gtp_target2_fn(n);
	trace_gtp_target2_call(n);
	return 0;
}

static const struct kernel_param_ops call_ops = {
	.set = set_call,
};

module_param_cb(call, &call_ops, NULL, 0200);
MODULE_PARM_DESC(call, "write a number: gtp_target2_fn() is called with it");

static int __init target2_init(void)
{
	return 0;
}

/* Not marked __exit, because the section of __exit code would follow .gtp_last. */
static void target2_exit(void)
{
}

module_init(target2_init);
module_exit(target2_exit);
MODULE_DESCRIPTION("a module for gdbtp's tests to unload");
MODULE_LICENSE("GPL");
