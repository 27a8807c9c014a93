/* SPDX-License-Identifier: GPL-2.0-only */
/* One trace session, and the functions that it needs from its host. */
#ifndef _GTP_TRACE_SESSION_H
#define _GTP_TRACE_SESSION_H

#include "aggregate/pair.h"
#include "aggregate/table.h"
#include "base/base.h"
#include "hit/run.h"
#include "trace/index.h"
#include "tracepoint/dprintf.h"
#include "tracepoint/tracepoint.h"
#include "tracepoint/tsv.h"

/**
 * struct gtp_target_ops - the functions that a run needs from its host; process context, may sleep
 * @is_marker: true if a kernel tracepoint's marker is at @addr. A GDB tracepoint at that address is
 *             set on the kernel tracepoint, whichever command was used (NULL: there are no markers)
 * @arm: set a probe on @loc; return 0, or -errno with @why in words. Hits may come before it
 *       returns. After one or more calls of @arm the caller calls @arm_done or @disarm once
 * @arm_done: activate all probes that @arm has prepared, together. Set ->refused of locations that
 *            turn out to be impossible; ignore locations whose ->refused is set already. Return 0,
 *            or -errno with @why; the caller then disarms all locations (NULL: @arm does
 *            everything)
 * @widen: prepare the armed location @loc for a second tracepoint: from now on its probe must
 *         report every hit, even if the first tracepoint's condition is false. Return 0, or -errno
 *         with @why (NULL: probes always report every hit)
 * @sdata: enable the collection of $_sdata at @loc, an armed location of kind GTP_LOCATION_EVENT,
 *         and set @loc->format; return 0, or -errno with @why. A second call sets the same format
 * @disarm: remove all probes of a list of locations, and wait for their hits: after the return none
 *          of these runs on any CPU, and each @loc->missed is final
 * @missed: return the hits of @loc that were lost so far, because there was no buffer or the kernel
 *          skipped them
 * @tell: show text on the user's console (NULL: there is no console)
 * @name: return the symbol at an address, "" if it has none (NULL: no symbols are known)
 * @buffers_get: allocate for every CPU a struct gtp_cpu with @nslots zeroed counters and a buffer;
 *          @bytes is the total size of the buffers (0: the default). Store them in @cpus, which is
 *          indexed by CPU and may have NULL entries, and @ncpus. Return 0 or -ENOMEM with @why
 * @buffers_put: free the memory that @buffers_get has allocated; no hit is running
 * @buffer_alloc: allocate memory for another buffer of a CPU, which @mem of the session frees;
 *                return NULL if there is no memory
 * @lines_get: allocate a ring for the lines of dprintfs on each CPU that has none yet; return 0 or
 *             -ENOMEM with @why (NULL: all CPUs have a ring)
 * @between_hits: call @fn with @arg on CPU @cpu, between two hits. Only hits in NMIs can interrupt
 *                @fn, and they end before it continues. May wait for a hit to end
 * @memory_most: return how many bytes may be allocated now for the tables of aggregations, their
 *               text, or the table of stacks. A larger allocation could make the machine kill
 *               processes
 * @stacks_bytes: return the memory for the stacks of $kstack and $ustack
 * @wallclock_us: return microseconds since the epoch
 * @clock_off: true if the clock of hits has become unreliable since the buffers were allocated;
 *             @why then has the words (NULL: it cannot)
 * @stays: true if the module cannot be unloaded until a reboot; @why then has the reason (NULL: it
 *	can always be unloaded)
 * @progress: called repeatedly during long work, to keep GDB from giving up (may be NULL)
 * @code_begin: begin to compile, for these variables; return 0 or -errno with @why. If @code_begin
 *              is NULL, so are the other @code_ functions, and all expressions are interpreted
 * @code_make: compile @e for the location at @pc and set @e->compiled, or leave it NULL; return 0,
 *             -ENOSPC if there is no room for the code, or -errno with @why
 * @code_make_actions: compile all actions of @tp and set @tp->code; return 0, -EOPNOTSUPP if its
 *                     actions cannot be one snippet, -ENOSPC, or -errno with @why
 * @code_end: make the code that was compiled since @code_begin executable
 * @code_forget: free all compiled code, which no hit runs any more
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
	bool (*clock_off)(void *ctx, struct gtp_why *why);
	bool (*stays)(void *ctx, struct gtp_why *why);
	void (*progress)(void *ctx, const char *what, u32 done, u32 total);
	int (*code_begin)(void *ctx, const struct gtp_tsvs *tsvs, struct gtp_why *why);
	int (*code_make)(void *ctx, struct gtp_expr *e, u64 pc, struct gtp_why *why);
	int (*code_make_actions)(void *ctx, struct gtp_tracepoint *tp, struct gtp_why *why);
	void (*code_end)(void *ctx);
	void (*code_forget)(void *ctx);
};

enum {
	GTP_LOCATION_BUCKETS = 1024, /* number of buckets; a power of two */
	GTP_SLOTS_SPARE = 4096,	     /* counters for tracepoints that are defined during a run */
};

/* struct gtp_ro - a read-only range of the kernel's image, [start, end), in run-time addresses */
struct gtp_ro {
	u64 start, end;
};

/* enum gtp_dprintf_to - where the text of dprintfs goes */
enum gtp_dprintf_to {
	GTP_DPRINTF_CONSOLE, /* GDB's console, while GDB waits in a continue */
	GTP_DPRINTF_TRACE,   /* the kernel's trace */
	GTP_DPRINTF_LOG,     /* the kernel's log */
};

