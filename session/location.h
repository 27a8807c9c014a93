/* SPDX-License-Identifier: GPL-2.0-only */
/* The locations of a run: one for each probed address and kind, with all tracepoints there. */
#ifndef _GTP_LOCATION_H
#define _GTP_LOCATION_H

#include "session/session.h"

/* Under the session's lock; may sleep where they allocate. */

/*
 * gtp_location_kind - what a tracepoint's address is: an instruction, a marker, or the entry of
 * calls whose returns are wanted
 */
enum gtp_location_kind gtp_location_kind(const struct gtp_trace *t,
					 const struct gtp_tracepoint *tp);

/*
 * gtp_location_find - the location of that kind at a tracepoint's address; NULL: none yet. Of a
 * full one and the refused one for what it has no room for, the latter
 */
struct gtp_location *gtp_location_find(struct gtp_trace *t, const struct gtp_tracepoint *tp,
				       enum gtp_location_kind kind);

/*
 * gtp_location_alone - one for a tracepoint that gtp_location_find() does not find; on no list.
 * NULL with @why: no memory
 */
struct gtp_location *gtp_location_alone(struct gtp_trace *t, struct gtp_tracepoint *first,
					enum gtp_location_kind kind, struct gtp_why *why);

/* gtp_location_free_alone - such a one, that is not armed; its tracepoints have none then */
void gtp_location_free_alone(struct gtp_trace *t, struct gtp_location *loc);

/*
 * gtp_location_new - one for a tracepoint, found from now on; a refused one if @full, which is
 * there, has no room for it (else NULL). NULL with @why: no memory
 */
struct gtp_location *gtp_location_new(struct gtp_trace *t, struct gtp_tracepoint *tp,
				      enum gtp_location_kind kind, const struct gtp_location *full,
				      struct gtp_why *why);

/*
 * gtp_location_is_full - does it take no further tracepoint? Hits of it run with interrupts off,
 * and each tracepoint may collect a MiB
 */
bool gtp_location_is_full(const struct gtp_location *loc);

/* gtp_location_refuse_full - such a one is why there is no probe for what @loc is for */
void gtp_location_refuse_full(struct gtp_location *loc);

/* gtp_location_append - another tracepoint there; hits may be under way */
void gtp_location_append(struct gtp_location *loc, struct gtp_tracepoint *tp);

/* gtp_location_take - take off a tracepoint that is not its first; it is not armed */
void gtp_location_take(struct gtp_location *loc, struct gtp_tracepoint *tp);

/* gtp_location_free - one that is not armed and on no list; its tracepoints have none then */
void gtp_location_free(struct gtp_trace *t, struct gtp_location *loc);

/* gtp_locations_build - @t->locs, of all tracepoints; 0 or -ENOMEM with @why */
int gtp_locations_build(struct gtp_trace *t, struct gtp_why *why);

/* gtp_locations_free - all of @t->locs */
void gtp_locations_free(struct gtp_trace *t);

/* gtp_locations_missed - hits of the run that were not seen: no buffer, or missed by the kernel */
u64 gtp_locations_missed(const struct gtp_trace *t);

#endif /* _GTP_LOCATION_H */
