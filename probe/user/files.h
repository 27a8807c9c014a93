/* SPDX-License-Identifier: GPL-2.0-only */
/* Opens the files of traced programs, and gives each file its space of addresses. */
#ifndef _GTP_FILES_H
#define _GTP_FILES_H

#include <linux/fs.h>

#include "base/space.h"
#include "base/why.h"
#include "probe/user/elf.h"
#include "probe/user/exits.h"
#include "kernel/hit/cfi_kernel.h"
#include "probe/user/frames.h"

/**
 * struct gtp_file_exits - the places where calls of a function end, as GDB has found them
 * @next: the exits of the next function of the file
 * @addr: a place that each call passes once, at or near its entry; in the file's space
 * @above: bytes from the stack pointer up to the return address, at @addr
 * @n, @exit: the function's exits; all of them are in the file's code
 */
struct gtp_file_exits {
	struct gtp_file_exits *next;
	u64 addr;
	u32 above;
	u32 n;
	struct gtp_exit exit[];
};

/* struct gtp_file_frames - a file's table of call frame information, and the file for hits */
struct gtp_file_frames {
	struct gtp_frames frames;
	struct gtp_cfi_file file;
};

/**
 * struct gtp_file_space - a file, and its space of addresses
 * @next: the next file
 * @base: the first address of the file's space
 * @file: open for reading, so that the file exists as long as this struct, even if its last name is
 * removed
 * @inode: the inode that processes map, which is not @file's own on an overlay; @file keeps it
 *         alive
 * @elf: the file's segments
 * @semaphores: the semaphores of the file's markers; NULL: not known yet (probe/user/semaphore.c)
 * @exits: the exits of the file's functions; @nexits: the number of these functions
 * @stacks: the file's call frame information
 * @armed: the number of probes in the file
 * @name: the path by which the file was opened
 */
struct gtp_file_space {
	struct gtp_file_space *next;
	u64 base;
	struct file *file;
	struct inode *inode;
	struct gtp_elf elf;
	struct gtp_semaphores *semaphores;
	struct gtp_file_exits *exits;
	u32 nexits;
	struct gtp_file_frames stacks;
	u32 armed;
	char name[];
};

/* Context of all functions: process, gtp_lock; they may sleep. */

/**
 * gtp_files_open() - give a file its space of addresses, or find the one that it already has
 * @path: an absolute path, which is looked up as the calling process sees the file system
 * @space: receives the file; it stays until gtp_files_forget()
 * @why: the refusal
 *
 * Return: 0 or -errno with @why.
 */
int gtp_files_open(const char *path, const struct gtp_file_space **space, struct gtp_why *why);

/* gtp_files_find - return the file whose space has the address, or NULL */
struct gtp_file_space *gtp_files_find(u64 addr);

/* gtp_files_next - return the file after @space, the first one for NULL; NULL after the last */
const struct gtp_file_space *gtp_files_next(const struct gtp_file_space *space);

/**
 * gtp_files_read() - read code or constants at an address of a file space
 * @dst: receives the bytes
 * @addr: the address of the first byte
 * @len: the number of bytes
 *
 * Return: 0; -EFAULT if not all of the bytes are the same in all processes.
 */
int gtp_files_read(void *dst, u64 addr, u32 len);

/*
 * gtp_files_code - read the code at an address of a file space, @max bytes or as many as the code
 * has; return their number
 */
u32 gtp_files_code(void *dst, u64 addr, u32 max);

/**
 * gtp_files_exits() - remember the exits of a function
 * @addr: the function's address, in a file's space
 * @above: bytes from the stack pointer up to the return address, at @addr
 * @list: the exits, as gtp_exits_parse() reads them
 * @why: the refusal
 *
 * A second list for the same place replaces the first one, for probes that are set later.
 * Return: 0 or -errno with @why.
 */
int gtp_files_exits(u64 addr, u32 above, struct gtp_in *list, struct gtp_why *why);

/**
 * gtp_files_frames() - store a part of a file's table of call frame information
 * @addr: an address in the file's space; 0: the table is the vDSO's
 * @part: the part
 * @why: the refusal
 *
 * Return: 0 or -errno with @why.
 */
int gtp_files_frames(u64 addr, const struct gtp_part *part, struct gtp_why *why);

/* gtp_files_exits_at - return the exits of the file's function at @addr, or NULL */
const struct gtp_file_exits *gtp_files_exits_at(const struct gtp_file_space *space, u64 addr);

/*
 * gtp_files_forget - close the files that have no probe and for which @is_named(@ctx, first and
 * last address of the space) is false. The vDSO is asked for with addresses that are 0. While a
 * probe is in any file, files that have call frame information stay.
 */
void gtp_files_forget(bool (*is_named)(void *ctx, u64 first, u64 last), void *ctx);

#endif /* _GTP_FILES_H */
