/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * File spaces: addresses that stand for places in the files of programs.
 *
 * An address in GDB's packets does not name a process, but each process maps a file at another
 * address. So each traced file gets a space, a range of addresses that is the same for all
 * processes: GDB's address for a place in the file is the base of the file's space plus the
 * link-time address of the place.
 *
 * No processor accepts these addresses, whatever the page tables. Bit 63 is clear, so they are not
 * kernel addresses. Bit 56 is set, so they are not user addresses either, even if the processor
 * ignores other upper bits of a pointer (LAM).
 */
#ifndef _GTP_SPACE_H
#define _GTP_SPACE_H

#include "base/base.h"

enum {
	GTP_SPACE_TAG = 0x47, /* the most significant byte of all addresses in file spaces */
	GTP_SPACE_TAG_SHIFT = 56,
	GTP_SPACE_SHIFT = 36,	     /* bits of an address within a space: 64 GiB */
	GTP_SPACE_NUMBERS = 1 << 20, /* a power of two */
};

/* gtp_space_is - true if the address is in a file space */
static inline bool gtp_space_is(u64 addr)
{
	return addr >> GTP_SPACE_TAG_SHIFT == GTP_SPACE_TAG;
}

/*
 * gtp_space_is_same - true if two addresses are in the same file space; at least one of them must
 * be in a file space
 */
static inline bool gtp_space_is_same(u64 a, u64 b)
{
	return !((a ^ b) >> GTP_SPACE_SHIFT);
}

/* gtp_space_base - return the first address of space number @n, < GTP_SPACE_NUMBERS */
static inline u64 gtp_space_base(u32 n)
{
	return (u64)GTP_SPACE_TAG << GTP_SPACE_TAG_SHIFT | (u64)n << GTP_SPACE_SHIFT;
}

/* gtp_space_linked - return the link-time address that an address of a file space stands for */
static inline u64 gtp_space_linked(u64 addr)
{
	return addr & ((1ULL << GTP_SPACE_SHIFT) - 1);
}

#endif /* _GTP_SPACE_H */
