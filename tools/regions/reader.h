/* SPDX-License-Identifier: GPL-2.0-only */
/* A bounded reader of the numbers in DWARF's tables, which have a fixed size or are LEB128. */
#ifndef _RGN_READER_H
#define _RGN_READER_H

#include "base/base.h"

/* struct rgn_reader - the position of a reader; reading past @end sets @failed and returns 0 */
struct rgn_reader {
	const u8 *p;
	const u8 *end;
	bool failed;
};

static inline u64 rgn_read_left(const struct rgn_reader *r)
{
	return (u64)(r->end - r->p);
}

/* rgn_read - read a little-endian number of @n bytes, 8 at most */
static inline u64 rgn_read(struct rgn_reader *r, u32 n)
{
	const u8 *at = r->p;

	if (rgn_read_left(r) < n) {
		r->p = r->end;
		r->failed = true;
		return 0;
	}
	r->p += n;
	return gtp_get_le(at, n);
}

/* rgn_read_leb - read a LEB128 number; bits above 64 are dropped */
static inline u64 rgn_read_leb(struct rgn_reader *r, bool is_signed)
{
	u32 shift = 0;
	u64 v = 0;
	u8 b;

	do {
		b = (u8)rgn_read(r, 1);
		if (shift < 64)
			v |= (u64)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80);
	if (is_signed && b & 0x40 && shift < 64)
		v |= ~0ULL << shift;
	return v;
}

#endif /* _RGN_READER_H */
