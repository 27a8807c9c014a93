// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests variables to which a run only adds: which variables a run treats in this way, and which
 * tracepoints may join such a run.
 */
#include <stdlib.h>
#include "hit_case.h"
#include "session/dprintf.h"

/* $x has number 0x46, as in all tests of hits; $y has 0x47, $p_n 0x48 */
#define MUL "04"
#define SWAP "2b"
#define ADD_TO(n) GETV(n) CONST8("01") ADD SETV(n)
#define DOUBLE(n) GETV(n) CONST8("02") MUL SETV(n)
#define SET(n, from) from SETV(n)
#define PRINT CONST8("00") CONST8("00") "34010006256c645c6e00"

#define SETS_X                                                                                     \
	"$x is only added to in this run, without a lock: "                                        \
	"tstop and tstart again to set it in another way"
#define READS_X                                                                                    \
	"$x is only added to in this run, without a lock: "                                        \
	"tstop and tstart again to read it beside others"

static int setup_variables(void **state)
{
	static const char *const text[] = { "47:3:0:79", "48:0:0:705f6e" };
	int rc = setup(state);
	struct fake *f = *state;
	struct gtp_why why;

	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		assert_int_equal(gtp_tsvs_define(&f->trace.run.tsvs, &f->mem, text[i], &why), 0);
	return rc;
}

static enum ax_tsv_way way(struct fake *f, u32 num)
{
	return f->trace.run.tsvs.ways[num];
}

static s64 value(struct fake *f, u32 num)
{
	return f->trace.run.tsvs.slot[num]->value;
}

static int insert(struct fake *f, u64 addr, const char *expr, struct gtp_why *why)
{
	char text[256];

	snprintf(text, sizeof(text), "%llx,1;cmds:0,X%zx,%s", addr, strlen(expr) / 2, expr);
	return gtp_dprintf_insert(&f->trace, text, why);
}

static void inserted(struct fake *f, u64 addr, const char *expr)
{
	struct gtp_why why = { "" };

	if (insert(f, addr, expr, &why))
		fail_msg("%s", why.text);
}

/* Let a defined tracepoint join the run. */
static void joins(struct fake *f, struct gtp_tracepoint *tp)
{
	struct gtp_why why = { "" };

	if (gtp_trace_install(&f->trace, tp, &why))
		fail_msg("%s", why.text);
}

static void joins_not(struct fake *f, struct gtp_tracepoint *tp, const char *want)
{
	struct gtp_why why = { "" };
	u32 num = tp->num;
	u64 addr = tp->addr;

	assert_int_equal(gtp_trace_install(&f->trace, tp, &why), -EINVAL);
	assert_string_equal(why.text, want);
	assert_null(gtp_tracepoint_find(&f->trace.tps, num, addr));
}

/* --- which variables a run only adds to --- */

static void no_lock(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, ADD_TO("46") POP END, ADD_TO("47") END, NULL);
	define(f, "2:1000:D:0:0", NULL, CONST8("05") GETV("46") ADD SETV("46") END, NULL);
	start(f);
	assert_int_equal(way(f, 0x46), AX_TSV_ADDED);
	assert_int_equal(way(f, 0x47), AX_TSV_ADDED);
	fire(f, 2);
	assert_int_equal(gtp_trace_enable(&f->trace, 2, 0x1000, true), 0);
	fire(f, 1);
	assert_int_equal(f->tsv_locks, 0);
	assert_int_equal(value(f, 0x46), 8);
	assert_int_equal(value(f, 0x47), 6);
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	assert_int_equal(way(f, 0x46), AX_TSV_CALL);
	assert_int_equal(way(f, 0x47), AX_TSV_CALL);
	assert_int_equal(value(f, 0x46), 8);
	/* The next run begins with the initial values. */
	start(f);
	fire(f, 1);
	assert_int_equal(value(f, 0x46), 6);
	assert_int_equal(value(f, 0x47), 4);
}

