// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trace session: sets it up and frees it, adds up its counters, writes qTStatus, and indexes
 * the frames of a stopped run.
 */
#include "base/parse.h"
#include "session/aggregate.h"
#include "session/cpus.h"
#include "session/dprintf.h"
#include "session/location.h"
#include "session/pair.h"
#include "session/trace.h"

int gtp_trace_init(struct gtp_trace *t, const struct gtp_mem *mem,
		   const struct gtp_target_ops *target, const struct gtp_hit_ops *hit_ops,
		   void *ctx)
{
	memset(t, 0, sizeof(*t));
	t->mem = *mem;
	t->target = target;
	t->run.hit_ops = hit_ops;
	t->aggregate_keys = GTP_AGGR_KEYS_DEFAULT;
	t->pair_entries = GTP_PAIR_ENTRIES_DEFAULT;
	t->ctx = ctx;
	t->run.ctx = ctx;
	return gtp_tsvs_init(&t->run.tsvs, mem);
}

static void reset(struct gtp_trace *t)
{
	gtp_trace_stop(t, GTP_STOP_USER);
	gtp_trace_drop(t);
	t->installing = NULL;
	gtp_tracepoints_clear(&t->tps, &t->mem);
	gtp_tsvs_clear(&t->run.tsvs, &t->mem);
}

void gtp_trace_reset(struct gtp_trace *t)
{
	reset(t);
	gtp_dprintf_resume(t);
}

static void free_text(struct gtp_trace *t, char **text)
{
	t->mem.free(t->mem.ctx, *text);
	*text = NULL;
}

void gtp_trace_exit(struct gtp_trace *t)
{
	gtp_dprintf_clear(t, true);
	reset(t);
	gtp_tsvs_exit(&t->run.tsvs, &t->mem);
	free_text(t, &t->user_hex);
	free_text(t, &t->notes_hex);
	free_text(t, &t->stop_notes_hex);
}

/* --- counters --- */

struct gtp_tp_stat gtp_trace_hits(const struct gtp_trace *t, const struct gtp_tracepoint *tp)
{
	struct gtp_tp_stat sum = { 0 };
	u32 i;

	if (tp->slot >= t->run.nslots)
		return sum;
	for (i = 0; i < t->run.ncpus; i++) {
		u64 quick;

		if (!t->run.cpus[i])
			continue;
		quick = READ_ONCE(t->run.cpus[i]->quick[tp->slot]);
		sum.hits += READ_ONCE(t->run.cpus[i]->stat[tp->slot].hits) + quick;
		sum.usage += READ_ONCE(t->run.cpus[i]->stat[tp->slot].usage) +
			     quick * (u32)tp->plan.start;
		sum.failed += READ_ONCE(t->run.cpus[i]->stat[tp->slot].failed);
	}
	return sum;
}

void gtp_trace_totals(const struct gtp_trace *t, struct gtp_totals *sum)
{
	const struct gtp_location *loc;
	/*
	 * Without a run, each struct gtp_cpu may have been allocated for dprintfs, with fewer
	 * slots.
	 */
	u32 nslots = t->slots_used < t->run.nslots ? t->slots_used : t->run.nslots;
	u32 i, slot;

	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < t->run.ncpus; i++) {
		const struct gtp_cpu *cpu = t->run.cpus[i];

		if (!cpu)
			continue;
		sum->frames += gtp_buffer_frames(&cpu->buf);
		sum->created += READ_ONCE(cpu->buf.created);
		/* Before the first run only dprintfs have buffers, which hold no frames. */
		if (t->stop != GTP_STOP_NEVER_RUN) {
			sum->size += cpu->buf.size;
			sum->free += cpu->buf.size - gtp_buffer_used(&cpu->buf);
		}
		sum->no_sdata += READ_ONCE(cpu->no_sdata);
		sum->no_target += READ_ONCE(cpu->no_target);
		sum->busy += READ_ONCE(cpu->busy);
		for (slot = 0; slot < nslots; slot++)
			sum->failed += READ_ONCE(cpu->stat[slot].failed);
	}
	sum->nested = gtp_cpus_nested_in_run(t);
	sum->missed = gtp_locations_missed(t);
	for (loc = t->locs; loc; loc = loc->next)
		sum->refused += gtp_location_is_refused(loc);
}

