/* SPDX-License-Identifier: GPL-2.0-only */
/* The file that gdbtp-connect opens: the module's, and no other one. */
#ifndef _GTP_CONNECT_TARGET_H
#define _GTP_CONNECT_TARGET_H

#define MODULE_FILE "/proc/gtp"

/**
 * open_target - open the module's file for reading and writing
 * @path: a name of it; any other file is refused before it is opened
 *
 * Return: the descriptor, or -1 after a message.
 */
int open_target(const char *path);

#endif
