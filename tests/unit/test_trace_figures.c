// SPDX-License-Identifier: GPL-2.0-only
/* Tests the status of a session: numbers that must fit GDB's int, notes, progress. */
#include "run_case.h"

static void figures_beyond_an_int(void **state)
{
	struct fake *f = *state;
	struct gtp_buffer *buf;
	u32 size;

	f->ncpus = 1;
	start(f);
	buf = &f->trace.run.cpus[0]->buf;
	size = buf->size;
	buf->size = 0xfffffff8;
	buf->end = buf->size;
	assert_true(status_has(f, ";tfree:7fffffff;tsize:7fffffff;"
				  "allfree:fffffff8;allsize:fffffff8;circular:"));
	buf->created = 5000000000;
	assert_true(status_has(f, ";tframes:7fffffff;tcreated:7fffffff;"));
	assert_true(status_has(f, ";allframes:12a05f200;allcreated:12a05f200;allfree:"));
	buf->created = 0;
	buf->size = size;
	buf->end = size;
	assert_false(status_has(f, ";all"));
}

static void notes_that_do_not_fit(void **state)
{
	struct fake *f = *state;
	char buf[200];

	f->trace.user_hex = f->mem.alloc(f->mem.ctx, 101);
	memset(f->trace.user_hex, '6', 100);
	f->trace.notes_hex = f->mem.alloc(f->mem.ctx, 3);
	memcpy(f->trace.notes_hex, "6e", 3);
	assert_true(status_has(f, ";username:66666666"));
	assert_true(status_has(f, "6666;notes:6e"));
	/* If there is no room for a note, it is left out, not truncated. */
	gtp_trace_status(&f->trace, buf, sizeof(buf));
	assert_null(strstr(buf, "username"));
	assert_non_null(strstr(buf, ";stoptime:0;notes:6e"));
}

static u32 progressed;

static void count_progress(void *ctx, const char *what, u32 done, u32 total)
{
	assert_string_equal(what, "arming tracepoints");
	assert_int_equal(total, 2);
	assert_int_equal(done, ++progressed);
}

static void progress_is_told(void **state)
{
	struct gtp_target_ops ops = fake_target_ops;
	struct fake *f = *state;

	ops.progress = count_progress;
	f->trace.target = &ops;
	progressed = 0;
	fake_define(f, "1:1000:E:0:0", NULL);
	fake_define(f, "2:2000:E:0:0", NULL);
	fake_define(f, "3:2000:E:0:0", NULL);
	start(f);
	assert_int_equal(progressed, 2);
	f->trace.target = &fake_target_ops;
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(figures_beyond_an_int),
		T(notes_that_do_not_fit),
		T(progress_is_told),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
