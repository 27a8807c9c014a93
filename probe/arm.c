// SPDX-License-Identifier: GPL-2.0-only
/* Chooses the backend that probes a location: the first one in the list that is able to. */
#include "probe/arm.h"

static void end_batch(const struct gtp_probe_backend *const *list)
{
	for (; *list; list++)
		if ((*list)->end_batch)
			(*list)->end_batch();
}

static int offer(const struct gtp_probe_backend *const *list, struct gtp_location *loc,
		 struct gtp_why *why)
{
	int err = -EOPNOTSUPP;

	for (; *list && err == -EOPNOTSUPP; list++) {
		if (loc->fast_only && (*list)->slow) {
			gtp_location_not_fast(loc, why);
			return err;
		}
		err = (*list)->arm(loc, why);
		if (!err)
			loc->backend = *list;
	}
	return err;
}

int gtp_arm(const struct gtp_probe_backend *const *list, struct gtp_location *loc,
	    struct gtp_why *why)
{
	loc->no_jump = NULL;
	return offer(list, loc, why);
}

/* Offer locations that a backend refused in its ->commit() to the backends after it. */
static int offer_refused(const struct gtp_probe_backend *const *list, struct gtp_location *first,
			 struct gtp_why *why)
{
	struct gtp_location *loc;
	int err;

	for (loc = first; loc; loc = loc->next) {
		struct gtp_why inner = { "" };

		if (loc->backend || gtp_location_is_refused(loc))
			continue;
		err = offer(list, loc, &inner);
		if (gtp_why_is_general(err)) {
			*why = inner;
			return err;
		}
		if (err)
			gtp_why(&loc->refused, "%s",
				*inner.text ? inner.text : "nothing can probe it");
	}
	return 0;
}

int gtp_arm_commit(const struct gtp_probe_backend *const *list, struct gtp_location *first,
		   struct gtp_why *why)
{
	const struct gtp_probe_backend *const *at;
	int err = 0;

	for (at = list; *at && !err; at++) {
		if (!(*at)->commit)
			continue;
		err = (*at)->commit(why);
		if (!err)
			err = offer_refused(at + 1, first, why);
	}
	end_batch(list);
	return err;
}

int gtp_arm_widen(struct gtp_location *loc, struct gtp_why *why)
{
	const struct gtp_probe_backend *backend = loc->backend;
	int err = backend->widen ? backend->widen(loc, why) : 0;

	if (backend->end_batch)
		backend->end_batch();
	return err;
}

u64 gtp_arm_missed(const struct gtp_location *loc)
{
	return loc->missed + (loc->backend && loc->probe ? loc->backend->missed(loc) : 0);
}

/* own - link all locations of @backend in the list by ->next_own; return the first one, or NULL */
static struct gtp_location *own(const struct gtp_probe_backend *backend, struct gtp_location *first)
{
	struct gtp_location *loc, *mine = NULL, **end = &mine;

	for (loc = first; loc; loc = loc->next) {
		if (loc->backend != backend)
			continue;
		*end = loc;
		end = &loc->next_own;
	}
	*end = NULL;
	return mine;
}

static void disarm(const struct gtp_probe_backend *backend, struct gtp_location *first)
{
	struct gtp_location *loc, *mine = own(backend, first);

	if (!mine)
		return;
	backend->disarm(mine);
	for (loc = mine; loc; loc = loc->next_own)
		loc->backend = NULL;
}

void gtp_arm_disarm(const struct gtp_probe_backend *const *list, struct gtp_location *first)
{
	const struct gtp_probe_backend *const *at = list;

	while (*at)
		at++;
	while (at-- > list)
		disarm(*at, first);
	end_batch(list);
}
