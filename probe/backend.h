/* SPDX-License-Identifier: GPL-2.0-only */
/* One interface for all ways to probe a place: each is a struct gtp_probe_backend. */
#ifndef _GTP_BACKEND_H
#define _GTP_BACKEND_H

#include "base/why.h"
#include "hit/run.h"

struct module;

/**
 * struct gtp_probe_backend - one way to probe a place
 * @name: the backend's name in the log
 * @slow: true if a hit takes an exception, or goes through the function tracer's common code: such
 *        a backend is not used for tracepoints of GDB's command ftrace
 * @arm: set a probe on @loc, or prepare it for @commit, and store it in @loc->probe. Return 0 if
 *       the backend takes the location; -EOPNOTSUPP to let another backend try, perhaps with the
 *       reason in @loc->no_jump; any other -errno, with @why, if no probe can be set there at all.
 *       Hits may come before @arm returns
 * @commit: make everything that @arm has prepared take effect together. For a location that turns
 *          out to be impossible, set ->backend and ->probe to NULL: the next backend is tried,
 *          unless ->refused is filled in, which means that none can probe it. Return -errno with
 *          @why if nothing can be armed now; the caller then disarms all. NULL: @arm does
 *          everything
 * @widen: prepare for another tracepoint at @loc: from then on report every hit, even if the first
 *         tracepoint's condition is false. Return 0, or -errno with @why. NULL: the probe always
 *         reports every hit
 * @disarm: remove the probes of a list of the backend's own locations, linked by ->next_own, and
 *          wait: when @disarm returns, no hit of them runs on any CPU, ->probe is NULL and ->missed
 *          is final
 * @missed: return the hits of @loc that were lost since @loc->probe was set, because there was no
 *          buffer or the kernel skipped them
 * @end_batch: free memory that was kept between calls of @arm or @disarm (or NULL)
 * @module_goes: forget a module that is being unloaded; its text and data still exist. Called
 *               without gtp_lock, before the probes in it are disarmed (or NULL)
 * @text_goes: forget text that is about to be freed, after the probes in it were disarmed; @init:
 *             only the init code. Called with gtp_lock (or NULL)
 * @init, @exit: called at module load and unload, without gtp_lock; at exit nothing is armed (or
 *               NULL)
 *
 * All other functions are called in process context under gtp_lock and may sleep. kernel/backends.c
 * lists the backends in the order in which gtp_arm() asks them. See
 * docs/new-backend.md.
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
extern const struct gtp_probe_backend gtp_sample_backend;
extern const struct gtp_probe_backend gtp_uprobe_backend;
extern const struct gtp_probe_backend gtp_user_return_backend;
extern const struct gtp_probe_backend gtp_watch_backend;

#endif /* _GTP_BACKEND_H */
