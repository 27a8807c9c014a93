/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the code of modules is, for hits: without a lock, and without RCU, which idle CPUs lack. */
#ifndef _GTP_MODULE_TEXT_H
#define _GTP_MODULE_TEXT_H

#include <linux/module.h>

/*
 * gtp_module_text_init - the modules that are there now; those that come and go are reported by
 * gtp_module_text_changed() from before this call on
 */
void gtp_module_text_init(void);

/* gtp_module_text_changed - the kernel has told that @mod's state is @state now */
void gtp_module_text_changed(const struct module *mod, unsigned long state);

/**
 * gtp_module_text_changes() - how often modules have come or gone, counted from 1
 *
 * Facts about a module's code hold as long as this is the same: the kernel notifies us
 * before it frees the code, and in between it waits for all code that runs without preemption.
 */
u32 gtp_module_text_changes(void);

/**
 * gtp_module_text_has() - is it all code of one module, and none that goes when it is initialised?
 * @start: first byte
 * @bytes: how many
 *
 * Context: any. A module that is not known, as there are too many, is no module.
 */
bool gtp_module_text_has(u64 start, u32 bytes);

#endif /* _GTP_MODULE_TEXT_H */
