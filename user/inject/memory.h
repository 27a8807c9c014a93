/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory of another process: read and written from outside, mapped and unmapped by the process. */
#ifndef _GTP_MEMORY_H
#define _GTP_MEMORY_H

#include "user/inject/inject.h"
#include "user/inject/remote.h"

/* struct gtp_area - memory that was mapped for us */
struct gtp_area {
	u64 addr, bytes;
	enum gtp_inject_kind kind;
};

/* struct gtp_areas - all such memory; @insn: the address of a syscall instruction, 0: not known */
struct gtp_areas {
	struct gtp_area *area;
	u32 n;
	u64 insn;
};

/* gtp_memory_write - write memory through /proc/PID/mem; return 0 or -EFAULT */
int gtp_memory_write(int mem, u64 addr, const void *src, u64 len);

/* gtp_memory_map - map memory, see gtp_inject_map(); the caller adds @area to the list */
int gtp_memory_map(struct gtp_areas *a, struct gtp_stop *s, enum gtp_inject_kind kind,
		   const struct gtp_inject_near *near, u64 bytes, struct gtp_area *area,
		   struct gtp_why *why);

/*
 * gtp_memory_unmap - unmap one area, @addr, or all areas, @addr 0; the caller knows that no thread
 * uses them. The list stays. Return 0 or -errno
 */
int gtp_memory_unmap(struct gtp_areas *a, struct gtp_stop *s, u64 addr, struct gtp_why *why);

/* gtp_memory_make_room - prepare for gtp_memory_remember(); return 0 or -ENOMEM */
int gtp_memory_make_room(struct gtp_areas *a, struct gtp_why *why);

/* gtp_memory_remember, gtp_memory_drop - add an area to the list; remove the one at @addr */
void gtp_memory_remember(struct gtp_areas *a, const struct gtp_area *area);
void gtp_memory_drop(struct gtp_areas *a, u64 addr);

/* gtp_memory_find - find the area that has all of [@addr, @addr + @len); NULL: there is none */
const struct gtp_area *gtp_memory_find(const struct gtp_areas *a, u64 addr, u64 len);

/* gtp_memory_call - perform one system call, see gtp_inject_call() */
int gtp_memory_call(struct gtp_areas *a, struct gtp_stop *s, u32 nr, const u64 args[6], s64 *result,
		    struct gtp_why *why);

void gtp_memory_forget(struct gtp_areas *a);

#endif /* _GTP_MEMORY_H */
