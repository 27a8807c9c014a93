/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records which memory a piece of code reads and writes, by making pages inaccessible and
 * single-stepping each access.
 */
#ifndef _GTP_TOUCHED_H
#define _GTP_TOUCHED_H

#include "base/base.h"

enum { TOUCHED_LINE = 64, TOUCHED_MOST = 4096 };

/**
 * struct touched - the accesses of one call, by the address of their first byte
 * @n: the number of accesses
 * @lost: there were more accesses than fit into @at
 * @at: for each access, its address and whether it was a write
 */
struct touched {
	u32 n;
	bool lost;
	struct {
		u64 addr;
		bool write;
	} at[TOUCHED_MOST];
};

/* touched_watch - watch only the @bytes at @from, both multiples of the page size */
void touched_watch(void *from, size_t bytes);

/**
 * touched_by() - call a function, and record its accesses to the watched memory
 * @t: receives the accesses, after those already in it
 * @fn: the function; if it needs a SIGSEGV handler, install that before this call
 * @arg: the argument of @fn
 *
 * An access is recorded once for each instruction that makes it; for a string instruction, once for
 * each iteration. @fn must not allocate memory.
 */
void touched_by(struct touched *t, void (*fn)(void *arg), void *arg);

/* touched_wrote - true if there is a write to the cache line of @addr */
bool touched_wrote(const struct touched *t, u64 addr);

/*
 * touched_shared - return an address in a cache line that one call has written and the other has
 * read or written; 0 if there is none
 */
u64 touched_shared(const struct touched *a, const struct touched *b);

#endif /* _GTP_TOUCHED_H */
