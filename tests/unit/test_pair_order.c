// SPDX-License-Identifier: GPL-2.0-only
/*
 * Goes through all orders in which CPUs can interleave a few starts and ends of a pair, step by
 * step of aggregate/pair.c and of the machine code for the common cases (jit/ops_table.c). Each
 * outcome must be one that some order of whole operations has.
 *
 * A CPU yields before it reads shared memory or changes a bucket's state; see orders.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "aggregate/pair.h"
#include "orders.h"
#include "pair_code.h"
#include "pair_steps.h"

enum { CPUS = ORDERS_CPUS, OPS_EACH = 3, OPS = CPUS * OPS_EACH, ENTRIES = 1, KEPT_MAX = 1 };
/* Indexes of keys in @key below, which all have the same bucket. */
enum { K, X, FILLER, KEYS = FILLER + GTP_PAIR_SLOTS };

/* struct op - a start or an end, and what became of it */
struct op {
	char kind; /* 's', 'e', or 0 */
	u32 key;
	u64 time; /* the time of a start, or the one that an end found; 0: none */
	bool restarted, no_room;
	u32 begin, finish; /* when it ran, in steps */
};

/*
 * struct scenario - what the CPUs do
 * @cpu: for each CPU its operations: 's' or 'e', and a key
 * @fillers: entries of other keys in the bucket
 * @there: true if K has a start already
 * @kept: true if the pair keeps a value
 * @coarse: bit n is set if CPU n yields only before accesses to the state, for fewer orders
 * @least: at least as many orders are expected
 */
struct scenario {
	const char *cpu[CPUS];
	u32 fillers;
	bool there, kept;
	u32 coarse;
	u32 least;
};

static struct {
	const struct scenario *s;
	u32 machine; /* bit n is set if CPU n runs machine code */
	u32 coarse;
	void *mem;
	struct gtp_pair *p;
	u64 key[KEYS];
	struct op op[OPS];
} w;

/* --- one CPU --- */

void pair_step(bool of_state)
{
	u32 cpu = orders_now();

	if (cpu == CPUS || (!of_state && w.coarse & 1U << cpu))
		return;
	orders_yield();
}

static void start(u32 cpu, u64 key, u64 time, bool machine)
{
	u64 own[PAIR_CODE_SINCE + 1] = { [PAIR_CODE_KEPT] = ~time };

	if (machine)
		pair_code_start(w.p, cpu, key, time, ~time);
	else
		gtp_pair_start(w.p, cpu, key, time, own);
}

/* Return the time of the start that the end has found; 0: none. */
static u64 end(u32 cpu, u64 key, bool machine)
{
	const u64 time = 10000;
	u64 own[PAIR_CODE_SINCE + 1] = { 0 }, since, kept;
	bool found;

	if (machine) {
		found = pair_code_end(w.p, cpu, key, time, &since, &kept);
	} else {
		found = gtp_pair_end(w.p, cpu, key, time, own);
		since = own[PAIR_CODE_SINCE];
		kept = own[PAIR_CODE_KEPT];
	}
	if (!found)
		return 0;
	if (w.s->kept)
		assert_int_equal(kept, ~(time - since));
	return time - since;
}

static void run_op(struct op *op, u32 nr)
{
	bool machine = w.machine >> nr / OPS_EACH & 1;

	op->begin = orders_step();
	if (op->kind == 's') {
		op->time = 1000 + nr;
		start(nr, w.key[op->key], op->time, machine);
	} else {
		op->time = end(nr, w.key[op->key], machine);
	}
	op->finish = orders_step();
}

static bool takes_part(u32 cpu)
{
	return w.s->cpu[cpu];
}

static void run_ops(u32 cpu)
{
	for (u32 i = 0; i < OPS_EACH; i++)
		if (w.op[cpu * OPS_EACH + i].kind)
			run_op(&w.op[cpu * OPS_EACH + i], cpu * OPS_EACH + i);
}

static void make_pair(bool kept)
{
	memset(w.mem, 0, gtp_pair_bytes(ENTRIES, KEPT_MAX, OPS + 1));
	w.p = gtp_pair_init(w.mem, ENTRIES, kept, OPS + 1);
	w.p->since = PAIR_CODE_SINCE;
	w.p->kept[0] = PAIR_CODE_KEPT;
}

static void prepare(void)
{
	memset(w.op, 0, sizeof(w.op));
	make_pair(w.s->kept);
	for (u32 i = 0; i < w.s->fillers; i++)
		start(OPS, w.key[FILLER + i], 1, false);
	if (w.s->there)
		start(OPS, w.key[K], 500, false);
	for (u32 c = 0; c < CPUS; c++) {
		const char *text = w.s->cpu[c];

		for (u32 i = 0; text && text[2 * i]; i++) {
			struct op *op = &w.op[c * OPS_EACH + i];

			op->kind = text[2 * i];
			op->key = text[2 * i + 1] == 'K' ? K : X;
		}
	}
}

