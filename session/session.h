/* SPDX-License-Identifier: GPL-2.0-only */
/* One trace session, and the services it needs from its host. */
#ifndef _GTP_TRACE_SESSION_H
#define _GTP_TRACE_SESSION_H

#include "aggregate/table.h"
#include "base/base.h"
#include "hit/run.h"
#include "trace/index.h"
#include "tracepoint/dprintf.h"
#include "tracepoint/tracepoint.h"
#include "tracepoint/tsv.h"

/**
 * struct gtp_target_ops - what a run needs from where it runs; process context, may sleep
 * @is_marker: is a kernel tracepoint's marker at @addr? Then a tracepoint there is one on that, by
 *             whatever command it was set (NULL: there are none)
 * @arm: put a probe on @loc; 0, or -errno with @why in words. Hits may come before it returns. Any
 *       number of calls is followed by one of @arm_done or @disarm
 * @arm_done: finish together what @arm has only prepared; what turns out to be impossible gets its
 *            ->refused, and what has one is left alone. 0, or -errno with @why, then the caller
 *            disarms all of them (NULL: @arm does everything)
 * @widen: another tracepoint is going to be added to @loc, which is armed: hand over its hits
 *         whatever its first one's condition says; 0, or -errno with @why (NULL: it does anyway)
 * @sdata: make $_sdata possible at @loc, which is armed as GTP_LOCATION_EVENT, and fill in
 *         @loc->format; 0, or -errno with @why in words. A second call returns the same
 * @disarm: take the probes off those of a list of locations that have one, and wait: after it
 *          returns no hit of them runs anywhere, and each @loc->missed is final
 * @missed: hits of @loc that were not seen, up to now: there was no buffer, or the kernel skipped
 *          them
 * @tell: text for the user's console (NULL: there is none)
 * @name: the symbol at an address, "" when it has none (NULL: none is known)
 * @buffers_get: give every CPU a struct gtp_cpu with @nslots zeroed counters and a buffer; @bytes
 *          is the total (0: the default). Fills @cpus and @ncpus (indexed by CPU, entries may be
 *          NULL). 0 or -ENOMEM with @why
 * @buffers_put: free what buffers_get gave; no hit is running
 * @buffer_alloc: memory for another buffer of a CPU, given back as memory of the session; NULL:
 *                there is none
 * @lines_get: make room for the lines of dprintfs on each CPU, where there is none yet; 0 or
 *             -ENOMEM with @why (NULL: there is)
 * @between_hits: call @fn with @arg on the CPU that @cpu is of, while no hit is being handled there
 *                and none begins, except one in an NMI that is over before @fn goes on. May wait
 *                for a hit to end
 * @memory_most: bytes that tables of aggregations, their text, or $kstack's table may take now,
 *               with room left for the machine: to ask for more would have it kill processes
 * @stacks_bytes: memory for $kstack's stacks
 * @wallclock_us: microseconds since the epoch
 * @progress: called now and then during long work; keeps GDB from giving up (may be NULL)
 * @code_begin: machine code is going to be made, for these variables; 0 or -errno with @why. NULL,
 *              and with it the other four: there is none, expressions are interpreted
 * @code_make: make @e->compiled for the location at @pc, or leave it NULL; 0, -ENOSPC when there is
 *             no room for it, or -errno with @why
 * @code_make_actions: make @tp->code; 0, -EOPNOTSUPP when its actions are no one piece of code,
 *                     -ENOSPC, or -errno with @why
 * @code_end: what has been made since code_begin() may run
 * @code_forget: nothing that was made is run any more
 */
struct gtp_target_ops {
	bool (*is_marker)(void *ctx, u64 addr);
	int (*arm)(void *ctx, struct gtp_location *loc, struct gtp_why *why);
	int (*arm_done)(void *ctx, struct gtp_location *first, struct gtp_why *why);
	int (*widen)(void *ctx, struct gtp_location *loc, struct gtp_why *why);
	int (*sdata)(void *ctx, struct gtp_location *loc, struct gtp_why *why);
	void (*disarm)(void *ctx, struct gtp_location *first);
	u64 (*missed)(void *ctx, const struct gtp_location *loc);
	void (*tell)(void *ctx, const char *text);
	void (*name)(void *ctx, u64 addr, char *buf, size_t size);
	int (*buffers_get)(void *ctx, u64 bytes, bool circular, u32 nslots, struct gtp_cpu ***cpus,
			   u32 *ncpus, struct gtp_why *why);
	void (*buffers_put)(void *ctx, struct gtp_cpu **cpus, u32 ncpus);
	void *(*buffer_alloc)(void *ctx, const struct gtp_cpu *cpu, u32 bytes);
	int (*lines_get)(void *ctx, struct gtp_why *why);
	void (*between_hits)(void *ctx, struct gtp_cpu *cpu, void (*fn)(void *arg), void *arg);
	u64 (*memory_most)(void *ctx);
	u64 (*stacks_bytes)(void *ctx);
	u64 (*wallclock_us)(void *ctx);
	void (*progress)(void *ctx, const char *what, u32 done, u32 total);
	int (*code_begin)(void *ctx, const struct gtp_tsvs *tsvs, struct gtp_why *why);
	int (*code_make)(void *ctx, struct gtp_expr *e, u64 pc, struct gtp_why *why);
	int (*code_make_actions)(void *ctx, struct gtp_tracepoint *tp, struct gtp_why *why);
	void (*code_end)(void *ctx);
	void (*code_forget)(void *ctx);
};

enum {
	GTP_LOCATION_BUCKETS = 1024, /* a power of two */
	GTP_SLOTS_SPARE = 4096,	     /* counters for tracepoints that are defined during a run */
};

