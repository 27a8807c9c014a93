/* SPDX-License-Identifier: GPL-2.0-only */
/* Find the parts of a program or library that describe its call frames. */
#ifndef _UNW_FILE_H
#define _UNW_FILE_H

#include "tools/regions/fde.h"

enum { UNW_SEGMENTS = 16, UNW_ID = 31 };

/* struct unw_segment - a loaded segment: its link-time address, and where it is in the file */
struct unw_segment {
	u64 addr;
	u64 offset;
	u64 bytes;
	bool is_code;
};

/**
 * struct unw_file - a program, a library, or the vDSO
 * @path: its name, for messages
 * @bytes, @size: the file's contents
 * @eh_frame: its .eh_frame; no bytes if it has none
 * @id, @id_len: its build-id, cut off after UNW_ID bytes
 */
struct unw_file {
	const char *path;
	const u8 *bytes;
	u64 size;
	struct unw_segment segment[UNW_SEGMENTS];
	u32 segments;
	struct rgn_data eh_frame;
	u8 id[UNW_ID];
	u32 id_len;
};

/* unw_file_open - map a file and find its parts; exit with a message if that fails */
void unw_file_open(struct unw_file *file, const char *path);

/* unw_file_vdso - find the parts of the vDSO of the running kernel */
void unw_file_vdso(struct unw_file *file);

/*
 * unw_file_code - return the segment of code that contains all of @bytes bytes at a link-time
 * address, or NULL
 */
const struct unw_segment *unw_file_code(const struct unw_file *file, u64 addr, u64 bytes);

#endif /* _UNW_FILE_H */
