/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads a debugfs file line by line in the kernel. */
#ifndef _GTP_DEBUGFS_H
#define _GTP_DEBUGFS_H

#include <linux/types.h>

/**
 * gtp_debugfs_lines() - read a file of debugfs line by line
 * @path: the path of the file
 * @line: called with each line; a nonzero result ends the reading
 * @ctx: passed to @line
 *
 * Context: process, may sleep.
 * Return: 0 if all was read; -ENOENT: it cannot be read here; -ENOMEM; or the result of @line.
 */
int gtp_debugfs_lines(const char *path, int (*line)(void *ctx, const char *line, u32 len),
		      void *ctx);

#endif /* _GTP_DEBUGFS_H */
