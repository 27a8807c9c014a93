/* SPDX-License-Identifier: GPL-2.0-only */
/* Describes the mappings of a program to the code that follows its stack. */
#ifndef _GTP_MAPPED_H
#define _GTP_MAPPED_H

#include "hit/ustack.h"

enum { GTP_MAPPED_SEGMENTS = 4 };

/**
 * struct gtp_mapped_file - a file with call frame information
 * @cfi: the table
 * @base: the base of the file's space; 0: none
 * @nsegments, @segment: the segments of code: where they are in the file, and their link-time
 *	addresses
 */
struct gtp_mapped_file {
	const struct gtp_cfi *cfi;
	u64 base;
	u32 nsegments;
	struct {
		u64 offset, bytes, addr;
	} segment[GTP_MAPPED_SEGMENTS];
};

/**
 * struct gtp_mapped - a mapping as a hit has read it; all numbers may be anything
 * @start, @end: the addresses of the first byte, and of the first byte after it
 * @offset: the offset of the first byte in the file
 * @is_code: true if the program may execute the mapping
 */
struct gtp_mapped {
	u64 start, end;
	u64 offset;
	bool is_code;
};

/**
 * gtp_mapped_describe() - describe the mapping that contains an address
 * @mapped: the mapping
 * @file: the file that it maps; NULL: none, or one without call frame information
 * @addr: the address
 * @map: receives the description
 *
 * Return: false if the mapping does not contain the address, or is no code.
 */
bool gtp_mapped_describe(const struct gtp_mapped *mapped, const struct gtp_mapped_file *file,
			 u64 addr, struct gtp_ustack_map *map);

#endif /* _GTP_MAPPED_H */
