// SPDX-License-Identifier: GPL-2.0-only
/* The addresses at which the threads of a stopped process will go on, and their change. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "user/inject/frames.h"
#include "user/inject/memory.h"
#include "user/inject/where.h"

/* struct adding - where a frame's address is to be added, for gtp_frames_walk() */
struct adding {
	struct gtp_where *w;
	u32 thread;
};

static int add(struct gtp_where *w, u64 ip, u32 thread, u64 frame)
{
	u32 room = w->room ? 2 * w->room : 64;
	struct gtp_place *more;

	if (w->n == w->room) {
		more = realloc(w->place, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		w->place = more;
		w->room = room;
	}
	w->place[w->n++] = (struct gtp_place){ ip, thread, frame };
	return 0;
}

static int add_frame(void *arg, u64 at, u64 ip)
{
	const struct adding *a = arg;

	return add(a->w, ip, a->thread, at);
}

static int add_thread(struct gtp_where *w, u32 i, bool handlers)
{
	const struct gtp_thread *t = &w->s->thread[i];
	struct adding a = { w, i };
	int err;

	if (!t->stands)
		return 0;
	err = add(w, t->regs.rip, i, 0);
	if (err || !handlers)
		return err;
	return gtp_frames_walk(t->tid, t->regs.rsp, add_frame, &a);
}

int gtp_where_find(struct gtp_where *w, struct gtp_stop *s)
{
	const bool handlers = gtp_frames_possible(s->p);
	int err = 0;
	u32 i;

	*w = (struct gtp_where){ .s = s };
	for (i = 0; !err && i < s->n; i++)
		err = add_thread(w, i, handlers);
	if (err)
		gtp_where_free(w);
	return err;
}

void gtp_where_free(struct gtp_where *w)
{
	free(w->place);
	memset(w, 0, sizeof(*w));
}

int gtp_where_move(struct gtp_where *w, struct gtp_place *place, u64 ip, int mem)
{
	struct gtp_thread *t = &w->s->thread[place->thread];
	int err;

	if (place->frame) {
		err = gtp_memory_write(mem, place->frame, &ip, sizeof(ip));
	} else {
		t->regs.rip = ip;
		err = gtp_stop_set(t);
	}
	if (!err)
		place->ip = ip;
	return err;
}

bool gtp_where_is_in(const struct gtp_where *w, u64 addr, u64 len)
{
	u32 i;

	for (i = 0; i < w->n; i++)
		if (w->place[i].ip - addr < len)
			return true;
	return false;
}
