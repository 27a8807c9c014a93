/* SPDX-License-Identifier: GPL-2.0-only */
/* Read a debugfs file line by line in the kernel. */
#ifndef _GTP_DEBUGFS_H
#define _GTP_DEBUGFS_H

#include <linux/types.h>

/**
 * gtp_debugfs_lines() - read a file of debugfs line by line
 * @path: the file
 * @line: called with each; a value other than 0 ends it
 * @ctx: for @line
 *
 * Context: process, may sleep.
 * Return: 0 all has been read; -ENOENT: it cannot be read here; -ENOMEM; what @line said.
 */
int gtp_debugfs_lines(const char *path, int (*line)(void *ctx, const char *line, u32 len),
		      void *ctx);

#endif /* _GTP_DEBUGFS_H */