/* A condition that adds to a variable gets the sum that includes this hit's addition. */
static void own_sum(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", ADD_TO("46") CONST8("02") EQUAL END, TRACEV("46") END, NULL);
	start(f);
	fire(f, 3);
	assert_int_equal(f->tsv_locks, 0);
	assert_int_equal(value(f, 0x46), 3);
	expect_frames(f, "1@1000 v70=2\n");
}

/* Variables set before an error in an expression keep their values; later ones are not set. */
static void an_error(void **state)
{
	struct fake *f = *state;

	f->trace.pass_errors = true;
	define(f, "1:1000:E:0:0", NULL, ADD_TO("46") POP CONST8("00") REF32 END,
	       GETV("47") CONST8("00") REF32 ADD SETV("47") END, NULL);
	start(f);
	fire(f, 2);
	assert_int_equal(f->tsv_locks, 0);
	assert_int_equal(value(f, 0x46), 2);
	assert_int_equal(value(f, 0x47), 3);
}

/*
 * struct lock_row - actions of two tracepoints, and the expected results when each has been hit
 * once: how $x and $y are accessed, and their values
 */
struct lock_row {
	const char *first, *second;
	enum ax_tsv_way x, y;
	u32 locks;
	s64 x_is, y_is;
};

static const struct lock_row lock_rows[] = {
	{ ADD_TO("46"), ADD_TO("46"), AX_TSV_ADDED, AX_TSV_CALL, 0, 2, 3 },
	/* Expressions that set no variable may read any, without the lock. */
	{ ADD_TO("46"), GETV("46") GETV("46"), AX_TSV_ADDED, AX_TSV_CALL, 0, 1, 3 },
	{ ADD_TO("46"), TRACEV("46") TRACEV("47"), AX_TSV_ADDED, AX_TSV_CALL, 0, 1, 3 },
	/* If one expression does not just add to $x, all expressions that set $x need the lock. */
	{ ADD_TO("46"), SET("46", CONST8("05")), AX_TSV_CALL, AX_TSV_CALL, 2, 5, 3 },
	{ ADD_TO("46"), DOUBLE("46"), AX_TSV_CALL, AX_TSV_CALL, 2, 2, 3 },
	{ ADD_TO("46"), GETV("46") CONST8("01") SWAP ADD SETV("46"), AX_TSV_CALL, AX_TSV_CALL, 2, 2,
	  3 },
	{ ADD_TO("46"), ADD_TO("46") SETV("47"), AX_TSV_CALL, AX_TSV_CALL, 2, 2, 2 },
	/* Only $y, which is set other than by adding, needs the lock. */
	{ ADD_TO("46"), SET("47", CONST8("05")), AX_TSV_ADDED, AX_TSV_CALL, 1, 1, 5 },
	{ ADD_TO("46"), SET("47", GETV("46")), AX_TSV_ADDED, AX_TSV_CALL, 1, 1, 1 },
	/*
	 * An expression that sets $y reads $x together with $y, or twice: no other CPU may add to
	 * $x in between.
	 */
	{ ADD_TO("46"), SET("47", GETV("46") GETV("47") ADD), AX_TSV_CALL, AX_TSV_CALL, 2, 1, 4 },
	{ ADD_TO("46"), SET("47", GETV("46") GETV("46") ADD), AX_TSV_CALL, AX_TSV_CALL, 2, 1, 2 },
	{ ADD_TO("46"), SET("47", GETV("46")) TRACEV("46"), AX_TSV_CALL, AX_TSV_CALL, 2, 1, 1 },
	/*
	 * The added value is read from another variable, so the accesses to both variables need the
	 * lock.
	 */
	{ GETV("46") GETV("47") ADD SETV("46"), CONST8("01"), AX_TSV_CALL, AX_TSV_CALL, 1, 3, 3 },
	{ GETV("46") GETV("47") ADD SETV("46"), ADD_TO("47"), AX_TSV_CALL, AX_TSV_CALL, 2, 3, 4 },
	/* No other CPU changes per-CPU variables, and no expression changes built-in ones. */
	{ GETV("46") GETV("48") ADD SETV("46"), ADD_TO("48"), AX_TSV_ADDED, AX_TSV_CALL, 0, 0, 3 },
	{ GETV("46") GETV("04") ADD SETV("46"), ADD_TO("47"), AX_TSV_ADDED, AX_TSV_ADDED, 0, 42,
	  4 },
};

