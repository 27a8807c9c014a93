/* SPDX-License-Identifier: GPL-2.0-only */
/* The address ranges of modules' code. Hits look them up without a lock and without RCU. */
#ifndef _GTP_MODULE_TEXT_H
#define _GTP_MODULE_TEXT_H

#include <linux/module.h>

/*
 * gtp_module_text_init - record the modules that are loaded now. Call this after registering the
 * notifier that calls gtp_module_text_changed(), so that no change is missed
 */
void gtp_module_text_init(void);

/* gtp_module_text_changed - record the new state of @mod, as reported by the module notifier */
void gtp_module_text_changed(const struct module *mod, unsigned long state);

/**
 * gtp_module_text_changes() - return how often modules were loaded or unloaded, counted from 1
 *
 * A fact about a module's code holds while this number stays the same: the kernel notifies us
 * before it frees the code, and before freeing it waits for all code that runs with preemption off.
 */
u32 gtp_module_text_changes(void);

/**
 * gtp_module_text_has() - true if all bytes are code of one module, outside its init code
 * @start: the address of the first byte
 * @bytes: the number of bytes
 *
 * Context: any. False for modules beyond the first MODULES_MAX.
 */
bool gtp_module_text_has(u64 start, u32 bytes);

#endif /* _GTP_MODULE_TEXT_H */
