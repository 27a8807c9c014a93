/* SPDX-License-Identifier: GPL-2.0-only */
/* Which memory code reads and writes: pages that may not be touched, and a step for each access. */
#ifndef _GTP_TOUCHED_H
#define _GTP_TOUCHED_H

#include "base/base.h"

enum { TOUCHED_LINE = 64, TOUCHED_MOST = 4096 };

/**
 * struct touched - the accesses of one call, by the address of their first byte
 * @n: how many
 * @lost: there were more
 * @at: where, which line that is, and was it written
 */
struct touched {
	u32 n;
	bool lost;
	struct {
		u64 addr;
		bool write;
	} at[TOUCHED_MOST];
};

/* touched_watch - @bytes at @from, both multiples of a page, are watched, and nothing else */
void touched_watch(void *from, size_t bytes);

/**
 * touched_by() - call a function, and note which of the watched memory it touches
 * @t: receives it; what was in it stays
 * @fn: the function; what handles SIGSEGV must be there already
 * @arg: for it
 *
 * An access is noted once for each instruction that makes it, and a string instruction's for each
 * step of it. @fn may not allocate.
 */
void touched_by(struct touched *t, void (*fn)(void *arg), void *arg);

/* touched_wrote - has it written to the line of @addr? */
bool touched_wrote(const struct touched *t, u64 addr);

/* touched_shared - an address in a line that one has written and the other has touched, or 0 */
u64 touched_shared(const struct touched *a, const struct touched *b);

#endif /* _GTP_TOUCHED_H */