static void run_row(struct fake *f, const struct lock_row *row)
{
	char first[128], second[128];

	snprintf(first, sizeof(first), "%s" END, row->first);
	snprintf(second, sizeof(second), "%s" END, row->second);
	define(f, "1:1000:E:0:0", NULL, first, NULL);
	define(f, "2:1000:E:0:0", NULL, second, NULL);
	start(f);
	assert_int_equal(way(f, 0x46), row->x);
	assert_int_equal(way(f, 0x47), row->y);
	assert_int_equal(way(f, 0x48), AX_TSV_LOCAL);
	fire(f, 1);
	assert_int_equal(f->tsv_locks, row->locks);
	assert_int_equal(value(f, 0x46), row->x_is);
	assert_int_equal(value(f, 0x47), row->y_is);
}

static void which_take_the_lock(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(lock_rows); i++) {
		void *machine;

		print_message("row %zu\n", i);
		setup_variables(&machine);
		run_row(machine, &lock_rows[i]);
		teardown(&machine);
	}
}

/* Conditions, and tracepoints that are disabled, count, too: they may be enabled later. */
static void all_that_may_be_hit(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, ADD_TO("46") END, ADD_TO("47") END, NULL);
	define(f, "2:1100:E:0:0", DOUBLE("46") END, NULL);
	define(f, "3:1200:D:0:0", NULL, DOUBLE("47") END, NULL);
	start(f);
	assert_int_equal(way(f, 0x46), AX_TSV_CALL);
	assert_int_equal(way(f, 0x47), AX_TSV_CALL);
	fire(f, 1);
	assert_int_equal(f->tsv_locks, 2);
}

static void a_start_that_fails(void **state)
{
	struct fake *f = *state;
	struct gtp_why why;

	define(f, "1:1000:E:0:0", NULL, ADD_TO("46") END, NULL);
	f->trace.strict = true;
	f->refuse_arm = 0x1000;
	assert_int_not_equal(gtp_trace_start(&f->trace, &why), 0);
	assert_int_equal(way(f, 0x46), AX_TSV_CALL);
	f->refuse_arm = 0;
	start(f);
	assert_int_equal(way(f, 0x46), AX_TSV_ADDED);
	gtp_trace_reset(&f->trace);
	assert_int_equal(way(f, 0x46), AX_TSV_CALL);
}

/* GDB may define the variables again. */
static void defined_again_in_the_run(void **state)
{
	struct fake *f = *state;
	struct gtp_why why = { "" };

	define(f, "1:1000:E:0:0", NULL, ADD_TO("46") END, NULL);
	start(f);
	fire(f, 1);
	assert_int_equal(gtp_tsvs_define(&f->trace.run.tsvs, &f->mem, "46:64:0:78", &why), 0);
	assert_int_equal(way(f, 0x46), AX_TSV_ADDED);
	fire(f, 1);
	assert_int_equal(value(f, 0x46), 101);
	joins_not(f, define(f, "2:1100:E:0:0", NULL, DOUBLE("46") END, NULL),
		  "tracepoint 2, action 1 (X): " SETS_X);
}

/* --- what joins a run --- */

