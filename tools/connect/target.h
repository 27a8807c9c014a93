/* SPDX-License-Identifier: GPL-2.0-only */
/* Opens the file of the module, /proc/gtp, for gdbtp-connect, and no other file. */
#ifndef _GTP_CONNECT_TARGET_H
#define _GTP_CONNECT_TARGET_H

#define MODULE_FILE "/proc/gtp"

/**
 * open_target - open the module's file for reading and writing
 * @path: the path that the user gave; if it is another file, it is refused without opening it
 *
 * Return: the descriptor, or -1 after a message.
 */
int open_target(const char *path);

#endif
