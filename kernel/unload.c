// SPDX-License-Identifier: GPL-2.0-only
/*
 * Other modules that go: what is probed in them is disarmed while their text is still there.
 *
 * This is the one module notifier. The order in it:
 *
 *	1. the module's table of regions goes: no place in it becomes a jump from here on. Arming
 *	   puts a place into the index first and looks up the table then, so that either there is no
 *	   table or step 3 sees the place
 *	2. the backends forget what they know of the module (its tracepoints): none is armed any more
 *	3. the session disarms its locations there, and tells the user
 *	4. what could not be removed (a jump under another kprobe) goes with the text
 *
 * Its priority, 2, is above that of ftrace (1), which frees the module's events that hits may be
 * using, and above that of kprobes (0), which makes probes in the module unusable: all are taken
 * off by the ordinary way. On failed loading the kernel calls it as on unloading.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/notifier.h>

#include "base/lock_kernel.h"
#include "kernel/backends.h"
#include "kernel/host.h"
#include "kernel/unload.h"
#include "probe/armed.h"
#include "probe/tables.h"

static void tell(const struct module *mod, bool init, u32 n)
{
	char text[160];

	snprintf(text, sizeof(text),
		 "the %scode of module %s has gone, and %u tracepoint%s with it\n",
		 init ? "init " : "", mod->name, n, n == 1 ? "" : "s");
	pr_info("%s", text);
	if (gtp_host.stub)
		gtp_stub_print(gtp_host.stub, text);
}

/*
 * Without a probe in it a module comes and goes without gtp_lock. That matters: under the lock,
 * saving a trace may open a file whose file system loads a module, and then nothing is armed.
 */
static void text_goes(const struct module *mod, bool init)
{
	u64 start, end;
	u32 n;

	if (!gtp_armed_range(mod, init, &start, &end))
		return;
	mutex_lock(&gtp_lock);
	n = gtp_trace_forget_range(&gtp_host.trace, start, end);
	if (n)
		tell(mod, init, n);
	gtp_backends_text_goes(mod, init);
	mutex_unlock(&gtp_lock);
}

static int module_changed(struct notifier_block *nb, unsigned long state, void *data)
{
	const struct module *mod = data;

	if (state == MODULE_STATE_GOING) {
		gtp_tables_remove(mod->name);
		gtp_backends_module_goes(mod);
	}
	/* One that goes because its init failed has its init code still. */
	if (state == MODULE_STATE_GOING || state == MODULE_STATE_LIVE)
		text_goes(mod, true);
	if (state == MODULE_STATE_GOING)
		text_goes(mod, false);
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = {
	.notifier_call = module_changed,
	.priority = 2,
};

int gtp_unload_init(void)
{
	return register_module_notifier(&module_notifier);
}

/* Waits for a call that is under way. That may take gtp_lock, which is not held here. */
void gtp_unload_exit(void)
{
	unregister_module_notifier(&module_notifier);
}