/* --- qTStatus --- */

static void put_failure(const struct gtp_failure *f, struct gtp_out *out)
{
	const struct ax_error *err = &f->error;
	char text[128];

	if (f->action)
		gtp_out_printf(out, "action %u (%c): ", f->action, f->kind);
	else
		gtp_out_printf(out, "condition: ");
	if (f->action && f->kind != 'X') {
		/* A failure outside an expression has no opcode and no byte to name. */
		if (err->code == AX_E_TOO_MUCH)
			gtp_out_printf(out, "%llu bytes are more than a frame may hold", err->arg);
		else
			gtp_out_printf(out, "cannot read memory at 0x%llx (%llu bytes)", err->arg,
				       err->arg2);
		return;
	}
	ax_error_format(err, text, sizeof(text));
	gtp_out_printf(out, "%s", text);
}

const char *const gtp_oops_text = "the kernel died inside of a hit: see its log";

int gtp_failure_text(const struct gtp_failure *f, char *buf, size_t size)
{
	struct gtp_out out;

	gtp_out_init(&out, buf, size);
	put_failure(f, &out);
	return (int)out.len;
}

static void put_user_stop(const struct gtp_trace *t, struct gtp_out *out)
{
	gtp_out_printf(out, ";tstop:");
	if (t->stop_notes_hex)
		gtp_out_printf(out, "%s:", t->stop_notes_hex);
	gtp_out_printf(out, "0");
}

static void put_error_stop(const struct gtp_trace *t, struct gtp_out *out)
{
	char text[200];
	int len = gtp_failure_text(&t->run.failure, text, sizeof(text));

	gtp_out_printf(out, ";terror:");
	gtp_out_hex(out, text, (size_t)len);
	gtp_out_printf(out, ":%x", t->run.failure.tp);
}

/* Put the reason of GTP_STOP_OOPS. No tracepoint has caused it, so GDB gets the number 0. */
static void put_oops_stop(struct gtp_out *out)
{
	gtp_out_printf(out, ";terror:");
	gtp_out_hex(out, gtp_oops_text, strlen(gtp_oops_text));
	gtp_out_printf(out, ":0");
}

/* Put the reason why the run ended. GDB expects it as the first item; a running run has none. */
static void put_stop(const struct gtp_trace *t, struct gtp_out *out)
{
	switch (t->stop) {
	case GTP_STOP_RUNNING:
		break;
	case GTP_STOP_NEVER_RUN:
		gtp_out_printf(out, ";tnotrun:0");
		break;
	case GTP_STOP_USER:
		put_user_stop(t, out);
		break;
	case GTP_STOP_FULL:
		gtp_out_printf(out, ";tfull:0");
		break;
	case GTP_STOP_DISCONNECTED:
		gtp_out_printf(out, ";tdisconnected:0");
		break;
	case GTP_STOP_PASSCOUNT:
		gtp_out_printf(out, ";tpasscount:%x", t->run.stop_tp);
		break;
	case GTP_STOP_ERROR:
		put_error_stop(t, out);
		break;
	case GTP_STOP_OOPS:
		put_oops_stop(out);
		break;
	}
}

/* Return a number limited to the range of an int, in which GDB stores it. */
static u64 as_int(u64 n)
{
	return n > INT_MAX ? INT_MAX : n;
}

/*
 * Put the numbers that as_int() has limited, in full. GDB compares only the beginnings of items'
 * names, so these names must not begin with a name that GDB knows.
 */
