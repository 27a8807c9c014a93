// SPDX-License-Identifier: GPL-2.0-only
/*
 * Look up an address in a maple tree of the kernel. The form of the tree is the one that the
 * kernel's lib/maple_tree.c describes; all numbers in it may be anything.
 */
#include "hit/maple.h"

enum {
	WORD = sizeof(u64),
	NODE_BYTES = 256, /* nodes are aligned to their size */
	KIND_SHIFT = 3,	  /* bits 3 to 6 of a reference to a node are its type */
	ROOT_BITS = 3,	  /* the lowest bits of the root: */
	ROOT_NODE = 2,	  /* ... it is a node */
	RESERVED = 4096,  /* references are above */
	DEEPEST = 12, /* most levels: five are enough for all mappings that a process may have */
	TRIES = 3,
};

/* Find the slot for @index, which is one of the node's indices. A pivot is a slot's last index. */
static u32 find_slot(const struct gtp_maple_kind *kind, const u64 *pivot, u8 end, u64 index)
{
	u32 last = kind->pivots, i = 0;

	/* If not all pivots are in use, @end is the number of the last slot in use. */
	if ((kind->says_end || !pivot[last - 1]) && end < last)
		last = end;
	while (i < last && pivot[i] < index)
		i++;
	return i;
}

/* Replace @entry, a node, by the content of its slot for @index. */
static int descend(const struct gtp_maple *m, const struct gtp_maple_kind *kind, u64 index,
		   u64 *entry)
{
	u64 node = *entry & ~(u64)(NODE_BYTES - 1), word[1 + GTP_MAPLE_PIVOTS], next, parent;
	u32 slot;
	u8 end;

	if (m->read(m->ctx, word, node, (1U + kind->pivots) * WORD) ||
	    m->read(m->ctx, &end, node + kind->end_at, 1))
		return -EFAULT;
	slot = find_slot(kind, word + 1, end, index);
	if (m->read(m->ctx, &next, node + kind->slot_at + slot * WORD, WORD) ||
	    m->read(m->ctx, &parent, node, WORD))
		return -EFAULT;
	/* The first word of a dead node is its own address. */
	if (parent == node)
		return -EAGAIN;
	*entry = next;
	return 0;
}

static int find(const struct gtp_maple *m, u64 root_at, u64 index, u64 *entry)
{
	u64 at;
	u32 depth;

	if (m->read(m->ctx, &at, root_at, WORD))
		return -EFAULT;
	/* A tree that is empty, or has one entry, for index 0. */
	if (at < RESERVED || (at & ROOT_BITS) != ROOT_NODE) {
		*entry = 0;
		return 0;
	}
	at &= ~(u64)ROOT_NODE;
	for (depth = 0; depth < DEEPEST; depth++) {
		const struct gtp_maple_kind *kind = &m->kind[(at >> KIND_SHIFT) % GTP_MAPLE_KINDS];
		int err;

		if (at < RESERVED || !kind->pivots)
			return -EFAULT;
		err = descend(m, kind, index, &at);
		if (err)
			return err;
		if (kind->is_leaf) {
			*entry = at < RESERVED ? 0 : at;
			return 0;
		}
	}
	return -EFAULT;
}

int gtp_maple_find(const struct gtp_maple *m, u64 root_at, u64 index, u64 *entry)
{
	u32 tries = TRIES;
	int err;

	do
		err = find(m, root_at, index, entry);
	while (err == -EAGAIN && --tries);
	return err;
}
