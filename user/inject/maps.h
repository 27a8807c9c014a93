/* SPDX-License-Identifier: GPL-2.0-only */
/* The mappings of another process, and the gaps between them. */
#ifndef _GTP_MAPS_H
#define _GTP_MAPS_H

#include "user/process/process.h"

/**
 * struct gtp_mapping - a line of /proc/PID/maps
 * @start, @end: the addresses, without @end
 * @exec: true if the process may execute it
 * @heap: true if it is the memory of brk(), which grows upwards
 * @stack: true if it is the first thread's stack, which grows downwards
 */
struct gtp_mapping {
	u64 start, end;
	bool exec, heap, stack;
};

/* struct gtp_maps - all mappings, in ascending order */
struct gtp_maps {
	struct gtp_mapping *mapping;
	u32 n;
};

/*
 * gtp_maps_read - read the mappings as thread @tid shows them: the first thread may have ended.
 * Return 0, or -errno and nothing to free
 */
int gtp_maps_read(struct gtp_maps *m, const struct gtp_process *p, u32 tid);
void gtp_maps_free(struct gtp_maps *m);

/**
 * gtp_maps_gap() - find room for new memory
 * @m: the mappings
 * @lo, @hi: each byte of the memory must be within 2 GiB of each byte from @lo up to, without, @hi
 * @bytes: the size, a multiple of pages
 *
 * Leaves a page free on both sides. Prefers the room below @lo, where nothing grows to.
 *
 * Return: the address, or 0.
 */
u64 gtp_maps_gap(const struct gtp_maps *m, u64 lo, u64 hi, u64 bytes);

#endif /* _GTP_MAPS_H */
