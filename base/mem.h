/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions by which shared code allocates and frees memory. */
#ifndef _GTP_MEM_H
#define _GTP_MEM_H

#include "base/base.h"

/**
 * struct gtp_mem - the functions by which shared code allocates and frees memory
 * @alloc: allocate zeroed memory; return NULL on failure; may sleep
 * @free: free memory; NULL is allowed
 * @ctx: passed to both functions
 */
struct gtp_mem {
	void *(*alloc)(void *ctx, size_t bytes);
	void (*free)(void *ctx, void *p);
	void *ctx;
};

#endif /* _GTP_MEM_H */
