// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocates each CPU's tables of aggregations, and reads them while hits update them.
 *
 * Every CPU has two tables for each aggregation, and its hits update one of them. A reader makes
 * each CPU switch to its other table, between two hits. Then no hit writes the old table, and the
 * reader adds it to the total and empties it. So no value is lost or read twice, and no hit waits.
 */
#include "aggregate/text.h"
#include "session/aggregate.h"
#include "session/cpus.h"
#include "session/location.h"
#include "session/pair.h"

static void *alloc(struct gtp_trace *t, size_t bytes)
{
	return t->mem.alloc(t->mem.ctx, bytes);
}

static void release(struct gtp_trace *t, void *p)
{
	t->mem.free(t->mem.ctx, p);
}

static struct gtp_aggr_table *new_table(struct gtp_trace *t, const struct gtp_aggregate *a,
					u32 keys)
{
	void *mem = alloc(t, gtp_aggr_table_bytes(&a->shape, keys));

	return mem ? gtp_aggr_table_init(mem, &a->shape, keys) : NULL;
}

static void free_one(struct gtp_trace *t, struct gtp_aggregate *a)
{
	u32 i;

	for (i = 0; a->cpu && i < a->ncpus; i++) {
		release(t, a->cpu[i].table[0]);
		release(t, a->cpu[i].table[1]);
	}
	release(t, a->cpu);
	release(t, a->all);
	release(t, a);
}

void gtp_aggregates_free(struct gtp_trace *t, struct gtp_aggregate *list)
{
	while (list) {
		struct gtp_aggregate *a = list;

		list = a->next;
		free_one(t, a);
	}
}

static void free_text(struct gtp_trace *t)
{
	release(t, t->aggregate_text);
	t->aggregate_text = NULL;
	t->aggregate_bytes = 0;
}

void gtp_aggregates_drop(struct gtp_trace *t)
{
	gtp_aggregates_free(t, t->aggregates);
	t->aggregates = NULL;
	free_text(t);
}

/* --- allocating tables --- */

static int refuse_memory(struct gtp_trace *t, const struct gtp_aggregate *a, struct gtp_why *why)
{
	gtp_why(why,
		"no memory for $%s, two tables of %llu KiB on each CPU: set monitor aggregate-keys to less than %u",
		a->name, (u64)gtp_aggr_table_bytes(&a->shape, t->aggregate_keys) >> 10,
		t->aggregate_keys);
	return -ENOMEM;
}

static bool fill_cpu(struct gtp_trace *t, struct gtp_aggregate *a, u32 i)
{
	u32 k;

	for (k = 0; k < 2; k++) {
		a->cpu[i].table[k] = new_table(t, a, t->aggregate_keys);
		if (!a->cpu[i].table[k])
			return false;
	}
	return true;
}

static u32 count_cpus(const struct gtp_trace *t)
{
	u32 i, n = 0;

	for (i = 0; i < t->run.ncpus; i++)
		n += !!t->run.cpus[i];
	return n;
}

/*
 * Check that there is enough memory for the tables before allocating any: a machine that runs out
 * of memory kills processes.
 */
static int check_room(struct gtp_trace *t, const struct gtp_aggregate *a, struct gtp_why *why)
{
	u64 most = t->target->memory_most(t->ctx), bytes = 0;
	u32 tables = 2 * count_cpus(t) + 1;

	for (; a; a = a->next) {
		u64 each = gtp_aggr_table_bytes(&a->shape, t->aggregate_keys);

		if (tables * each > GTP_AGGR_BYTES_MAX)
			return refuse_memory(t, a, why);
		bytes += tables * each;
	}
	if (bytes <= most)
		return 0;
	gtp_why(why,
		"the tables of aggregations need %llu MiB, and a quarter of the available memory is %llu MiB: set monitor aggregate-keys to less than %u",
		bytes >> 20, most >> 20, t->aggregate_keys);
	return -ENOMEM;
}

static int get_tables(struct gtp_trace *t, struct gtp_aggregate *a, struct gtp_why *why)
{
	u32 i, n = count_cpus(t);

	a->ncpus = t->run.ncpus;
	a->keys_max = t->aggregate_keys * n;
	a->all = new_table(t, a, t->aggregate_keys);
	a->cpu = alloc(t, a->ncpus * sizeof(*a->cpu));
	if (!a->all || !a->cpu)
		return refuse_memory(t, a, why);
	for (i = 0; i < a->ncpus; i++)
		if (t->run.cpus[i] && !fill_cpu(t, a, i))
			return refuse_memory(t, a, why);
	return 0;
}

static void hand_out(struct gtp_trace *t, const struct gtp_aggregate *a, u32 i)
{
	const struct gtp_aggr_table *table = a->cpu[i].table[a->cpu[i].live];

	WRITE_ONCE(t->run.cpus[i]->local[GTP_TSV_TABLE + a->tsv], (u64)(unsigned long)table);
}

