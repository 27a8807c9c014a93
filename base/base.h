/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The environment that shared code may use: integer types, errno, strings, byte order.
 *
 * A shared file is compiled into the module and into userspace from one copy and includes only this
 * header and its siblings. Only this header and base/cpu.h depend on whether they are compiled for
 * the kernel or for userspace.
 */
#ifndef _GTP_BASE_H
#define _GTP_BASE_H

#ifdef __KERNEL__
#include "base/base_kernel.h"
#else
#include "base/base_user.h"
#endif

/* gtp_round8 - round a byte count up to a multiple of 8, as frames need it */
static inline u32 gtp_round8(u32 n)
{
	return (n + 7) & ~7U;
}

/* gtp_get_be - read an operand of bytecode: big-endian, unaligned */
static inline u64 gtp_get_be(const u8 *p, u32 bytes)
{
	u64 v = 0;

	while (bytes--)
		v = v << 8 | *p++;
	return v;
}

/* gtp_put_le - store the low @bytes of @v, at most 8; x86-64 has them in that order */
static inline void gtp_put_le(u8 *p, u64 v, u32 bytes)
{
	memcpy(p, &v, bytes);
}

static inline u64 gtp_get_le(const u8 *p, u32 bytes)
{
	u64 v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

#endif /* _GTP_BASE_H */