static void read_counts(void)
{
	for (u32 i = 0; i < OPS; i++) {
		assert_int_equal(w.p->counts[i].start_gave_up + w.p->counts[i].end_gave_up, 0);
		assert_int_equal(w.p->counts[i].started, w.op[i].kind == 's');
		assert_int_equal(w.p->counts[i].ended, w.op[i].kind == 'e' && w.op[i].time);
		w.op[i].restarted = w.p->counts[i].restarted;
		w.op[i].no_room = w.p->counts[i].no_room;
	}
}

/* --- the outcome of whole operations --- */

/* struct table - the times of the starts of K and X; 0: none */
struct table {
	u64 time[FILLER];
	u32 fillers;
};

static u32 entries(const struct table *t)
{
	return t->fillers + !!t->time[K] + !!t->time[X];
}

static u32 concurrent_starts(const struct op *op)
{
	u32 n = 0;

	for (u32 i = 0; i < OPS; i++)
		n += &w.op[i] != op && w.op[i].kind == 's' && w.op[i].begin < op->finish &&
		     op->begin < w.op[i].finish;
	return n;
}

/*
 * Do an operation on the table; return false if it would have had another outcome. A start that is
 * not finished has a slot, so it may be the reason why another start finds no room.
 */
static bool apply(struct table *t, const struct op *op)
{
	u64 was = t->time[op->key];

	t->time[op->key] = 0;
	if (op->kind == 'e')
		return was == op->time;
	if (op->restarted != !!was)
		return false;
	if (op->no_room)
		return entries(t) + !!was + concurrent_starts(op) >= GTP_PAIR_SLOTS;
	t->time[op->key] = op->time;
	return entries(t) <= GTP_PAIR_SLOTS;
}

static bool is_final(const struct table *t)
{
	struct gtp_pair_entry e[GTP_PAIR_SLOTS];
	u64 time[FILLER] = { 0 };
	u32 fillers = 0;
	int n = gtp_pair_read(w.p, 0, e);

	for (int i = 0; i < n; i++) {
		u32 key = 0;

		while (w.key[key] != e[i].key)
			key++;
		if (key < FILLER)
			time[key] = e[i].time;
		else
			fillers++;
	}
	return n == (int)entries(t) && fillers == t->fillers &&
	       !memcmp(time, t->time, sizeof(time));
}

/* True if operation @i may be the next: all that had finished before it began are in @did. */
static bool may_follow(u32 did, u32 i)
{
	if (!w.op[i].kind || did & 1U << i)
		return false;
	for (u32 k = 0; k < OPS; k++)
		if (w.op[k].kind && !(did & 1U << k) && k != i &&
		    (w.op[k].finish < w.op[i].begin || (k / OPS_EACH == i / OPS_EACH && k < i)))
			return false;
	return true;
}

static bool explains(struct table t, u32 did)
{
	bool any = false;

	for (u32 i = 0; i < OPS; i++) {
		struct table after = t;

		if (!w.op[i].kind || did & 1U << i)
			continue;
		any = true;
		if (may_follow(did, i) && apply(&after, &w.op[i]) && explains(after, did | 1U << i))
			return true;
	}
	return !any && is_final(&t);
}

static void print_order(void)
{
	orders_print();
	for (u32 i = 0; i < OPS; i++)
		if (w.op[i].kind)
			print_message("CPU %u: %c %u, time %llu, %s%s[%u, %u]\n", i / OPS_EACH,
				      w.op[i].kind, w.op[i].key, w.op[i].time,
				      w.op[i].restarted ? "restarted " : "",
				      w.op[i].no_room ? "no room " : "", w.op[i].begin,
				      w.op[i].finish);
}

static void check(void)
{
	const struct table before = { .time = { [K] = w.s->there ? 500 : 0 },
				      .fillers = w.s->fillers };

	read_counts();
	/* All operations have finished, so no slot is busy. */
	assert_int_equal(w.p->bucket[0].state & GTP_PAIR_ALL_SLOTS / 3 * GTP_PAIR_BUSY, 0);
	if (explains(before, 0))
		return;
	print_order();
	fail();
}

/*
 * Each CPU runs C or machine code, which has more steps. So that there are not too many orders, it
 * yields only before accesses to the state if both CPUs run it; and in scenarios with coarse CPUs
 * only the first CPU runs it, in those with three CPUs none.
 */
static void all_orders(const struct scenario *s)
{
	static const struct orders orders = { prepare, takes_part, run_ops, check, ORDERS_DEPTH };
	u32 most = s->cpu[2] ? 0 : s->coarse ? 1 : 3;

	w.s = s;
	for (w.machine = 0; w.machine <= most; w.machine++) {
		bool both = w.machine == 3;

		w.coarse = s->coarse | (both ? w.machine : 0);
		orders_run_all(&orders, both ? s->least / 10 : s->least);
	}
}