int gtp_aggregates_add(struct gtp_trace *t, struct gtp_aggregate *list, struct gtp_why *why)
{
	struct gtp_aggregate *a, **at = &t->aggregates;
	int rc = list ? check_room(t, list, why) : 0;
	u32 i;

	for (a = list; a && !rc; a = a->next)
		rc = get_tables(t, a, why);
	if (rc) {
		gtp_aggregates_free(t, list);
		return rc;
	}
	for (a = list; a; a = a->next) {
		t->run.tsvs.ways[a->tsv] =
			a->shape.kind == GTP_AGGR_COUNT && !a->nkeys ? AX_TSV_COUNT : AX_TSV_UPDATE;
		for (i = 0; i < a->ncpus; i++)
			if (a->cpu[i].table[0])
				hand_out(t, a, i);
	}
	while (*at)
		at = &(*at)->next;
	*at = list;
	return 0;
}

/* --- reading the tables --- */

struct exchange {
	struct gtp_trace *t;
	u32 cpu;
};

/* Make hits of this CPU update the other tables. Runs on that CPU, between two hits. */
static void exchange(void *arg)
{
	const struct exchange *x = arg;
	struct gtp_aggregate *a;

	for (a = x->t->aggregates; a; a = a->next) {
		a->cpu[x->cpu].live ^= 1;
		hand_out(x->t, a, x->cpu);
	}
}

/*
 * Increase the number of keys that the total can hold, up to @keys_max. If there is no memory,
 * values for which there is no room are counted.
 */
static void grow(struct gtp_trace *t, struct gtp_aggregate *a, u32 more)
{
	u64 need = (u64)a->all->used + more, keys = a->all->most - 1;
	struct gtp_aggr_table *larger;

	if (!a->nkeys || need <= a->all->most || keys >= a->keys_max)
		return;
	while (keys < need)
		keys *= 2;
	if (keys > a->keys_max)
		keys = a->keys_max;
	if (gtp_aggr_table_bytes(&a->shape, (u32)keys) > t->target->memory_most(t->ctx))
		return;
	larger = new_table(t, a, (u32)keys);
	if (!larger)
		return;
	gtp_aggr_merge(larger, a->all);
	release(t, a->all);
	a->all = larger;
}

static void take_cpu(struct gtp_trace *t, u32 i)
{
	struct exchange x = { .t = t, .cpu = i };
	struct gtp_aggregate *a;

	t->target->between_hits(t->ctx, t->run.cpus[i], exchange, &x);
	for (a = t->aggregates; a; a = a->next) {
		struct gtp_aggr_table *rests = a->cpu[i].table[!a->cpu[i].live];

		grow(t, a, rests->used);
		gtp_aggr_merge(a->all, rests);
		gtp_aggr_clear(rests);
	}
}

static size_t text_bytes(const struct gtp_trace *t)
{
	size_t bytes = 64;
	const struct gtp_aggregate *a;

	for (a = t->aggregates; a; a = a->next)
		bytes += 128 + (1 + GTP_AGGR_KEYS_MAX) * GTP_TSV_NAME_MAX +
			 gtp_aggr_text_bytes(a->all);
	return bytes;
}

static void put_head(const struct gtp_trace *t, const struct gtp_aggregate *a, struct gtp_out *out)
{
	u32 i;

	gtp_out_printf(out, "aggregation %s %s", a->name, gtp_aggr_kind_name(a->shape.kind));
	if (a->shape.kind == GTP_AGGR_LHIST)
		gtp_out_printf(out, " %lld %lld %lld", a->shape.from, a->shape.to, a->shape.step);
	gtp_out_printf(out, " :");
	for (i = 0; i < a->nkeys; i++)
		gtp_out_printf(out, " %s", a->key_name[i]);
	gtp_out_printf(out, "\n");
}

static int make_text(struct gtp_trace *t, struct gtp_why *why)
{
	size_t bytes = text_bytes(t);
	const struct gtp_aggregate *a;
	struct gtp_out out;
	u64 most, starts;

	free_text(t);
	most = t->target->memory_most(t->ctx);
	bytes += gtp_pairs_text_bytes(t, most > bytes ? most - bytes : 0, &starts);
	if (bytes <= most)
		t->aggregate_text = alloc(t, bytes);
	if (!t->aggregate_text) {
		gtp_why(why, "no memory for %llu KiB of text; nothing is lost", (u64)bytes >> 10);
		return -ENOMEM;
	}
	gtp_out_init(&out, t->aggregate_text, bytes);
	gtp_out_printf(&out, "run %d %llu %llu\n", gtp_trace_running(t), gtp_cpus_nested_in_run(t),
		       gtp_locations_missed(t));
	for (a = t->aggregates; a; a = a->next) {
		put_head(t, a, &out);
		gtp_aggr_text(a->all, &out);
	}
	gtp_pairs_text(t, starts, &out);
	t->aggregate_bytes = out.len;
	return 0;
}

int gtp_aggregates_read(struct gtp_trace *t, bool clear, struct gtp_why *why)
{
	struct gtp_aggregate *a;
	u32 i;
	int rc;

	for (i = 0; t->aggregates && i < t->run.ncpus; i++)
		if (t->run.cpus[i])
			take_cpu(t, i);
	rc = make_text(t, why);
	for (a = t->aggregates; a && clear && !rc; a = a->next)
		gtp_aggr_clear(a->all);
	return rc;
}
