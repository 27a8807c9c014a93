// SPDX-License-Identifier: GPL-2.0-only
/* The list of the backends: gtp_arm() asks them in this order. */
#include "kernel/backends.h"

const struct gtp_probe_backend *const gtp_backends[] = {
	&gtp_event_backend,	  /* all kernel tracepoints, and nothing else */
	&gtp_uprobe_backend,	  /* all places in programs, and nothing else */
	&gtp_user_return_backend, /* returns of functions in programs */
	&gtp_watch_backend,	  /* all watched variables, and nothing else */
	&gtp_sample_backend,	  /* all samples, and nothing else */
	&gtp_jump_backend,	  /* jumps; at a function's entry, after the ftrace site */
	&gtp_fentry_backend,	  /* entries that take no jump; removing each one takes 20 ms */
	&gtp_kretprobe_backend,	  /* the returns of kernel functions */
	&gtp_kprobe_backend,	  /* the slowest, for all places that the kernel allows */
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
