/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that the host and a traced process share, at the same address in both, so that pointers
 * into it are valid on both sides. Only the host allocates in it.
 */
#ifndef _GTP_HOST_SPACE_H
#define _GTP_HOST_SPACE_H

#include "base/mem.h"

enum {
	GTP_SPACE_ORDERS = 32,
	GTP_SPACE_FIRST = 64, /* offset of what is allocated first */
};

/**
 * struct gtp_space - the memory, a memfd, which takes pages only where it has been written
 * @fd: the memfd
 * @start, @end: its addresses
 * @used: the end of what was ever allocated
 * @keeps: true: nothing is freed any more, because a thread may still use it
 * @free: freed blocks, by the binary logarithm of their size
 */
struct gtp_space {
	int fd;
	u64 start, end;
	u64 used;
	bool keeps;
	struct gtp_space_block *free[GTP_SPACE_ORDERS];
};

/*
 * gtp_space_open - map @bytes of @fd, a memfd, at @start in this program; return 0 or -errno,
 * -EEXIST if something else is mapped there
 */
int gtp_space_open(struct gtp_space *s, int fd, u64 start, u64 bytes);
/*
 * gtp_space_move - from now on use @fd, another memfd of at least the same size, at the same
 * addresses and with the same contents. Return 0 or -errno, with nothing changed
 */
int gtp_space_move(struct gtp_space *s, int fd);
void gtp_space_close(struct gtp_space *s);

/* gtp_space_alloc - allocate memory; return NULL if there is no room. @zero: fill it with zeros */
void *gtp_space_alloc(struct gtp_space *s, size_t bytes, bool zero);
void gtp_space_free(struct gtp_space *s, void *p);

/*
 * gtp_space_take_pages - let this program allocate the pages of memory that the process will write.
 * Without that, the process allocates them: the kernel may kill it if its control group has too
 * little memory, or send it SIGBUS. Return 0 or -errno
 */
int gtp_space_take_pages(struct gtp_space *s, const void *p, size_t bytes);

/* gtp_space_mem - return the space as memory for a session */
struct gtp_mem gtp_space_mem(struct gtp_space *s);

#endif /* _GTP_HOST_SPACE_H */