static void a_tracepoint_joins(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, ADD_TO("46") END, NULL);
	start(f);
	joins(f, define(f, "2:1000:E:0:0", NULL, ADD_TO("46") POP END, NULL));
	joins(f, define(f, "3:1000:E:0:0", GETV("46") END, TRACEV("46") TRACEV("47") END, NULL));
	fire(f, 1);
	assert_int_equal(f->tsv_locks, 0);
	assert_int_equal(value(f, 0x46), 2);
	joins(f, define(f, "4:1000:E:0:0", NULL, SET("47", GETV("46")) END, NULL));
	/*
	 * Hits that have begun when tracepoint 5 joins use the lock for $y, so tracepoint 5 must
	 * use it, too.
	 */
	joins(f, define(f, "5:1000:E:0:0", NULL, ADD_TO("47") END, NULL));
	assert_int_equal(way(f, 0x47), AX_TSV_CALL);
	fire(f, 1);
	assert_int_equal(f->tsv_locks, 2);
	assert_int_equal(value(f, 0x46), 4);
	assert_int_equal(value(f, 0x47), 5);
}

static void a_tracepoint_is_refused(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, ADD_TO("46") END, NULL);
	start(f);
	joins_not(f, define(f, "2:1000:E:0:0", NULL, "R1", SET("46", CONST8("05")) END, NULL),
		  "tracepoint 2, action 2 (X): " SETS_X);
	joins_not(f, define(f, "2:1000:E:0:0", DOUBLE("46") END, NULL),
		  "tracepoint 2, condition: " SETS_X);
	joins_not(f,
		  define(f, "2:1000:E:0:0", NULL, GETV("46") GETV("47") ADD SETV("46") END, NULL),
		  "tracepoint 2, action 1 (X): " READS_X);
	joins_not(f,
		  define(f, "2:1000:E:0:0", NULL, GETV("46") GETV("47") ADD SETV("47") END, NULL),
		  "tracepoint 2, action 1 (X): " READS_X);
	fire(f, 1);
	assert_int_equal(value(f, 0x46), 1);
	/*
	 * If the tracepoint is defined again before the run, as the message advises, the run
	 * starts.
	 */
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	define(f, "2:1000:E:0:0", NULL, SET("46", CONST8("05")) END, NULL);
	start(f);
	fire(f, 1);
	assert_int_equal(f->tsv_locks, 2);
	assert_int_equal(value(f, 0x46), 5);
}

/* Even with the longest variable name, the refusal is not cut off. */
static void the_sentence_has_room(void **state)
{
	static const char name[] =
		"n23456789012345678901234567890123456789012345678901234567890123";
	struct fake *f = *state;
	struct gtp_why why = { "" };
	char text[256];
	size_t len;

	len = (size_t)snprintf(text, sizeof(text), "49:0:0:");
	for (const char *p = name; *p; p++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%02x", (u8)*p);
	assert_int_equal(gtp_tsvs_define(&f->trace.run.tsvs, &f->mem, text, &why), 0);
	define(f, "1:1000:E:0:0", NULL, ADD_TO("49") END, NULL);
	start(f);
	define(f, "fffe:1000:E:0:0", NULL, DOUBLE("49") END, NULL);
	assert_int_equal(gtp_trace_install(&f->trace, f->trace.tps.last, &why), -EINVAL);
	assert_string_equal(why.text + strlen(why.text) - 12, " another way");
}

/* --- dprintfs --- */

static void without_a_run(void **state)
{
	struct fake *f = *state;

	inserted(f, 0x1000, ADD_TO("46") PRINT END);
	fire(f, 2);
	assert_string_equal(fake_lines(f), "1000 cpu 0 pid 42 1\n1000 cpu 0 pid 42 2\n");
	assert_int_equal(f->tsv_locks, 2);
	inserted(f, 0x1100, DOUBLE("46") PRINT END);
	assert_int_equal(way(f, 0x46), AX_TSV_CALL);
}

static void one_from_before_the_run(void **state)
{
	struct fake *f = *state;

	inserted(f, 0x1100, DOUBLE("46") PRINT END);
	inserted(f, 0x1200, ADD_TO("47") PRINT END);
	define(f, "1:1000:E:0:0", NULL, ADD_TO("46") END, ADD_TO("47") END, NULL);
	start(f);
	assert_int_equal(way(f, 0x46), AX_TSV_CALL);
	assert_int_equal(way(f, 0x47), AX_TSV_ADDED);
	fire(f, 1);
	assert_int_equal(f->tsv_locks, 1);
	assert_true(fake_fire(f, 0x1200, &regs));
	assert_int_equal(f->tsv_locks, 1);
	assert_int_equal(value(f, 0x47), 5);
}

/*
 * After the end of a run, its dprintfs are still hit. A dprintf that sets their variable other than
 * by adding may then be inserted.
 */
static void behind_the_run(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, ADD_TO("46") END, NULL);
	start(f);
	inserted(f, 0x1000, ADD_TO("46") PRINT END);
	inserted(f, 0x1100, ADD_TO("46") PRINT END);
	inserted(f, 0x1200, "260005" PRINT END);
	fire(f, 1);
	assert_true(fake_fire(f, 0x1100, &regs));
	assert_int_equal(f->tsv_locks, 0);
	assert_int_equal(value(f, 0x46), 3);
	fake_log_clear(f);
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	/* The dprintf at 0x1200 does not set the variable, so it is not armed again. */
	assert_null(strstr(f->log, "1200"));
	assert_non_null(strstr(f->log, "disarm 1100\n"));
	inserted(f, 0x1300, DOUBLE("46") PRINT END);
	assert_true(fake_fire(f, 0x1000, &regs));
	assert_true(fake_fire(f, 0x1100, &regs));
	assert_true(fake_fire(f, 0x1300, &regs));
	assert_int_equal(f->tsv_locks, 3);
	assert_int_equal(value(f, 0x46), 10);
}

