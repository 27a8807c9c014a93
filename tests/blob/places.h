/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions in places.S with a place for a jump. */
#ifndef _GTP_BLOB_PLACES_H
#define _GTP_BLOB_PLACES_H

#include "base/base.h"

/* place_add, twin_add - return a + b + 1; the place is the first instruction */
long place_add(long a, long b);
long twin_add(long a, long b);

/* The others have the place at the label of the same name; see places.S */
void place_flags(long a, long b, u64 *out);
long place_red(long a, long b);
void place_regs(const u64 *in, u64 *out);
long place_string(long a, long b);

extern const char place_flags_at[], place_red_at[], place_regs_at[], place_string_at[];

/* on_stack - call @fn(a, b) on the stack that ends at @top */
long on_stack(void *top, long (*fn)(long a, long b), long a, long b);

#endif /* _GTP_BLOB_PLACES_H */
