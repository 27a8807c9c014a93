// SPDX-License-Identifier: GPL-2.0-only
/* Allocates the tables of a run's pairs, and prints them while hits change them. */
#include "session/pair.h"

enum {
	NUMBER_MAX = 24,	 /* a number and a blank */
	LATER = 1024,		 /* entries that hits may add while the text is made */
	ENTRIES_MAX = 256 << 20, /* bytes of the text of all entries */
};

void gtp_pairs_drop(struct gtp_trace *t)
{
	for (u32 i = 0; i < t->pairs.n; i++)
		t->mem.free(t->mem.ctx, t->pairs.pair[i].table);
	t->pairs.n = 0;
}

/* --- allocating tables --- */

static int get_table(struct gtp_trace *t, struct gtp_trace_pair *pair, struct gtp_why *why)
{
	size_t bytes = gtp_pair_bytes(t->pair_entries, pair->nkept, t->run.ncpus);
	void *mem = NULL;

	if (bytes <= t->target->memory_most(t->ctx))
		mem = t->mem.alloc(t->mem.ctx, bytes);
	if (!mem) {
		gtp_why(why,
			"no memory for the table of the pair %s, %llu KiB: set monitor pair-entries to less than %u",
			pair->name, (u64)bytes >> 10, t->pair_entries);
		return -ENOMEM;
	}
	pair->table = gtp_pair_init(mem, t->pair_entries, pair->nkept, t->run.ncpus);
	memcpy(pair->table->kept, pair->kept, sizeof(pair->kept));
	return 0;
}

static void hand_out(struct gtp_trace *t, u32 num, struct gtp_pair *table)
{
	for (u32 i = 0; i < t->run.ncpus; i++)
		if (t->run.cpus[i])
			gtp_tsv_set_pair(t->run.cpus[i]->local, num, table, i);
}

/* Connect the table with the variables of the pair, which have its name. */
static void connect(struct gtp_trace *t, const struct gtp_trace_pair *pair)
{
	for (u32 num = 1; num < GTP_TSV_MAX; num++) {
		const struct gtp_tsv *tsv = t->run.tsvs.slot[num];

		if (!tsv || !tsv->pair || tsv->pair == GTP_TSV_PAIR_KEPT ||
		    strcmp(gtp_tsv_pair_name(tsv), pair->name))
			continue;
		if (tsv->pair == GTP_TSV_PAIR_SINCE)
			WRITE_ONCE(pair->table->since, (u16)num);
		else
			hand_out(t, num, pair->table);
	}
}

int gtp_pairs_add(struct gtp_trace *t, struct gtp_why *why)
{
	struct gtp_trace_pairs *planned = &t->pairs_planned;
	int rc = 0;

	for (u32 i = 0; i < planned->n && !rc; i++) {
		if (!planned->pair[i].table)
			rc = get_table(t, &planned->pair[i], why);
		if (!rc) {
			t->pairs.pair[i] = planned->pair[i];
			t->pairs.n = i + 1;
			connect(t, &planned->pair[i]);
		}
	}
	return rc;
}

/* --- printing --- */

static u64 count_entries(const struct gtp_pair *p)
{
	struct gtp_pair_entry e[GTP_PAIR_SLOTS];
	u64 n = 0;

	for (u32 nr = 0; nr < p->nbuckets; nr++) {
		int got = gtp_pair_read(p, nr, e);

		n += got < 0 ? GTP_PAIR_SLOTS : (u32)got;
	}
	return n;
}

size_t gtp_pairs_text_bytes(const struct gtp_trace *t, u64 most, u64 *room)
{
	size_t heads = t->pairs.n * ((1 + GTP_PAIR_KEPT_MAX) * GTP_TSV_NAME_MAX + 16 * NUMBER_MAX);
	/* "unfinished", the key, the time, and the colon with the newline count as numbers. */
	size_t each = (4 + GTP_PAIR_KEPT_MAX) * NUMBER_MAX;

	*room = t->pairs.n ? LATER : 0;
	for (u32 i = 0; i < t->pairs.n; i++)
		*room += count_entries(t->pairs.pair[i].table);
	most = most > heads ? most - heads : 0;
	if (most > ENTRIES_MAX)
		most = ENTRIES_MAX;
	if (*room > most / each)
		*room = most / each;
	return heads + *room * each;
}

static void put_head(const struct gtp_trace *t, const struct gtp_trace_pair *pair,
		     struct gtp_out *out)
{
	struct gtp_pair_counts c;

	gtp_pair_sum(pair->table, t->run.ncpus, &c);
	gtp_out_printf(out, "pair %s :", pair->name);
	for (u32 i = 0; i < pair->nkept; i++)
		gtp_out_printf(out, " %s", t->run.tsvs.slot[pair->kept[i]]->name);
	gtp_out_printf(out, "\npaired %llu %llu %llu %llu %llu %llu %llu\n", c.started, c.ended,
		       c.restarted, c.no_room, c.start_gave_up, c.no_start, c.end_gave_up);
}

static void put_entry(const struct gtp_pair_entry *e, u32 nkept, struct gtp_out *out)
{
	gtp_out_printf(out, "unfinished %llx %llu :", e->key, e->time);
	for (u32 i = 0; i < nkept; i++)
		gtp_out_printf(out, " %llx", e->kept[i]);
	gtp_out_printf(out, "\n");
}

/*
 * Print the entries of a table. Return the number of entries and buckets that are left out: there
 * was no room, or hits changed the bucket again and again.
 */
static u64 put_entries(const struct gtp_trace_pair *pair, u64 *room, struct gtp_out *out)
{
	struct gtp_pair_entry e[GTP_PAIR_SLOTS];
	u64 unread = 0;

	for (u32 nr = 0; nr < pair->table->nbuckets; nr++) {
		int got = gtp_pair_read(pair->table, nr, e);

		unread += got < 0;
		for (int i = 0; i < got; i++) {
			if (!*room) {
				unread++;
				continue;
			}
			--*room;
			put_entry(&e[i], pair->nkept, out);
		}
	}
	return unread;
}

void gtp_pairs_text(const struct gtp_trace *t, u64 room, struct gtp_out *out)
{
	for (u32 i = 0; i < t->pairs.n; i++) {
		put_head(t, &t->pairs.pair[i], out);
		gtp_out_printf(out, "unread %llu\n", put_entries(&t->pairs.pair[i], &room, out));
	}
}
