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
 * struct gtp_shadow - a probed place and its original bytes; embedded in the backend's struct for
 * the place
 * @node: links the place into the index, by @addr
 * @owner: the address of one of the backend's objects, which identifies the backend
 * @addr: the address of the location
 * @text: the address of the changed text; a kprobe's may follow an endbr64
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
 * text is restored. Context: under gtp_lock
 */
void gtp_shadow_add(struct gtp_shadow *a);
void gtp_shadow_remove(struct gtp_shadow *a);

/* gtp_shadow_from - return the first place at or above @addr, or NULL. Context: under gtp_lock */
struct gtp_shadow *gtp_shadow_from(u64 addr);
struct gtp_shadow *gtp_shadow_next(struct gtp_shadow *a);

/**
 * gtp_shadow_range() - find the smallest range around all places in a part of the address space
 * @at: the beginning of the part; all of it belongs to one module, so that the range has no places
 *      of other modules
 * @bytes: the size of the part
 * @start: receives the lowest address
 * @end: receives the highest address, plus 1
 *
 * Context: process, with or without gtp_lock. Return: false if there is no such place.
 */
bool gtp_shadow_range(u64 at, u64 bytes, u64 *start, u64 *end);

/*
 * gtp_shadow_undo - replace our probes by the original bytes in @buf, a copy of the @len bytes at
 * @addr. Context: under gtp_lock
 */
void gtp_shadow_undo(u64 addr, u8 *buf, u32 len);

#endif /* _GTP_SHADOW_H */