/**
 * struct gtp_dprintfs - all dprintfs of GDB
 * @list: the dprintfs, one entry for each address
 * @n: the number of entries in @list
 * @ncpus: the number of counters of each entry
 * @parts: a list of tracepoints that stays empty; it counts the memory of dprintfs' conditions,
 *	actions and texts
 * @to: where the text of dprintfs goes; the reader of lines checks it for each line
 * @hits, @dropped, @missed: counters of entries that no longer exist
 * @nested: nested hits without a run, counted in instances of struct gtp_cpu that no longer exist
 * @printed: the number of lines that were printed
 * @limited: lines that the reader has dropped because there were too many
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
 * @next: the next aggregation
 * @tsv: the number of the variable: setting it updates the aggregation
 * @nkeys: number of keys, and of names in @key_name
 * @shape: the shape of the table's entries
 * @all: the total of all values that were collected from the CPUs so far
 * @keys_max: number of keys for which @all has room
 * @ncpus: the number of entries in @cpu
 * @cpu: each CPU's two tables, of which its hits update table @live; NULL tables if the CPU has no
 *	struct gtp_cpu
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

enum { GTP_PAIRS_MAX = 16 };

/**
 * struct gtp_trace_pair - a pair of a run
 * @name: the NAME of its variables
 * @starts: true if an action stores a start, so that @kept is known
 * @nkept, @kept: the variables that its starts keep, by number
 * @table: its table, shared by all CPUs
 */
struct gtp_trace_pair {
	char name[GTP_TSV_NAME_MAX];
	bool starts;
	u32 nkept;
	u16 kept[GTP_PAIR_KEPT_MAX];
	struct gtp_pair *table;
};

/* struct gtp_trace_pairs - all pairs of a run */
struct gtp_trace_pairs {
	u32 n;
	struct gtp_trace_pair pair[GTP_PAIRS_MAX];
};

/**
 * struct gtp_trace - the one trace session
 * @mem, @target, @ctx: the session's host, set by gtp_trace_init()
 * @text_start: run-time address of _text, 0: not known
 * @build_id: the kernel's build-id in lower-case hex; "" or NULL: not known
 * @run: the part of the session that hits use
 * @tps: the definitions of tracepoints
 * @locs: the run's locations, in the order of their first tracepoints
 * @loc_by_addr: the armed locations, hashed by address and kind, while a run is being set up or
 *     active
 * @installing: a tracepoint whose definition during the run is not complete yet; see
 * session/install.h
 * @formats: the formats of the static data in the frames; kept as long as there are frames
 * @dprintfs: GDB's dprintfs, which are independent of runs
 * @aggregates: the run's aggregations, as long as there are frames
 * @aggregate_keys: number of keys for which each CPU has room, from the next run on
 * @aggregate_text: the text of the last reading, @aggregate_bytes long; NULL: none yet
 * @pairs: the run's pairs, as long as there are frames
 * @pairs_planned: the pairs that gtp_pairs_plan() has found, @pairs included if a tracepoint joins
 * @pair_entries: the number of starts for which a pair has room, from the next run on
 * @all_switched: true if actions of the run may switch any of its tracepoints
 * @slots_used: the number of counters of each CPU that are in use
 * @stop: GTP_STOP_RUNNING until every location is disarmed, whatever a hit has written
 * @end_untold: true if a hit has ended the run, and no continue has reported that yet
 * @missed: missed hits of locations that no longer exist
 * @taken: the number of frames that a reader took during the run, see export/stream.h
 * @nested: the number of nested hits when the last run ended; later ones are hits of dprintfs
 * @clock_wrong: the fault found in the clock of the run's hits; "" if none
 * @clock_told: true if @clock_wrong has been reported to the user
 * @index: the index of the stopped run's frames, built at the first use
 * @strict: true if a location that cannot be probed makes tstart fail
 * @pass_errors: true if failures at hits do not end the next run
 * @epoch: incremented whenever frames are dropped, for readers that read them in several steps
 * @ro, @nro: read-only memory of the kernel, which frames need not contain (QTro). Kept for a GDB
 *	      that connects later, because it does not send the ranges again
 * The other members are settings and values for qTStatus.
 *
 * Everything except hits runs under one lock of the caller.
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
	struct gtp_trace_pairs pairs, pairs_planned;
	u32 pair_entries;
	bool all_switched;
	u32 slots_used;
	enum gtp_stop stop;
	bool end_untold;
	u64 missed;
	u64 taken;
	u64 nested;
	struct gtp_why clock_wrong;
	bool clock_told;

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

/* gtp_trace_running - true from QTStart until all locations are disarmed */
static inline bool gtp_trace_running(const struct gtp_trace *t)
{
	return t->stop == GTP_STOP_RUNNING;
}

/*
 * gtp_trace_check_clock - check the clock of the hits of an active run. A fault is stored in
 * @clock_wrong as long as the run's frames exist
 */
static inline void gtp_trace_check_clock(struct gtp_trace *t)
{
	if (gtp_trace_running(t) && !*t->clock_wrong.text && t->target->clock_off)
		t->target->clock_off(t->ctx, &t->clock_wrong);
}

/* gtp_trace_tell - show text on the user's console, if there is one */
static inline void gtp_trace_tell(struct gtp_trace *t, const char *text)
{
	if (t->target->tell)
		t->target->tell(t->ctx, text);
}

#endif /* _GTP_TRACE_SESSION_H */
