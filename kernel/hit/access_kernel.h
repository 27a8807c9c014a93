/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads and writes memory that may not be mapped: a fault becomes an error, in any context. */
#ifndef _GTP_ACCESS_KERNEL_H
#define _GTP_ACCESS_KERNEL_H

#include <linux/types.h>

/**
 * gtp_access_read() - copy memory that may not be mapped
 * @ctx: unused; struct gtp_hit_ops' read has this argument
 * @dst: receives the bytes
 * @addr: a kernel address; a user address of the current task; or, in a hit in a program, an
 *        address in the space of the program's file
 * @len: the number of bytes
 *
 * Context: any, NMI included; never sleeps, so a user page that is not resident gives -EFAULT.
 * Return: 0; or -EFAULT, with @dst undefined.
 */
int gtp_access_read(void *ctx, void *dst, u64 addr, u32 len);

/**
 * gtp_access_may_touch() - true if code outside of hits can safely read or write memory
 * @addr: a kernel address
 * @len: the number of bytes
 *
 * Some memory is mapped but must not be read: taken offline, given back to the hypervisor, faulty
 * (a machine check), or not accepted yet (fatal in a guest with encrypted memory). Unmapped memory
 * may be touched: the load fails. Context: any.
 */
bool gtp_access_may_touch(u64 addr, u32 len);

/* gtp_access_read_kernel - copy like gtp_access_read(), but from kernel addresses only */
int gtp_access_read_kernel(void *dst, u64 addr, u32 len);

/*
 * gtp_access_write - store to kernel memory that is mapped writable; return 0, or -EFAULT, after
 * which a part may have been written
 */
int gtp_access_write(u64 addr, const void *src, u32 len);

/*
 * gtp_access_read_small - read 1, 2, 4, 8 or 16 bytes of the current task's program, if they are
 * resident; return false otherwise, and for other lengths. The task's own page tables must be
 * loaded, as in a uprobe's handler and the NMIs that interrupt it.
 */
bool gtp_access_read_small(void *dst, u64 addr, u32 len);

#endif /* _GTP_ACCESS_KERNEL_H */
