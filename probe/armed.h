/* SPDX-License-Identifier: GPL-2.0-only */
/* The one index of probed places, by address, with the original bytes. */
#ifndef _GTP_ARMED_H
#define _GTP_ARMED_H

#include <linux/rbtree.h>
#include <linux/types.h>

#include "regions/region.h"

struct module;

/**
 * struct gtp_armed - one place; part of the backend's own struct for it
 * @node: in the index, by @addr
 * @owner: identifies the backend: the address of one of its objects
 * @addr: the location's address
 * @text: address of the changed text; a kprobe's may follow an endbr64
 * @len: number of changed bytes; 0: we change none
 * @by_kprobe: the kernel changes them to an int3 or a jump; the first byte shows which
 * @old: the original bytes
 */
struct gtp_armed {
	struct rb_node node;
	const void *owner;
	u64 addr;
	u64 text;
	u8 len;
	bool by_kprobe;
	u8 old[GTP_REGION_MAX];
};

/*
 * gtp_armed_add - add a place before its text is changed; gtp_armed_remove - remove it after the
 * text is restored. Context: gtp_lock
 */
void gtp_armed_add(struct gtp_armed *a);
void gtp_armed_remove(struct gtp_armed *a);

/* gtp_armed_from - the first place at or above an address, or NULL. Context: gtp_lock */
struct gtp_armed *gtp_armed_from(u64 addr);
struct gtp_armed *gtp_armed_next(struct gtp_armed *a);

/**
 * gtp_armed_range() - find the smallest range around all places in a part of a module
 * @mod: a module that is being unloaded, or whose init code is being freed
 * @init: look at its init code; otherwise at the code that stays
 * @start: receives the lowest address
 * @end: receives the highest address, plus 1
 *
 * Each part is contiguous, so the range has no places of other code.
 * Context: process, with or without gtp_lock. Return: false if there is no such place.
 */
bool gtp_armed_range(const struct module *mod, bool init, u64 *start, u64 *end);

/* gtp_armed_undo - undo our probes in a copy of text: @len bytes from @addr at @buf. gtp_lock */
void gtp_armed_undo(u64 addr, u8 *buf, u32 len);

#endif /* _GTP_ARMED_H */
