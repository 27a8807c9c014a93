/* SPDX-License-Identifier: GPL-2.0-only */
/* Every difference between the kernels we build for, each with the change that made it. */
#ifndef _GTP_COMPAT_H
#define _GTP_COMPAT_H

#include <linux/module.h>
#include <linux/version.h>

/*
 * A module's memory. Since 6.4 (ac3b43283923 "module: replace module_layout with module_memory") it is an
 * array of regions by type; before, one layout for what stays and one for what is freed after init, text
 * first in each. Both have size 0 once they are freed.
 */
struct gtp_range {
	unsigned long start, end;
};

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
static inline struct gtp_range gtp_module_text(const struct module *mod)
{
	const struct module_memory *m = &mod->mem[MOD_TEXT];

	return (struct gtp_range){ (unsigned long)m->base, (unsigned long)m->base + m->size };
}

static inline struct gtp_range gtp_module_init_text(const struct module *mod)
{
	const struct module_memory *m = &mod->mem[MOD_INIT_TEXT];

	return (struct gtp_range){ (unsigned long)m->base, (unsigned long)m->base + m->size };
}
#else
static inline struct gtp_range gtp_module_text(const struct module *mod)
{
	const struct module_layout *l = &mod->core_layout;

	return (struct gtp_range){ (unsigned long)l->base, (unsigned long)l->base + l->text_size };
}

static inline struct gtp_range gtp_module_init_text(const struct module *mod)
{
	const struct module_layout *l = &mod->init_layout;

	return (struct gtp_range){ (unsigned long)l->base, (unsigned long)l->base + l->text_size };
}
#endif

#endif /* _GTP_COMPAT_H */
