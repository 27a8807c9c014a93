/* SPDX-License-Identifier: GPL-2.0-only */
/* The addresses at which the threads of a stopped process will go on, and their change. */
#ifndef _GTP_WHERE_H
#define _GTP_WHERE_H

#include "user/inject/stop.h"

/**
 * struct gtp_place - an address at which a thread will go on
 * @ip: the address
 * @thread: the index of the thread
 * @frame: 0: the thread goes on there when it is released; otherwise the address of the word from
 *	which the return of a signal handler takes it
 */
struct gtp_place {
	u64 ip;
	u32 thread;
	u64 frame;
};

/* struct gtp_where - the places of all threads */
struct gtp_where {
	struct gtp_stop *s;
	struct gtp_place *place;
	u32 n, room;
};

/* gtp_where_find - find the places of all threads; return 0, or -ENOMEM and nothing to free */
int gtp_where_find(struct gtp_where *w, struct gtp_stop *s);
void gtp_where_free(struct gtp_where *w);

/*
 * gtp_where_move - let a place's thread go on at @ip instead; @mem is a descriptor to write to the
 * process. Return 0 or -errno
 */
int gtp_where_move(struct gtp_where *w, struct gtp_place *place, u64 ip, int mem);

/* gtp_where_is_in - true if a thread will go on in [@addr, @addr + @len) */
bool gtp_where_is_in(const struct gtp_where *w, u64 addr, u64 len);

#endif /* _GTP_WHERE_H */
