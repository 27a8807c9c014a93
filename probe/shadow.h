/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The index of all probed places, by address, with the original bytes (GDB calls these the shadow
 * contents of a breakpoint).
 */
#ifndef _GTP_SHADOW_H
#define _GTP_SHADOW_H

#include <linux/rbtree.h>
#include <linux/types.h>

#include "regions/region.h"

/**
 * struct gtp_shadow - one place and its original bytes; part of the backend's own struct for it
 * @node: links it into the index, by @addr
 * @owner: identifies the backend: the address of one of its objects
 * @addr: the address of the location
 * @text: address of the changed text; a kprobe's may follow an endbr64
 * @len: number of changed bytes; 0: we change none
 * @by_kprobe: the kernel changes the text to an int3 or a jump; the first byte shows which
 * @old: the original bytes
 */
struct gtp_shadow {
	struct rb_node node;
	const void *owner;
	u64 addr;
	u64 text;
	u8 len;
	bool by_kprobe;
	u8 old[GTP_REGION_MAX];
};

/*
 * gtp_shadow_add - add a place before its text is changed; gtp_shadow_remove - remove it after the
 * text is restored. Context: gtp_lock
 */
void gtp_shadow_add(struct gtp_shadow *a);
void gtp_shadow_remove(struct gtp_shadow *a);

/* gtp_shadow_from - return the first place at or above an address, or NULL. Context: gtp_lock */
struct gtp_shadow *gtp_shadow_from(u64 addr);
struct gtp_shadow *gtp_shadow_next(struct gtp_shadow *a);

/**
 * gtp_shadow_range() - find the smallest range around all places in a part of the memory
 * @at: the part, which belongs to one owner: so the range has no places of others
 * @bytes: its size
 * @start: receives the lowest address
 * @end: receives the highest address, plus 1
 *
 * Context: process, with or without gtp_lock. Return: false if there is no such place.
 */
bool gtp_shadow_range(u64 at, u64 bytes, u64 *start, u64 *end);

/* gtp_shadow_undo - undo our probes in a copy of text: @len bytes from @addr at @buf. gtp_lock */
void gtp_shadow_undo(u64 addr, u8 *buf, u32 len);

#endif /* _GTP_SHADOW_H */