static void one_is_refused(void **state)
{
	struct fake *f = *state;
	struct gtp_why why = { "" };

	define(f, "1:1000:E:0:0", NULL, ADD_TO("46") END, NULL);
	start(f);
	assert_int_equal(insert(f, 0x1100, DOUBLE("46") PRINT END, &why), -EINVAL);
	assert_string_equal(why.text, "dprintf at 0x1100, action 1 (X): " SETS_X);
	assert_int_equal(insert(f, 0x1000, DOUBLE("46") PRINT END, &why), -EINVAL);
	assert_string_equal(why.text, "dprintf at 0x1000, action 1 (X): " SETS_X);
	fire(f, 1);
	assert_int_equal(value(f, 0x46), 1);
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	inserted(f, 0x1100, DOUBLE("46") PRINT END);
}

/* A dprintf whose variables GDB has removed stays and is reported, but does not count in a run. */
static void one_without_its_variable(void **state)
{
	struct fake *f = *state;
	struct gtp_why why = { "" };

	inserted(f, 0x1100, DOUBLE("46") PRINT END);
	gtp_trace_reset(&f->trace);
	assert_non_null(strstr(f->told, "dprintf at 0x1100"));
	define(f, "1:1000:E:0:0", NULL, "R1", NULL);
	start(f);
	gtp_trace_reset(&f->trace);
	assert_int_equal(gtp_tsvs_define(&f->trace.run.tsvs, &f->mem, "46:0:0:78", &why), 0);
	define(f, "1:1000:E:0:0", NULL, ADD_TO("46") END, NULL);
	start(f);
	assert_int_equal(way(f, 0x46), AX_TSV_CALL);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup_variables, teardown)
	const struct CMUnitTest tests[] = {
		T(no_lock),
		T(own_sum),
		T(an_error),
		cmocka_unit_test(which_take_the_lock),
		T(all_that_may_be_hit),
		T(a_start_that_fails),
		T(defined_again_in_the_run),
		T(a_tracepoint_joins),
		T(a_tracepoint_is_refused),
		T(the_sentence_has_room),
		T(without_a_run),
		T(one_from_before_the_run),
		T(behind_the_run),
		T(one_is_refused),
		T(one_without_its_variable),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
