// SPDX-License-Identifier: GPL-2.0-only
/* Tests hits that are undone because memory is absent, and repeated when the memory is present. */
#include "hit_case.h"
#include "hit/hit.h"
#include "hit/undo.h"

#define CONST16(v) "23" v
#define ABSENT CONST16("3000")
#define PRESENT CONST16("2000")
#define KEY "47:0:0:6b65795f61" /* $key_a */
#define PRINTF "340100077273693d256400"

/* Make a hit like code that can wait for memory. Return true if it was undone. */
static bool asks(struct fake *f)
{
	struct gtp_cpu *cpu = f->trace.run.cpus[0];
	bool undone;

	assert_true(gtp_hit_begin(cpu));
	cpu->undo = GTP_UNDO_ASKED;
	cpu->env.regs = &regs;
	cpu->env.time = 0;
	gtp_hit_turn(cpu, fake_armed(f, 0x1000)->first, false);
	undone = cpu->undo == GTP_UNDO_DONE;
	cpu->undo = GTP_UNDO_NEVER;
	gtp_hit_end(cpu);
	return undone;
}

static bool undoable(struct fake *f)
{
	struct gtp_tracepoint *first = fake_armed(f, 0x1000)->first;

	gtp_hit_settle(&f->trace.run, first); /* sets plan.undoable */
	return first->plan.undoable;
}

/* After the repetition, the frame, the hit and the failure are each counted once. */
static void test_a_frame(void **state)
{
	struct fake *f = *state;
	struct gtp_tracepoint *tp = define(f, "1:1000:E:0:0", NULL, "R1",
					   PRESENT TRACE_QUICK("02") POP END,
					   ABSENT TRACE_QUICK("02") POP END, NULL);

	start(f);
	assert_true(undoable(f));
	assert_true(asks(f));
	assert_int_equal(gtp_trace_hits(&f->trace, tp).hits, 0);
	assert_true(f->trace.run.active);
	fake_map(f, 0x3000, "\xaa\xbb", 2);
	assert_false(asks(f));
	assert_int_equal(gtp_trace_hits(&f->trace, tp).hits, 1);
	expect_frames(f, "1@1000 r0=a m2000=0102 m3000=aabb\n");
}

static void test_a_memory_action(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, "M-1,3000,2", NULL);
	start(f);
	assert_true(undoable(f));
	assert_true(asks(f));
	fake_map(f, 0x3000, "\xaa\xbb", 2);
	assert_false(asks(f));
	expect_frames(f, "1@1000 m3000=aabb\n");
}

static void test_a_condition(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", ABSENT REF32 END, "R1", NULL);
	start(f);
	assert_true(undoable(f));
	assert_true(asks(f));
	fake_map(f, 0x3000, "\1\0\0\0", 4);
	assert_false(asks(f));
	fake_write(f, 0x3000, "\0", 1);
	assert_false(asks(f));
	expect_frames(f, "1@1000 r0=a\n");
}

/* Without GTP_UNDO_ASKED, absent memory is an error of the hit. */
static void test_not_asked(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, "M-1,3000,2", NULL);
	start(f);
	fire(f, 1);
	expect_error(f, 1, "action 1 (M): cannot read memory at 0x3000 (2 bytes)");
	expect_frames(f, "1@1000!\n");
}

/* An error other than absent memory is not undone. */
static void test_another_error(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, REG("04") CONST8("00") DIV END, NULL);
	start(f);
	assert_true(undoable(f));
	assert_false(asks(f));
	expect_error(f, 1, "action 1 (X): div_signed at byte 5: division by zero");
	expect_frames(f, "1@1000!\n");
}

