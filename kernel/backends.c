// SPDX-License-Identifier: GPL-2.0-only
/* The ways to probe a place, in the order in which they are tried. */
#include "kernel/backends.h"

const struct gtp_probe_backend *const gtp_backends[] = {
	&gtp_event_backend,	/* all kernel tracepoints, and nothing else */
	&gtp_uprobe_backend,	/* all places in programs, and nothing else */
	&gtp_jump_backend,	/* at a function's entry, after the ftrace site */
	&gtp_fentry_backend,	/* one by one, 20 ms each: entries that take no jump */
	&gtp_kretprobe_backend, /* calls that are reported when they return */
	&gtp_kprobe_backend,	/* any place that the kernel allows, at any cost */
	NULL,
};

static void exit_before(const struct gtp_probe_backend *const *end)
{
	while (end-- > gtp_backends)
		if ((*end)->exit)
			(*end)->exit();
}

int gtp_backends_init(void)
{
	const struct gtp_probe_backend *const *b;
	int err;

	for (b = gtp_backends; *b; b++) {
		err = (*b)->init ? (*b)->init() : 0;
		if (err) {
			exit_before(b);
			return err;
		}
	}
	return 0;
}

void gtp_backends_exit(void)
{
	exit_before(gtp_backends + ARRAY_SIZE(gtp_backends) - 1);
}

void gtp_backends_module_goes(const struct module *mod)
{
	const struct gtp_probe_backend *const *b;

	for (b = gtp_backends; *b; b++)
		if ((*b)->module_goes)
			(*b)->module_goes(mod);
}

void gtp_backends_text_goes(const struct module *mod, bool init)
{
	const struct gtp_probe_backend *const *b;

	for (b = gtp_backends; *b; b++)
		if ((*b)->text_goes)
			(*b)->text_goes(mod, init);
}
