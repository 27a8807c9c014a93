/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Look up an address in a maple tree of the kernel, in which the mappings of a process are.
 *
 * mtree_load() must not be called at a hit. It retries as long as it meets nodes that are being
 * replaced, and kernels before 6.5 mark nodes as dead before they insert the new ones. If a hit, an
 * interrupt for example, comes between the two, the task that replaces the nodes cannot go on until
 * the hit ends. So gtp_maple_find() gives up after a few tries.
 */
#ifndef _GTP_MAPLE_H
#define _GTP_MAPLE_H

#include "base/base.h"

enum {
	GTP_MAPLE_KINDS = 16,  /* types of nodes that a reference to a node can name */
	GTP_MAPLE_PIVOTS = 15, /* most pivots of a node */
};

/**
 * struct gtp_maple_kind - the layout of the nodes of a type
 * @pivots: the number of pivots, which follow the node's first word; 0: no such nodes are read
 * @slot_at: the offset of the slots, one more than there are pivots
 * @end_at: the offset of the byte with the number of the last slot in use
 * @is_leaf: true if the slots are the tree's entries, and not nodes
 * @says_end: true if the byte at @end_at is always valid; false: only if the last pivot is 0
 */
struct gtp_maple_kind {
	u16 pivots;
	u16 slot_at;
	u16 end_at;
	bool is_leaf;
	bool says_end;
};

/**
 * struct gtp_maple - how to read a kernel's trees
 * @kind: the types of nodes, by number
 * @read: copies the kernel's memory; returns 0 or -EFAULT
 * @ctx: passed to @read
 */
struct gtp_maple {
	struct gtp_maple_kind kind[GTP_MAPLE_KINDS];
	int (*read)(void *ctx, void *dst, u64 addr, u32 len);
	void *ctx;
};

/**
 * gtp_maple_find() - find the entry for an index
 * @m: the layout of the nodes
 * @root_at: the address of the word that refers to the tree's root
 * @index: the index
 * @entry: receives the entry; 0: there is none
 *
 * The caller makes sure that nodes are not used for other purposes meanwhile (RCU). Each node is
 * checked after it was read: a node that is dead may be in the list of nodes to be freed, which
 * overwrites its pivots.
 *
 * Context: any; the time is bounded. Return: 0; -EAGAIN if the tree is being changed; -EFAULT if it
 * cannot be read or has another form.
 */
int gtp_maple_find(const struct gtp_maple *m, u64 root_at, u64 index, u64 *entry);

#endif /* _GTP_MAPLE_H */
