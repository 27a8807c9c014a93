// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds at a hit which file a task has mapped at an address, and the file's call frame information.
 *
 * A hit cannot take the mmap lock: it may come in an interrupt or NMI, or in code that holds this
 * lock. But the nodes of the tree of a process's mappings are freed after a grace period, so the
 * tree can be read under RCU (hit/maple.h). The mappings themselves may be freed and used again at
 * once: always on 6.1, and as other mappings on newer kernels. So they are read like memory of
 * which nothing is known. Only addresses of RAM are read, a load that faults is an error, and the
 * numbers may be anything. Nothing is done with the numbers but to find a row of a table that has
 * been checked.
 *
 * The mapping of code to which a thread will return is not removed, unless the program is about to
 * crash. If a word of the stack only looks like a return address, wrong numbers make the stack as
 * wrong as that word does.
 */
#include <linux/hash.h>
#include <linux/maple_tree.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "hit/maple.h"
#include "kernel/base/lock_kernel.h"
#include "kernel/hit/access_kernel.h"
#include "kernel/hit/cfi_kernel.h"

enum { BITS = 6 };

/* The files that have a table, by inode; changed under gtp_lock, read under RCU. */
static struct hlist_head files[1 << BITS];
static u32 nfiles;

static struct hlist_head *bucket(const struct inode *inode)
{
	return &files[hash_ptr((void *)inode, BITS)];
}

bool gtp_cfi_usable(void)
{
	return MM_MT_FLAGS & MT_FLAGS_USE_RCU;
}

void gtp_cfi_add(struct gtp_cfi_file *file)
{
	lockdep_assert_held(&gtp_lock);
	hlist_add_head_rcu(&file->node, bucket(file->inode));
	WRITE_ONCE(nfiles, nfiles + 1);
}

void gtp_cfi_remove(struct gtp_cfi_file *file)
{
	lockdep_assert_held(&gtp_lock);
	hlist_del_rcu(&file->node);
	WRITE_ONCE(nfiles, nfiles - 1);
}

void gtp_cfi_wait(void)
{
	synchronize_rcu();
}

bool gtp_cfi_any(void)
{
	return READ_ONCE(nfiles);
}

static const struct gtp_mapped_file *find_file(const struct inode *inode)
{
	const struct gtp_cfi_file *file;

	/* clang-format off */
	hlist_for_each_entry_rcu(file, bucket(inode), node) {
		if (file->inode == inode)
			return &file->is;
	}
	/* clang-format on */
	return NULL;
}

/* --- the tree --- */

static int read_node(void *ctx, void *dst, u64 addr, u32 len)
{
	return virt_addr_valid((void *)addr) ? gtp_access_read_kernel(dst, addr, len) : -EFAULT;
}

/* clang-format off */
static const struct gtp_maple tree = {
	.kind = {
		[maple_leaf_64] = {
			.pivots = MAPLE_RANGE64_SLOTS - 1,
			.slot_at = offsetof(struct maple_range_64, slot),
			.end_at = offsetof(struct maple_range_64, meta.end),
			.is_leaf = true,
		},
		[maple_range_64] = {
			.pivots = MAPLE_RANGE64_SLOTS - 1,
			.slot_at = offsetof(struct maple_range_64, slot),
			.end_at = offsetof(struct maple_range_64, meta.end),
		},
		[maple_arange_64] = {
			.pivots = MAPLE_ARANGE64_SLOTS - 1,
			.slot_at = offsetof(struct maple_arange_64, slot),
			.end_at = offsetof(struct maple_arange_64, meta.end),
			.says_end = true,
		},
	},
	.read = read_node,
};

/* clang-format on */

/* hit/maple.c knows this form of nodes. */
static_assert(MAPLE_RANGE64_SLOTS - 1 <= (int)GTP_MAPLE_PIVOTS);
static_assert(offsetof(struct maple_range_64, pivot) == sizeof(u64));
static_assert(offsetof(struct maple_arange_64, pivot) == sizeof(u64));
static_assert(MAPLE_NODE_MASK == 255 && MAPLE_NODE_TYPE_SHIFT == 3);
static_assert(MAPLE_NODE_TYPE_MASK == GTP_MAPLE_KINDS - 1);

/* --- a mapping --- */

/* True if a struct that may have been freed is in RAM, where reading it has no effect. */
static bool is_ram(const void *at, u32 bytes)
{
	return virt_addr_valid(at) && gtp_access_may_touch((u64)at, bytes);
}

/* Read a word of such a struct. Return false if it cannot be read. */
static bool word_of(u64 *value, const void *from)
{
	return !gtp_access_read_kernel(value, (u64)from, sizeof(*value));
}

/* Find the inode of a mapping; NULL if it maps no file. Return false if it cannot be read. */
static bool inode_of(const struct vm_area_struct *vma, const struct inode **inode)
{
	const struct file *file;
	u64 value;

	*inode = NULL;
	if (!word_of(&value, &vma->vm_file))
		return false;
	if (!value)
		return true;
	file = (const struct file *)value;
	if (!is_ram(file, sizeof(*file)) || !word_of(&value, &file->f_inode))
		return false;
	*inode = (const struct inode *)value;
	return true;
}

static bool read_mapping(const struct vm_area_struct *vma, struct gtp_mapped *mapped)
{
	u64 page, flags;

	BUILD_BUG_ON(sizeof(vma->vm_flags) != sizeof(flags));
	if (!is_ram(vma, sizeof(*vma)) || !word_of(&mapped->start, &vma->vm_start) ||
	    !word_of(&mapped->end, &vma->vm_end) || !word_of(&page, &vma->vm_pgoff) ||
	    !word_of(&flags, &vma->vm_flags))
		return false;
	mapped->offset = page << PAGE_SHIFT;
	mapped->is_code = flags & VM_EXEC;
	return true;
}

static bool find(struct mm_struct *mm, u64 addr, struct gtp_ustack_map *map)
{
	const struct gtp_mapped_file *file = NULL;
	const struct inode *inode;
	struct gtp_mapped mapped;
	u64 vma;

	if (!mt_in_rcu(&mm->mm_mt) || gtp_maple_find(&tree, (u64)&mm->mm_mt.ma_root, addr, &vma) ||
	    !vma || !read_mapping((const struct vm_area_struct *)vma, &mapped) ||
	    !inode_of((const struct vm_area_struct *)vma, &inode))
		return false;
	if (inode) {
		file = find_file(inode);
	} else if (mapped.start == (__force u64)READ_ONCE(mm->context.vdso)) {
		mapped.offset = 0;
		file = find_file(NULL);
	}
	return gtp_mapped_describe(&mapped, file, addr, map);
}

bool gtp_cfi_map(void *ctx, u64 addr, struct gtp_ustack_map *map)
{
	struct mm_struct *mm = current->mm;
	bool found;

	if (!mm)
		return false;
	rcu_read_lock();
	found = find(mm, addr, map);
	rcu_read_unlock();
	return found;
}