/* --- scenarios --- */

enum { ALL = (1 << CPUS) - 1 };

#define CPUS_DO(...) .cpu = { __VA_ARGS__ }
#define ORDERS(...) all_orders(&(struct scenario){ __VA_ARGS__ })

static void a_start_beside_an_end(void **state)
{
	ORDERS(CPUS_DO("sK", "eK"), .least = 20);
	ORDERS(CPUS_DO("sK", "eK"), .there = true, .least = 100);
	ORDERS(CPUS_DO("sK", "eK"), .fillers = 6, .coarse = ALL, .least = 20);
}

static void two_starts(void **state)
{
	ORDERS(CPUS_DO("sK", "sK"), .least = 100);
	ORDERS(CPUS_DO("sK", "sK"), .there = true, .least = 100);
	ORDERS(CPUS_DO("sK", "sX"), .fillers = 6, .coarse = ALL, .least = 20);
}

static void two_ends(void **state)
{
	ORDERS(CPUS_DO("eK", "eK"), .there = true, .least = 20);
}

/* While one CPU is between two steps of its end, the slot is used again: for X, and for K. */
static void a_slot_is_used_again(void **state)
{
	ORDERS(CPUS_DO("eK", "eKsX"), .there = true, .least = 100);
	ORDERS(CPUS_DO("eK", "eKsK"), .there = true, .least = 100);
	ORDERS(CPUS_DO("eK", "eKsXeX"), .there = true, .fillers = 1, .coarse = ALL, .least = 20);
	/* K moves to another slot, and X takes the slot where the end looks for K. */
	ORDERS(CPUS_DO("eK", "sKsX"), .there = true, .coarse = 2, .least = 500);
}

/* The bucket is full, or is full while a start is busy. */
static void no_room(void **state)
{
	ORDERS(CPUS_DO("sK", "eK"), .there = true, .fillers = 6, .coarse = ALL, .least = 20);
	ORDERS(CPUS_DO("sK", "sKeK"), .fillers = 6, .coarse = ALL, .least = 20);
	ORDERS(CPUS_DO("sK", "eKsX"), .there = true, .fillers = 6, .coarse = ALL, .least = 20);
	ORDERS(CPUS_DO("sX", "sKeK"), .there = true, .fillers = 5, .coarse = ALL, .least = 20);
}

static void two_cpus_with_two_each(void **state)
{
	ORDERS(CPUS_DO("sKeK", "sKeK"), .coarse = ALL, .least = 100);
	ORDERS(CPUS_DO("sKeK", "eKsK"), .there = true, .coarse = ALL, .least = 100);
	ORDERS(CPUS_DO("sKsXeK", "eKeX"), .coarse = ALL, .least = 100);
}

static void three_cpus(void **state)
{
	all_orders(&(struct scenario){ .cpu = { "sK", "eK", "sK" }, .coarse = ALL, .least = 5000 });
}

static void kept_values(void **state)
{
	ORDERS(CPUS_DO("sK", "eK"), .kept = true, .least = 20);
	ORDERS(CPUS_DO("eK", "eK"), .there = true, .kept = true, .least = 20);
	ORDERS(CPUS_DO("eK", "sX"), .there = true, .kept = true, .least = 20);
}

/* In machine code most starts and ends leave nothing to C. */
static void by_machine_code(void **state)
{
	static const struct scenario plain, kept = { .kept = true };
	u32 in_c = pair_code_in_c();

	for (u32 i = 0; i < 2; i++) {
		w.s = i ? &kept : &plain;
		make_pair(w.s->kept);
		start(0, w.key[K], 7, true);
		assert_int_equal(end(0, w.key[K], true), 7);
	}
	assert_int_equal(pair_code_in_c(), in_c);
	assert_int_equal(end(0, w.key[K], true), 0);
	assert_int_equal(pair_code_in_c(), in_c + 1);
}

static bool is_in_bucket_0(u64 key)
{
	struct gtp_pair_entry e[GTP_PAIR_SLOTS];

	make_pair(false);
	start(OPS, key, 1, false);
	return gtp_pair_read(w.p, 0, e);
}

static int setup(void **state)
{
	u32 n = 0;

	pair_code_begin();
	w.mem = calloc(1, gtp_pair_bytes(ENTRIES, KEPT_MAX, OPS + 1));
	for (u64 key = 1; n < KEYS; key++)
		if (is_in_bucket_0(key))
			w.key[n++] = key;
	return 0;
}

static int teardown(void **state)
{
	free(w.mem);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_start_beside_an_end),
		cmocka_unit_test(two_starts),
		cmocka_unit_test(two_ends),
		cmocka_unit_test(a_slot_is_used_again),
		cmocka_unit_test(no_room),
		cmocka_unit_test(two_cpus_with_two_each),
		cmocka_unit_test(three_cpus),
		cmocka_unit_test(kept_values),
		cmocka_unit_test(by_machine_code),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
