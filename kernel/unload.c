// SPDX-License-Identifier: GPL-2.0-only
/*
 * When another module is unloaded, disarms the probes in it while its text still exists.
 *
 * This file has our module notifier. First it updates the ranges of modules' code that hits know
 * (kernel/hit/module_text.c); when a module is loaded, that is all. Then, in this order:
 *
 *	1. the module's table of regions is removed: no place in it becomes a jump from here on.
 *	   Arming adds a place to the index of probed places before it looks up the table, so either
 *	   there is no table or step 3 sees the place
 *	2. the backends drop their data of the module (its tracepoints): no more are armed
 *	3. the session disarms its locations there, and reports that to the user
 *	4. probes that could not be removed (a jump under another kprobe) vanish with the text
 *
 * The priority of our notifier is 2. ftrace's notifier (1) runs later: it frees the module's
 * events, which hits may be using. The notifier of kprobes (0) runs later, too: it makes probes in
 * the module unusable. Because ours runs first, all probes are removed in the ordinary way, see
 * wait_unoptimized() in probe/kprobe/kprobe_text.c. The kernel treats failed loading like
 * unloading.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/notifier.h>

#include "base/compat.h"
#include "kernel/backends.h"
#include "kernel/base/lock_kernel.h"
#include "kernel/hit/module_text.h"
#include "kernel/host.h"
#include "kernel/unload.h"
#include "probe/shadow.h"
#include "probe/tables.h"
#include "session/dprintf.h"

static void tell(const struct module *mod, bool init, u32 n, const char *what)
{
	char text[160];

	snprintf(text, sizeof(text), "the %scode of module %s has gone, and %u %s%s with it\n",
		 init ? "init " : "", mod->name, n, what, n == 1 ? "" : "s");
	pr_info("%s", text);
	if (gtp_host.stub)
		gtp_stub_print(gtp_host.stub, text);
}

static bool has_places(const struct module *mod, bool init)
{
	u64 at, bytes, start, end;
	u32 n;

	for (n = 0; gtp_module_part(mod, init, n, &at, &bytes); n++)
		if (gtp_shadow_range(at, bytes, &start, &end))
			return true;
	return false;
}

/* Forget the probed places range by range: between the ranges may be memory of other modules. */
static void forget(const struct module *mod, bool init, u32 *tracepoints, u32 *dprintfs)
{
	struct gtp_trace *trace = &gtp_host.trace;
	u64 at, bytes, start, end;
	u32 n;

	for (n = 0; gtp_module_part(mod, init, n, &at, &bytes); n++) {
		if (!gtp_shadow_range(at, bytes, &start, &end))
			continue;
		*tracepoints += gtp_trace_forget_range(trace, start, end);
		*dprintfs += gtp_dprintf_forget_range(trace, start, end);
	}
}

/*
 * Handle memory that is about to be freed. Loading and unloading a module without a probe in it
 * must not take gtp_lock: QTSave opens a file under that lock, which may load a file system's
 * module. No run is active then, so nothing is armed.
 */
static void memory_goes(const struct module *mod, bool init)
{
	u32 tracepoints = 0, dprintfs = 0;

	if (!has_places(mod, init))
		return;
	mutex_lock(&gtp_lock);
	forget(mod, init, &tracepoints, &dprintfs);
	if (tracepoints)
		tell(mod, init, tracepoints, "tracepoint");
	if (dprintfs)
		tell(mod, init, dprintfs, "dprintf");
	if (dprintfs && gtp_host.stub)
		gtp_stub_dprintfs_gone(gtp_host.stub);
	gtp_backends_text_goes(mod, init);
	mutex_unlock(&gtp_lock);
}

static int module_changed(struct notifier_block *nb, unsigned long state, void *data)
{
	const struct module *mod = data;

	gtp_module_text_changed(mod, state);
	if (state == MODULE_STATE_GOING) {
		gtp_tables_remove(mod->name);
		gtp_backends_module_goes(mod);
	}
	/* A module that is unloaded because its init failed still has its init code. */
	if (state == MODULE_STATE_GOING || state == MODULE_STATE_LIVE)
		memory_goes(mod, true);
	if (state == MODULE_STATE_GOING)
		memory_goes(mod, false);
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = {
	.notifier_call = module_changed,
	.priority = 2,
};

int gtp_unload_init(void)
{
	int err = register_module_notifier(&module_notifier);

	if (!err)
		gtp_module_text_init();
	return err;
}

/*
 * Unregister the notifier, and wait for a call in progress. That call may take gtp_lock, so do not
 * hold it here.
 */
void gtp_unload_exit(void)
{
	unregister_module_notifier(&module_notifier);
}