static void put_whole(struct gtp_out *out, const struct gtp_totals *sum)
{
	if (sum->created > INT_MAX)
		gtp_out_printf(out, ";allframes:%llx;allcreated:%llx", sum->frames, sum->created);
	if (sum->size > INT_MAX)
		gtp_out_printf(out, ";allfree:%llx;allsize:%llx", sum->free, sum->size);
}

/* Put a note of the user, in hex. Leave it out if it does not fit: half of it may not be hex. */
static void put_note(struct gtp_out *out, const char *name, const char *hex)
{
	if (hex && out->size - out->len > strlen(name) + strlen(hex) + 2)
		gtp_out_printf(out, ";%s:%s", name, hex);
}

int gtp_trace_status(const struct gtp_trace *t, char *buf, size_t size)
{
	struct gtp_totals sum;
	struct gtp_out out;

	gtp_trace_totals(t, &sum);
	gtp_out_init(&out, buf, size);
	gtp_out_printf(&out, "T%d", gtp_trace_running(t));
	put_stop(t, &out);
	gtp_out_printf(&out, ";tframes:%llx;tcreated:%llx;tfree:%llx;tsize:%llx",
		       as_int(sum.frames), as_int(sum.created), as_int(sum.free), as_int(sum.size));
	/* GDB skips items that it does not know. */
	put_whole(&out, &sum);
	if (t->taken)
		gtp_out_printf(&out, ";ttaken:%llx", t->taken);
	gtp_out_printf(&out, ";circular:%d;disconn:%d;starttime:%llx;stoptime:%llx", t->circular,
		       t->disconnected, t->start_us, t->stop_us);
	put_note(&out, "username", t->user_hex);
	put_note(&out, "notes", t->notes_hex);
	return (int)out.len;
}

/* --- frames of the stopped run --- */

static int build_index(struct gtp_trace *t)
{
	size_t n = t->run.ncpus + 1;
	struct gtp_buffer **bufs = t->mem.alloc(t->mem.ctx, n * sizeof(*bufs));
	const struct gtp_restarts **restarts = t->mem.alloc(t->mem.ctx, n * sizeof(*restarts));
	int err = -ENOMEM;
	u32 i;

	if (bufs && restarts) {
		for (i = 0; i < t->run.ncpus; i++) {
			bufs[i] = t->run.cpus[i] ? &t->run.cpus[i]->buf : NULL;
			restarts[i] = t->run.cpus[i] ? &t->run.cpus[i]->restarts : NULL;
		}
		t->index.formats = t->formats;
		t->index.progress = t->target->progress;
		t->index.ctx = t->ctx;
		err = gtp_index_build(&t->index, &t->mem, bufs, restarts, t->run.ncpus,
				      GTP_INDEX_MOST);
	}
	t->mem.free(t->mem.ctx, restarts);
	t->mem.free(t->mem.ctx, bufs);
	return err;
}

const struct gtp_index *gtp_trace_index(struct gtp_trace *t, struct gtp_why *why)
{
	struct gtp_totals sum;

	if (gtp_trace_running(t)) {
		gtp_why(why, "the frames cannot be looked at while the run goes on; tstop first");
		return NULL;
	}
	static_assert(sizeof(struct gtp_index_entry) == 16, "the text below names the size");
	if (!t->indexed && build_index(t)) {
		gtp_trace_totals(t, &sum);
		gtp_why(why,
			"no memory to number %llu frames, 16 bytes for each; they stay until the next tstart",
			sum.frames);
		return NULL;
	}
	t->indexed = true;
	return &t->index;
}

bool gtp_trace_names(const struct gtp_trace *t, u64 first, u64 last)
{
	const struct gtp_tracepoint *tp;
	const struct gtp_dprintf *dp;

	for (tp = t->tps.first; tp; tp = tp->next)
		if (tp->addr >= first && tp->addr <= last)
			return true;
	for (dp = t->dprintfs.list; dp; dp = dp->next)
		if (dp->addr >= first && dp->addr <= last)
			return true;
	return false;
}
