// SPDX-License-Identifier: GPL-2.0-only
/* Tests the per-CPU variables of a session: hits take no lock for them, and GDB reads one value. */
#include "hit_case.h"
#include "session/cpus.h"

/* A per-CPU variable takes no lock, and GDB reads the sum. */
static void a_variable_of_each_cpu(void **state)
{
	struct fake *f = *state;
	struct gtp_why why;

	f->ncpus = 3;
	assert_int_equal(gtp_tsvs_define(&f->trace.run.tsvs, &f->mem, "47:5:0:705f6e", &why), 0);
	define(f, "1:1000:E:0:0", NULL, GETV("47") CONST8("02") ADD SETV("47") TRACEV("47") END,
	       NULL);
	start(f);
	fire(f, 2);
	f->cpu = 2;
	fire(f, 1);
	assert_int_equal(f->tsv_locks, 0);
	assert_int_equal(f->trace.run.cpus[0]->local[0x47], 9);
	assert_int_equal(f->trace.run.cpus[1]->local[0x47], 5);
	assert_int_equal(f->trace.run.cpus[2]->local[0x47], 7);
	assert_int_equal(gtp_cpus_sum_local(&f->trace, f->trace.run.tsvs.slot[0x47]), 11);
	expect_frames(f, "1@1000 v71=7\n1@1000 v71=9\n1@1000 v71=7\n");
	start(f);
	assert_int_equal(f->trace.run.cpus[0]->local[0x47], 5);
}

/*
 * The lock protects shared variables. An expression that sets a shared and a per-CPU variable takes
 * the lock.
 */
static void each_cpus_own_beside_a_shared_one(void **state)
{
	struct fake *f = *state;
	struct gtp_why why;

	assert_int_equal(gtp_tsvs_define(&f->trace.run.tsvs, &f->mem, "47:0:0:705f6e", &why), 0);
	define(f, "1:1000:E:0:0", NULL, INCREMENT SETV("47") END, NULL);
	start(f);
	fire(f, 3);
	assert_int_equal(f->tsv_locks, 3);
	assert_int_equal(variable(f), 3);
	assert_int_equal(f->trace.run.cpus[0]->local[0x47], 3);
	/* Number 0x47 is given to a shared variable. */
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	assert_int_equal(gtp_tsvs_define(&f->trace.run.tsvs, &f->mem, "47:0:0:705f", &why), 0);
	start(f);
	fire(f, 1);
	assert_int_equal(f->trace.run.cpus[0]->local[0x47], 0);
	assert_int_equal(f->trace.run.tsvs.slot[0x47]->value, 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_variable_of_each_cpu),
		T(each_cpus_own_beside_a_shared_one),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