/* struct gtp_ro - a read-only range of the kernel's image, at run-time addresses, @end exclusive */
struct gtp_ro {
	u64 start, end;
};

/* enum gtp_dprintf_to - where dprintf's text goes */
enum gtp_dprintf_to {
	GTP_DPRINTF_CONSOLE, /* GDB's, while it waits in a continue */
	GTP_DPRINTF_TRACE,   /* the kernel's trace */
	GTP_DPRINTF_LOG,     /* the kernel's log */
};

/**
 * struct gtp_dprintfs - GDB's dprintfs
 * @list: all places
 * @n: how many
 * @ncpus: how many counters each has
 * @parts: counts the memory of their parts; its list is empty
 * @to: where text goes; the reader of the lines looks at it for each
 * @hits, @dropped, @missed: of places that are no more
 * @nested: hits inside another hit without a run, on CPUs' parts that are no more
 * @printed: lines that have gone out
 * @limited: lines that the reader has dropped, since too many came
 */
struct gtp_dprintfs {
	struct gtp_dprintf *list;
	u32 n;
	u32 ncpus;
	struct gtp_tracepoints parts;
	enum gtp_dprintf_to to;
	u64 hits, dropped, missed, nested;
	u64 printed, limited;
};

enum { GTP_RO_MAX = 64 }; /* a kernel image has about 25 read-only sections */

struct gtp_aggregate_cpu {
	struct gtp_aggr_table *table[2];
	u32 live;
};

/**
 * struct gtp_aggregate - an aggregation of a run
 * @next: others
 * @tsv: the variable that it is set by
 * @nkeys: how many keys, @key_name
 * @shape: its entries
 * @all: what has been taken from the CPUs so far
 * @keys_max: as many keys as that is given room for
 * @ncpus: entries of @cpu
 * @cpu: by CPU: its tables, of which it updates the one that is @live; NULL where it has no part
 */
struct gtp_aggregate {
	struct gtp_aggregate *next;
	u16 tsv;
	u32 nkeys;
	char name[GTP_TSV_NAME_MAX];
	char key_name[GTP_AGGR_KEYS_MAX][GTP_TSV_NAME_MAX];
	struct gtp_aggr_shape shape;
	struct gtp_aggr_table *all;
	u32 keys_max;
	u32 ncpus;
	struct gtp_aggregate_cpu *cpu;
};

/**
 * struct gtp_trace - the one trace session
 * @mem, @target, @ctx: where it runs, set by gtp_trace_init()
 * @text_start: run-time address of _text, 0: not known
 * @build_id: the kernel's build-id, lower-case hex, "" or NULL when not known
 * @run: what hits see of it
 * @tps: definitions
 * @locs: armed locations, in the order of their first tracepoints
 * @loc_by_addr: the same, by address and kind, while a run is being set up or on
 * @installing: defined during the run, armed when it is complete; see session/install.h
 * @formats: of the static data in the frames, until these go
 * @dprintfs: those come and go without a run
 * @aggregates: what the actions of the run update, until its frames go
 * @aggregate_keys: how many keys each CPU has room for, of the next one that is begun
 * @aggregate_text: as last read, @aggregate_bytes of it; NULL: not yet
 * @all_switched: actions of the run may switch any of its tracepoints
 * @slots_used: how many of the run's counters are taken
 * @stop: GTP_STOP_RUNNING until every location is disarmed, whatever a hit has written
 * @end_untold: a hit has ended the run, and no continue has been answered with that
 * @missed: of locations that are gone
 * @taken: frames of the run that a reader was given while it went on, see export/stream.h
 * @nested: of the run that has ended; what the CPUs count from there on are hits of dprintfs
 * @index: of the stopped run, built when first asked for
 * @strict: a place that cannot be probed refuses the whole run
 * @pass_errors: what fails at a hit does not end the next run
 * @epoch: goes up whenever frames are dropped, for readers that read them in several steps
 * @ro, @nro: what a frame need not hold because it never changes (QTro); a GDB that connects later
 *	      does not say it again
 * The rest is settings and what qTStatus tells.
 *
 * Everything but hits runs under one lock of the caller.
 */
struct gtp_trace {
	struct gtp_mem mem;
	const struct gtp_target_ops *target;
	void *ctx;
	u64 text_start;
	const char *build_id;

	struct gtp_run run;
	struct gtp_tracepoints tps;
	struct gtp_location *locs;
	struct gtp_location *loc_by_addr[GTP_LOCATION_BUCKETS];
	struct gtp_tracepoint *installing;
	struct gtp_dprintfs dprintfs;
	struct gtp_sdata_format *formats;
	struct gtp_aggregate *aggregates;
	u32 aggregate_keys;
	char *aggregate_text;
	size_t aggregate_bytes;
	bool all_switched;
	u32 slots_used;
	enum gtp_stop stop;
	bool end_untold;
	u64 missed;
	u64 taken;
	u64 nested;

	struct gtp_index index;
	bool indexed;
	u64 epoch;

	bool strict;
	bool pass_errors;
	bool circular;
	bool disconnected;
	u64 buffer_bytes;
	u64 start_us, stop_us;
	char *user_hex, *notes_hex, *stop_notes_hex;

	struct gtp_ro ro[GTP_RO_MAX];
	u32 nro;
};

/* gtp_trace_running - from QTStart until all is disarmed */
static inline bool gtp_trace_running(const struct gtp_trace *t)
{
	return t->stop == GTP_STOP_RUNNING;
}

/* gtp_trace_tell - text for the user's console, if there is one */
static inline void gtp_trace_tell(struct gtp_trace *t, const char *text)
{
	if (t->target->tell)
		t->target->tell(t->ctx, text);
}

#endif /* _GTP_TRACE_SESSION_H */
