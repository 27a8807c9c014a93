/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads a debugfs file line by line in the kernel. */
#ifndef _GTP_DEBUGFS_H
#define _GTP_DEBUGFS_H

#include <linux/types.h>

struct file;

/* Context of all functions: process, may sleep. */

/**
 * gtp_debugfs_open() - open a file of debugfs for gtp_debugfs_lines()
 * @path: the path of the file, below the root of the current task
 *
 * While the file is open, debugfs cannot be unmounted from where it was opened.
 * Return: the file, for gtp_debugfs_close(); ERR_PTR(-ENOENT): it cannot be read here;
 * ERR_PTR(-ENOMEM).
 */
struct file *gtp_debugfs_open(const char *path);
void gtp_debugfs_close(struct file *file);

/**
 * gtp_debugfs_lines() - read a file of debugfs line by line, from its beginning
 * @file: the file, from gtp_debugfs_open(), possibly in another task
 * @line: called with each line; a nonzero result ends the reading
 * @ctx: passed to @line
 *
 * Return: 0 if all was read; -ENOENT: it cannot be read; -ENOMEM; or the result of @line.
 */
int gtp_debugfs_lines(struct file *file, int (*line)(void *ctx, const char *line, u32 len),
		      void *ctx);

#endif /* _GTP_DEBUGFS_H */