/* Hits that cannot be undone, because a repetition would have effects twice or lack data. */
static void test_not_undoable(void **state)
{
	struct fake *f = *state;
	struct gtp_why why;
	static const char *const first[][3] = {
		{ NULL, INCREMENT END, PRESENT REF32 END },  /* a variable is set, then a read */
		{ NULL, INCREMENT END, "M-1,2000,1" },	     /* the same, by a memory action */
		{ INCREMENT END, PRESENT REF32 END, "R1" },  /* the condition sets the variable */
		{ NULL, INCREMENT PRESENT REF32 END, "R1" }, /* one expression sets and reads */
		{ NULL, TRACEV("17") END, "R1" },	     /* $ustack */
		{ NULL, GETV("17") END, "R1" },		     /* $ustack as a value */
		{ NULL, TRACEV("16") END, "R1" },	     /* $bt */
		{ NULL, REG("04") CONST8("00") CONST8("00") PRINTF END, "R1" },
		/*
		 * A key that is read: the second try would see the value that the first try has
		 * set.
		 */
		{ GETV("47") END, CONST8("01") SETV("47") END, "M-1,2000,1" },
		{ NULL, GETV("47") CONST8("01") ADD SETV("47") END, "M-1,2000,1" },
	};

	for (u32 i = 0; i < ARRAY_SIZE(first); i++) {
		assert_int_equal(gtp_tsvs_define(&f->trace.run.tsvs, &f->mem, KEY, &why), 0);
		define(f, "1:1000:E:0:0", first[i][0], first[i][1], first[i][2], NULL);
		start(f);
		if (undoable(f))
			fail_msg("row %u", i);
		gtp_trace_stop(&f->trace, GTP_STOP_USER);
		gtp_trace_reset(&f->trace);
		assert_int_equal(gtp_tsvs_define(&f->trace.run.tsvs, &f->mem, "46:0:0:78", &why),
				 0);
	}
	define(f, "1:1000:E:0:5", NULL, "R1",
	       NULL); /* a pass count is counted before the actions */
	start(f);
	assert_false(undoable(f));
}

/* A variable that is set only after all reads does not prevent an undo. */
static void test_reads_then_sets(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, ABSENT REF32 POP INCREMENT END, NULL);
	start(f);
	assert_true(undoable(f));
	assert_true(asks(f));
	assert_int_equal(variable(f), 0);
	fake_map(f, 0x3000, "\1\0\0\0", 4);
	assert_false(asks(f));
	assert_int_equal(variable(f), 1);
	expect_frames(f, "1@1000\n");
}

/* Setting a key does not count as an effect, because the next try sets it again. */
static void test_a_key(void **state)
{
	struct fake *f = *state;
	struct gtp_why why;

	assert_int_equal(gtp_tsvs_define(&f->trace.run.tsvs, &f->mem, KEY, &why), 0);
	define(f, "1:1000:E:0:0", NULL, CONST8("01") SETV("47") END, "M-1,3000,1", NULL);
	start(f);
	assert_true(undoable(f));
	expect_frames(f, "");
}

/* Code that is never reached may name any variable, because the verifier does not check it. */
static void test_code_after_the_end(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, CONST8("01") END "2dffff2cffff" END, NULL);
	start(f);
	assert_true(undoable(f));
	expect_frames(f, "");
}

/*
 * If errors are only counted, hits are not undone: an error before the absent memory would be
 * counted again by the repetition.
 */
static void test_errors_that_only_count(void **state)
{
	struct fake *f = *state;

	f->trace.pass_errors = true;
	define(f, "1:1000:E:0:0", NULL, REG("04") CONST8("00") DIV END, "M-1,3000,1", NULL);
	start(f);
	assert_false(undoable(f));
	expect_frames(f, "");
}

static void test_several_here(void **state)
{
	struct fake *f = *state;

	define(f, "1:1000:E:0:0", NULL, "R1", NULL);
	define(f, "2:1000:E:0:0", NULL, "R1", NULL);
	start(f);
	assert_false(undoable(f));
	expect_frames(f, "");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_frame),
		T(test_a_memory_action),
		T(test_a_condition),
		T(test_not_asked),
		T(test_another_error),
		T(test_not_undoable),
		T(test_reads_then_sets),
		T(test_several_here),
		T(test_a_key),
		T(test_code_after_the_end),
		T(test_errors_that_only_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
