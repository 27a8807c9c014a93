/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocate and free memory. The module allocates only with these functions, so that a test can make
 * any allocation fail.
 */
#ifndef _GTP_MEM_KERNEL_H
#define _GTP_MEM_KERNEL_H

#include "base/mem.h"

/* gtp_mem - a struct with the functions below, for shared code */
extern const struct gtp_mem gtp_mem;

/*
 * gtp_mem_alloc_node - allocate zeroed memory near a node's CPUs; return NULL on failure; may sleep
 */
void *gtp_mem_alloc_node(size_t bytes, int node);

/* gtp_mem_alloc - allocate zeroed memory; return NULL on failure; may sleep */
void *gtp_mem_alloc(size_t bytes);

/* gtp_mem_free - free memory that these functions have allocated; NULL is allowed; may sleep */
void gtp_mem_free(const void *p);

#endif /* _GTP_MEM_KERNEL_H */
