/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Watch addresses: addresses in GDB's packets that stand for a watched variable of the kernel.
 *
 * GDB's packets have only one address for a tracepoint. All kernel addresses begin with the byte
 * 0xff. A watch address has another first byte, which says how many bytes are watched, and how:
 *
 *	bits 7 to 5	011
 *	bits 4 and 3	log2 of the number of bytes: 1, 2, 4, 8
 *	bit 2		reads of the variable are hits, too
 *	bit 1		the variable is signed
 *	bit 0		1
 *
 * No processor accepts these addresses. Bit 63 is clear, so they are not kernel addresses. Bit 56
 * is set, so they are not user addresses either, even if the processor ignores other upper bits of
 * a pointer (LAM). See also base/space.h.
 */
#ifndef _GTP_WATCH_H
#define _GTP_WATCH_H

#include "base/base.h"

enum {
	GTP_WATCH_SHIFT = 56,
	GTP_WATCH_MASK = 0xe1, /* the bits that all watch addresses have in common */
	GTP_WATCH_TAG = 0x61,
	GTP_WATCH_SIGNED = 1 << 1,
	GTP_WATCH_READS = 1 << 2,
	GTP_WATCH_SIZE_SHIFT = 3,
};

/* gtp_watch_is - true if the address is a watch address */
static inline bool gtp_watch_is(u64 addr)
{
	return (addr >> GTP_WATCH_SHIFT & GTP_WATCH_MASK) == GTP_WATCH_TAG;
}

/* gtp_watch_at - return the kernel address of the variable that a watch address stands for */
static inline u64 gtp_watch_at(u64 addr)
{
	return addr | 0xffULL << GTP_WATCH_SHIFT;
}

/* gtp_watch_real - return the kernel address that a tracepoint's address stands for */
static inline u64 gtp_watch_real(u64 addr)
{
	return gtp_watch_is(addr) ? gtp_watch_at(addr) : addr;
}

/* gtp_watch_bytes - return the size of the watched variable in bytes: 1, 2, 4 or 8 */
static inline u32 gtp_watch_bytes(u64 addr)
{
	return 1U << (addr >> (GTP_WATCH_SHIFT + GTP_WATCH_SIZE_SHIFT) & 3);
}

/* gtp_watch_reads - true if reads of the variable are hits as well */
static inline bool gtp_watch_reads(u64 addr)
{
	return addr >> GTP_WATCH_SHIFT & GTP_WATCH_READS;
}

/*
 * gtp_watch_value - sign-extend or zero-extend a value of the variable; the bytes of @raw above the
 * variable's size are zero
 */
static inline s64 gtp_watch_value(u64 addr, u64 raw)
{
	u32 unused = 64 - 8 * gtp_watch_bytes(addr);

	if (addr >> GTP_WATCH_SHIFT & GTP_WATCH_SIGNED)
		return (s64)(raw << unused) >> unused;
	return (s64)raw;
}

#endif /* _GTP_WATCH_H */
