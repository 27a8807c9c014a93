/* SPDX-License-Identifier: GPL-2.0-only */
/* One interface for all ways to probe a place: each is a struct gtp_probe_backend. */
#ifndef _GTP_BACKEND_H
#define _GTP_BACKEND_H

#include "base/why.h"
#include "hit/run.h"

struct module;

/**
 * struct gtp_probe_backend - one way to probe a place
 * @name: for the log
 * @slow: its hits come by an exception, or by the function tracer's common code: not for locations
 *        that are to be fast
 * @arm: put a probe on @loc, or prepare that for @commit, and hang it on @loc->probe. 0: the
 *       backend has the location; -EOPNOTSUPP: another backend must do, @loc->no_jump may say why;
 *       any other -errno with @why: no probe can be set there at all. Hits may come before it
 *       returns
 * @commit: what @arm has only prepared takes effect, all of it together. For a location that turns
 *          out to be impossible the backend sets ->backend and ->probe to NULL: the next backend is
 *          tried, unless it has filled in ->refused: then none can. -errno with @why: nothing can
 *          be armed now; the caller disarms all (NULL: @arm does everything)
 * @widen: another tracepoint is going to be added to @loc: hand over its hits whatever the first
 *         one's condition says; 0, or -errno with @why (NULL: it does anyway)
 * @disarm: take off the probes of a list of its own locations, by ->next_own, and wait: when it
 *          returns no hit of them runs anywhere, ->probe is NULL and ->missed is final
 * @missed: hits of @loc that were not seen since @loc->probe is there: there was no buffer, or the
 *          kernel skipped them
 * @end_batch: arming or disarming is over for now: free the memory kept for it (or NULL)
 * @module_goes: a module is being unloaded, its text and data are still there. Without gtp_lock,
 *               before what is armed in it is disarmed (or NULL)
 * @text_goes: the same, of the text that is left after that, @init: of its init code; with gtp_lock
 *             (or NULL)
 * @init, @exit: of the module; at exit nothing is armed. Without gtp_lock (or NULL)
 *
 * Everything else is called in process context under gtp_lock and may sleep. kernel/backends.c
 * lists the backends in the order in which they are tried. See docs/data-path.md.
 */
struct gtp_probe_backend {
	const char *name;
	bool slow;
	int (*arm)(struct gtp_location *loc, struct gtp_why *why);
	int (*commit)(struct gtp_why *why);
	int (*widen)(struct gtp_location *loc, struct gtp_why *why);
	void (*disarm)(struct gtp_location *first);
	u64 (*missed)(const struct gtp_location *loc);
	void (*end_batch)(void);
	void (*module_goes)(const struct module *mod);
	void (*text_goes)(const struct module *mod, bool init);
	int (*init)(void);
	void (*exit)(void);
};

extern const struct gtp_probe_backend gtp_event_backend;
extern const struct gtp_probe_backend gtp_fentry_backend;
extern const struct gtp_probe_backend gtp_jump_backend;
extern const struct gtp_probe_backend gtp_kprobe_backend;
extern const struct gtp_probe_backend gtp_kretprobe_backend;

#endif /* _GTP_BACKEND_H */
