// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides whether any kind of probe can be set at a place at the moment; if not, says why in words.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/security.h>

#include "kernel/base/lock_kernel.h"
#include "kernel/base/params_kernel.h"
#include "probe/policy/blacklist.h"
#include "probe/policy/notrace.h"
#include "probe/policy/refuse.h"

static int refuse_notrace(u64 addr, struct gtp_why *why)
{
	int err = gtp_notrace(addr);

	if (err < 0) {
		gtp_probe_explain(err, why);
		return err;
	}
	if (!err)
		return 0;
	gtp_why(why,
		"its function is marked notrace: tracers run through such code, and may kill the kernel with a probe in it. If you know better: monitor notrace on");
	return -EINVAL;
}

int gtp_probe_interrupted(struct gtp_why *why)
{
	if (!gtp_interrupted())
		return 0;
	gtp_why(why, "interrupted");
	return -EINTR;
}

int gtp_probe_allowed(struct gtp_why *why)
{
	int err = security_locked_down(LOCKDOWN_KPROBES);

	if (err) {
		gtp_why(why, "the kernel is locked down: it allows no probes");
		return err;
	}
	/* The user may interrupt while many probes are being armed. */
	return gtp_probe_interrupted(why);
}

int gtp_probe_refuse(u64 addr, struct gtp_why *why)
{
	int err = gtp_probe_allowed(why);
	const char *words;

	if (err)
		return err;
	if (within_module(addr, THIS_MODULE)) {
		gtp_why(why, "that is in gdbtp itself, which cannot trace itself");
		return -EINVAL;
	}
	words = gtp_blacklist_probe(addr);
	if (words) {
		gtp_why(why, "%s", words);
		return -EINVAL;
	}
	return READ_ONCE(gtp_allow_notrace) ? 0 : refuse_notrace(addr, why);
}

void gtp_probe_explain(int err, struct gtp_why *why)
{
	switch (err) {
	case -EINVAL:
		gtp_why(why,
			"the kernel allows no probe here: not its code, or code that probes and patching rely on (see kprobes/blacklist in debugfs)");
		break;
	case -EILSEQ:
		gtp_why(why, "this is not the start of an instruction");
		break;
	case -ENOENT:
	case -EADDRNOTAVAIL:
		gtp_why(why,
			"there is no function here: is its module loaded, and its init code not freed yet?");
		break;
	case -EFAULT:
		gtp_why(why,
			"a kprobe here would crash the kernel: it would read on past this function, where no memory is. Load the module's table with gdbtp-tables: a jump needs no kprobe");
		break;
	case -ENOMEM:
		gtp_why(why, "no memory for a probe");
		break;
	default:
		gtp_why(why, "the kernel refused the probe (%pe)", ERR_PTR(err));
	}
}
