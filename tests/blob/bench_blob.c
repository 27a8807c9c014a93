// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures what a hit costs in a process: ns of a call with a probe above a call of a twin function
 * without one, the fastest of many rounds.
 */
#include <err.h>
#include <stdlib.h>
#include <time.h>

#include "tests/blob/places.h"
#include "tests/blob/world.h"

enum { ROUNDS = 2000, CALLS = 2000 };

static struct world w;
static struct {
	int a, b;
} object = { 42, 7 };

static u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

static double round_of(long (*fn)(long a, long b), long a)
{
	u64 start = now();

	for (u32 i = 0; i < CALLS; i++)
		fn(a, 7);
	return (double)(now() - start) / CALLS;
}

static void empty_buffers(void)
{
	for (u32 i = 0; i < w.parts; i++) {
		struct gtp_buffer *b = &w.trace->run.cpus[i]->buf;

		gtp_buffer_init(b, b->mem, b->size, false);
	}
}

static double measure(long a)
{
	double with = 1e9, bare = 1e9;

	for (u32 i = 0; i < ROUNDS; i++) {
		double t = round_of(twin_add, a);

		bare = t < bare ? t : bare;
		empty_buffers();
		t = round_of(place_add, a);
		with = t < with ? t : with;
	}
	return with - bare;
}

/* clang-format off */
#define A_ABOVE(n)	"260005" n "2b1427"	/* a > n, as GDB compiles it */
#define O_A_ABOVE(n)	"260005191620" n "2b1427"
#define KEY		"X2600052d005227"	/* $key_a = a */
#define COUNT		"X22012d005127"		/* $count_a = 1 */
#define ONE		.n = 1, .hits = 1
/* clang-format on */

/* struct row - a tracepoint; @n: how many of them at the place; @hits: of each call */
static const struct row {
	const char *name, *cond, *actions;
	u32 n;
	u32 hits;
	double goal;
	bool pointer; /* the argument is a pointer to object */
	bool test;    /* the host has not found that object stays mapped */
} rows[] = {
	{ "condition a > 1000000, false", A_ABOVE("24000f4240"), "R30", .n = 1, .goal = 1.5 },
	{ "an empty frame with its clock", .n = 1, .hits = 1 },
	{ "condition, a, b, clock, one frame", A_ABOVE("2205"), "R30", ONE, .goal = 35 },
	{ "condition, all registers", A_ABOVE("2205"), "RFFFFF", ONE },
	{ "a, b by 2 tracepoints, through C", NULL, "R30", .n = 2, .hits = 1 },
	{ "collect *o, known to be mapped", NULL, "M5,0,8", ONE, .pointer = true },
	{ "collect *o, read by the kernel", NULL, "M5,0,8", ONE, .pointer = true, .test = true },
	{ "condition o->a > 1000, false, known", O_A_ABOVE("2303e8"), .n = 1, .pointer = true },
	{ "$count_a = 1", NULL, COUNT, ONE },
	{ "count by key a", NULL, KEY " " COUNT, ONE, .goal = 20 },
	{ "hist of b by a", NULL, KEY " X2600042d005327", ONE },
	{ "$p_n = $p_n + 1, with its frame", NULL, "X2c00502201022d005027", ONE },
};

static void define(const struct row *r)
{
	static const char *const vars[] = { "50:0:0:705f6e", "51:0:0:636f756e745f61",
					    "52:0:0:6b65795f61", "53:0:0:686973745f61" };
	struct gtp_why why = { "" };
	char acts[256] = "", *text, *word;

	for (u32 i = 0; i < ARRAY_SIZE(vars); i++)
		gtp_tsvs_define(&w.trace->run.tsvs, &w.trace->mem, vars[i], &why);
	text = strdup(r->actions ? r->actions : "");
	for (word = strtok(text, " "); word; word = strtok(NULL, " "))
		strcat(acts, *word == 'X' ? world_expr(word + 1) : word);
	free(text);
	for (u32 i = 0; i < r->n; i++)
		world_define(&w, place_add, r->cond, *acts ? acts : NULL);
}

static void print_row(const struct row *r)
{
	const long a = r->pointer ? (long)&object : 42;
	double ns;

	define(r);
	w.shared->nmaps = !r->test;
	world_start(&w);
	ns = measure(a);
	world_stop(&w);
	if (world_hits(&w) != (u64)r->hits * ROUNDS * CALLS)
		errx(1, "%s: %llu hits", r->name, world_hits(&w));
	printf("%-48s %7.1f", r->name, ns);
	if (r->goal)
		printf("   goal %.1f, %s", r->goal, ns <= r->goal ? "reached" : "missed");
	printf("\n");
	world_reset(&w);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(2, "usage: bench_blob IMAGE");
	world_init(&w, argv[1]);
	w.shared->map[0] =
		(struct gtp_agent_map){ (u64)(unsigned long)&object & -4096ULL,
					((u64)(unsigned long)&object & -4096ULL) + 4096 };
	world_place(&w, place_add, true);
	printf("ns of a hit above a call without a probe, the fastest of %u rounds of %u\n", ROUNDS,
	       CALLS);
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++)
		print_row(&rows[i]);
	return 0;
}
