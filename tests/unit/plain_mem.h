/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory for tests without the fake machine. It comes from malloc(), up to a total that the test
 * sets.
 */
#ifndef _GTP_PLAIN_MEM_H
#define _GTP_PLAIN_MEM_H

#include <stdlib.h>
#include "base/mem.h"

static size_t plain_most = SIZE_MAX;

static inline void *plain_alloc(void *ctx, size_t bytes)
{
	return bytes > plain_most ? NULL : calloc(1, bytes);
}

static inline void plain_free(void *ctx, void *p)
{
	free(p);
}

static const struct gtp_mem plain_mem = { plain_alloc, plain_free, NULL };

#endif /* _GTP_PLAIN_MEM_H */
