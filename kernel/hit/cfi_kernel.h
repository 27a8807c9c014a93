/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds at a hit which file a task has mapped at an address, and the file's call frame information.
 */
#ifndef _GTP_CFI_KERNEL_H
#define _GTP_CFI_KERNEL_H

#include <linux/fs.h>
#include <linux/list.h>

#include "hit/mapped.h"

/**
 * struct gtp_cfi_file - a file with call frame information
 * @node: links the files of a bucket
 * @inode: the inode that processes map; the owner keeps it alive. NULL: the vDSO
 * @is: the file
 */
struct gtp_cfi_file {
	struct hlist_node node;
	const struct inode *inode;
	struct gtp_mapped_file is;
};

/*
 * gtp_cfi_usable - true if hits can read the mappings of processes: kernels up to 6.1.23 free the
 * nodes of the trees that contain them at once
 */
bool gtp_cfi_usable(void);

/* gtp_cfi_add - let hits use a file's table from now on; under gtp_lock */
void gtp_cfi_add(struct gtp_cfi_file *file);

/* gtp_cfi_remove - let no hit find the table any more; under gtp_lock */
void gtp_cfi_remove(struct gtp_cfi_file *file);

/*
 * gtp_cfi_wait - wait until no hit uses the tables that were removed. Does not wait for a hit in a
 * program that sleeps while its memory is paged in: the caller makes sure that no uprobe is set.
 */
void gtp_cfi_wait(void);

/* gtp_cfi_any - true if a file has a table */
bool gtp_cfi_any(void);

/*
 * gtp_cfi_map - find the mapping of the current task that contains an address, as @find of struct
 * gtp_ustack_from. Context: any in which RCU is watching
 */
bool gtp_cfi_map(void *ctx, u64 addr, struct gtp_ustack_map *map);

#endif /* _GTP_CFI_KERNEL_H */
