/* SPDX-License-Identifier: GPL-2.0-only */
/* The locations of a run: one for each probed address and kind, with all tracepoints there. */
#ifndef _GTP_LOCATION_H
#define _GTP_LOCATION_H

#include "session/session.h"

/* Context of all functions: the session's lock. Functions that allocate may sleep. */

/* gtp_location_kind - return the kind of location that a tracepoint needs */
enum gtp_location_kind gtp_location_kind(const struct gtp_trace *t,
					 const struct gtp_tracepoint *tp);

/*
 * gtp_location_find - return the location of @kind at a tracepoint's address, or NULL. If there are
 * two, a full location and a refused one for further tracepoints, return the refused one
 */
struct gtp_location *gtp_location_find(struct gtp_trace *t, const struct gtp_tracepoint *tp,
				       enum gtp_location_kind kind);

/*
 * gtp_location_alone - make a location for a tracepoint; it is on no list, and gtp_location_find()
 * does not find it. Return NULL with @why if there is no memory
 */
struct gtp_location *gtp_location_alone(struct gtp_trace *t, struct gtp_tracepoint *first,
					enum gtp_location_kind kind, struct gtp_why *why);

/*
 * gtp_location_free_alone - free a location from gtp_location_alone(), which must not be armed; its
 * tracepoints then have no location
 */
void gtp_location_free_alone(struct gtp_trace *t, struct gtp_location *loc);

/*
 * gtp_location_new - make a location for a tracepoint, and let gtp_location_find() find it. @full
 * is the existing location if it has no room for the tracepoint; then the new location is refused.
 * Otherwise @full is NULL. Return NULL with @why if there is no memory
 */
struct gtp_location *gtp_location_new(struct gtp_trace *t, struct gtp_tracepoint *tp,
				      enum gtp_location_kind kind, const struct gtp_location *full,
				      struct gtp_why *why);

/*
 * gtp_location_is_full - true if the location can have no more tracepoints. The limit exists
 * because a hit runs with interrupts off, and each tracepoint may collect a MiB
 */
bool gtp_location_is_full(const struct gtp_location *loc);

/* gtp_location_refuse_full - refuse @loc because the other location at its address is full */
void gtp_location_refuse_full(struct gtp_location *loc);

/* gtp_location_append - add a tracepoint to the location; hits may be in progress */
void gtp_location_append(struct gtp_location *loc, struct gtp_tracepoint *tp);

/* gtp_location_take - remove a tracepoint that is not the first; the location must not be armed */
void gtp_location_take(struct gtp_location *loc, struct gtp_tracepoint *tp);

/*
 * gtp_location_free - free a location that is not armed and on no list; its tracepoints then have
 * no location
 */
void gtp_location_free(struct gtp_trace *t, struct gtp_location *loc);

/* gtp_locations_build - make @t->locs for all tracepoints; return 0, or -ENOMEM with @why */
int gtp_locations_build(struct gtp_trace *t, struct gtp_why *why);

/* gtp_locations_free - free all of @t->locs */
void gtp_locations_free(struct gtp_trace *t);

/*
 * gtp_locations_missed - return how many hits the run has missed, because there was no buffer or
 * the kernel skipped them
 */
u64 gtp_locations_missed(const struct gtp_trace *t);

#endif /* _GTP_LOCATION_H */
