// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests built-in trace state variables: the time of day is read once for each hit; $hardirq_count
 * and the like do not include the probe's own exception.
 */
#include <stdlib.h>
#include "hit_case.h"

/* Numbers of the variables. */
#define HARDIRQ_COUNT "09"
#define SOFTIRQ_COUNT "0a"
#define IRQ_COUNT "0b"
#define CURRENT_TASK_USER "0c"
#define TASK_PT_REGS "0d"
#define XTIME_SEC "0e"
#define XTIME_NSEC "0f"
#define RDTSC "10"
#define CPU_NUMBER "11"

/* These variables have the values that the target returns. */
static void from_the_target(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL,
	       TRACEV(SOFTIRQ_COUNT) TRACEV(IRQ_COUNT) TRACEV(CURRENT_TASK_USER) END,
	       TRACEV(TASK_PT_REGS) TRACEV(RDTSC) TRACEV(CPU_NUMBER) END, NULL);
	start(f);
	fire(f, 1);
	expect_frames(f, "1@1000 v10=4106 v11=4107 v12=4108 v13=4109 v16=4112 v17=4113\n");
}

/*
 * $hardirq_count and the like do not include the part of preempt_count() that the probe's own
 * exception added. This part of one hit does not affect the next hit.
 */
static void contexts(void **state)
{
	struct fake *f = *state;

	f->contexts = 0x110100;
	define(f, "1:1000:E:0:0", GETV(HARDIRQ_COUNT) END, TRACEV(HARDIRQ_COUNT) END, NULL);
	start(f);
	f->entered = 0x110000;
	fire(f, 1);
	f->entered = 0;
	fire(f, 1);
	f->entered = 0x110100; /* $hardirq_count is 0, so the condition is false */
	fire(f, 1);
	assert_int_equal(f->trace.run.cpus[0]->env.entered, 0);
	expect_frames(f, "1@1000 v9=256\n1@1000 v9=1114368\n");
}

/* A hit's seconds and nanoseconds come from one reading, wherever they are used. */
static void time_of_day(void **state)
{
	struct fake *f = *state;

	f->clock_step = 1;
	f->wall_us = 1700000000999999;
	define(f, "1:1000:E:0:0", GETV(XTIME_NSEC) END, TRACEV(XTIME_NSEC) TRACEV(XTIME_SEC) END,
	       TRACEV(XTIME_NSEC) END, NULL);
	define(f, "2:1000:E:0:0", NULL, TRACEV(XTIME_NSEC) END, NULL);
	start(f);
	f->wall_reads = 998;
	fire(f, 2);
	assert_int_equal(f->wall_reads, 1000);
	expect_frames(f, "1@1000 v15=999999999 v14=1700000000 v15=999999999\n"
			 "2@1000 v15=999999999\n"
			 "2@1000 v15=0\n");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = { T(from_the_target), T(contexts), T(time_of_day) };
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
