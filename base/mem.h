/* SPDX-License-Identifier: GPL-2.0-only */
/* Where shared code gets memory from. */
#ifndef _GTP_MEM_H
#define _GTP_MEM_H

#include "base/base.h"

/**
 * struct gtp_mem - where shared code gets memory from
 * @alloc: allocate zeroed memory; return NULL on failure; may sleep
 * @free: free memory; NULL is allowed
 * @ctx: passed to both
 */
struct gtp_mem {
	void *(*alloc)(void *ctx, size_t bytes);
	void (*free)(void *ctx, void *p);
	void *ctx;
};

#endif /* _GTP_MEM_H */
