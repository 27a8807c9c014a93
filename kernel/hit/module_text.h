/* SPDX-License-Identifier: GPL-2.0-only */
/* The address ranges of modules' code, for hits: no lock, and no RCU, which idle CPUs lack. */
#ifndef _GTP_MODULE_TEXT_H
#define _GTP_MODULE_TEXT_H

#include <linux/module.h>

/*
 * gtp_module_text_init - record the modules that are loaded now. gtp_module_text_changed() reports
 * later changes; it is called for them from before this call on
 */
void gtp_module_text_init(void);

/* gtp_module_text_changed - record that @mod's state is now @state, as the kernel reports it */
void gtp_module_text_changed(const struct module *mod, unsigned long state);

/**
 * gtp_module_text_changes() - return how often modules were loaded or unloaded, counted from 1
 *
 * Facts about a module's code hold while this number is the same: the kernel notifies us before it
 * frees the code, and in between it waits for all code that runs without preemption.
 */
u32 gtp_module_text_changes(void);

/**
 * gtp_module_text_has() - true if all bytes are code of one module, outside its init code
 * @start: first byte
 * @bytes: how many
 *
 * Context: any. False for modules beyond the first MODULES_MAX.
 */
bool gtp_module_text_has(u64 start, u32 bytes);

#endif /* _GTP_MODULE_TEXT_H */
