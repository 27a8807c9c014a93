// SPDX-License-Identifier: GPL-2.0-only
/* Tests hits on many CPUs at once: no update is lost, and one of the hits ends the run. */
#include <pthread.h>
#include "hit_case.h"
#include "hit/hit.h"

/* $x = 1 + $x, in a form that GDB never makes, so that it is not an atomic addition */
#define SWAP "2b"
#define INCREMENT_LOCKED GETV("46") CONST8("01") SWAP ADD SETV("46")

enum { CPUS = 4, HITS_EACH = 20000 };

static struct {
	struct fake *f;
	pthread_spinlock_t lock;
	u64 clock;
	u32 stopping;
	u64 locked;
} many;

static bool real_lock(void *ctx, unsigned long *flags)
{
	pthread_spin_lock(&many.lock);
	many.locked++;
	*flags = 0;
	return true;
}

static void real_unlock(void *ctx, unsigned long flags)
{
	pthread_spin_unlock(&many.lock);
}

static u64 real_clock(void *ctx)
{
	return gtp_fetch_add(&many.clock, 1);
}

static void count_stopping(void *ctx)
{
	gtp_fetch_add(&many.stopping, 1);
}

static const struct gtp_hit_ops real_ops = {
	.read = fake_read,
	.clock = real_clock,
	.tsv_lock = real_lock,
	.tsv_unlock = real_unlock,
	.stopping = count_stopping,
};

static void *cpu_main(void *arg)
{
	struct gtp_location *loc = many.f->trace.locs;
	int i;

	for (i = 0; i < HITS_EACH; i++)
		fake_hit(loc, arg, &regs, 0);
	return NULL;
}

static void run_on_all(struct fake *f)
{
	pthread_t thread[CPUS];
	int i;

	many.f = f;
	many.clock = 1;
	many.stopping = 0;
	many.locked = 0;
	pthread_spin_init(&many.lock, 0);
	for (i = 0; i < CPUS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, cpu_main, f->trace.run.cpus[i]),
				 0);
	for (i = 0; i < CPUS; i++)
		pthread_join(thread[i], NULL);
	pthread_spin_destroy(&many.lock);
}

/* Make hits on all CPUs, with $x = $x + 1 as the condition and again in an action. */
static void count_twice(struct fake *f, const char *cond, const char *action)
{
	struct gtp_tracepoint *tp;

	f->ncpus = CPUS;
	f->trace.run.hit_ops = &real_ops;
	f->trace.circular = true;
	tp = define(f, "1:1000:E:0:0", cond, action, NULL);
	start(f);
	run_on_all(f);
	assert_int_equal(variable(f), 2 * CPUS * HITS_EACH);
	assert_int_equal(gtp_trace_hits(&f->trace, tp).hits, CPUS * HITS_EACH);
	assert_int_equal(many.stopping, 0);
}

static void no_update_is_lost(void **state)
{
	count_twice(*state, INCREMENT END, INCREMENT END);
	assert_int_equal(many.locked, 0);
}

static void no_update_is_lost_with_the_lock(void **state)
{
	count_twice(*state, INCREMENT_LOCKED END, INCREMENT END);
	assert_int_equal(many.locked, 2 * CPUS * HITS_EACH);
}

static void one_hit_ends_the_run(void **state)
{
	struct fake *f = *state;
	struct gtp_totals sum;
	struct gtp_tracepoint *tp;

	f->ncpus = CPUS;
	f->trace.run.hit_ops = &real_ops;
	f->trace.circular = true;
	tp = define(f, "1:1000:E:0:4e20", NULL, NULL);
	start(f);
	run_on_all(f);
	assert_int_equal(many.stopping, 1);
	assert_int_equal(gtp_trace_hits(&f->trace, tp).hits, 20000);
	gtp_trace_totals(&f->trace, &sum);
	assert_int_equal(sum.created, 20000);
	assert_true(gtp_trace_settle(&f->trace));
	assert_int_equal(f->trace.stop, GTP_STOP_PASSCOUNT);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(no_update_is_lost),
		T(no_update_is_lost_with_the_lock),
		T(one_hit_ends_the_run),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
