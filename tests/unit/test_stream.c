// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests reading the current run as a growing trace file: the order of frames, lost frames, the end
 * of the run, lack of memory.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/parse.h"
#include "export/file.h"
#include "export/stream.h"
#include "fake_target.h"

enum { FRAME_BYTES = 6 + 13 }; /* the head of a frame, and a V block */

static struct fake fake;
static struct gtp_trace *const t = &fake.trace;
static struct gtp_why why;
static struct gtp_stream stream;
static u32 steps;
static char text[16384];
static u8 bytes[1 << 20];

static int setup(void **state)
{
	int err = fake_init(&fake);

	fake.ncpus = 3;
	t->circular = true;
	text[0] = '\0';
	return err;
}

static int teardown(void **state)
{
	return fake_exit(&fake);
}

/* Start a run: each hit collects $clock, the time of its frame. */
static void start(void)
{
	fake_define(&fake, "1:1000:E:0:0", "X4,2e000227");
	assert_int_equal(gtp_trace_start(t, &why), 0);
}

static void hit(u32 cpu)
{
	fake.cpu = cpu;
	assert_true(fake_call(&fake, 0x1000, 0, NULL));
}

/* A sweep calls this between two CPUs, and while it merges many frames. */
static void step(void *ctx, const char *what, u32 done, u32 total)
{
	assert_true(done <= total);
	steps++;
}

static void open_stream(void)
{
	assert_int_equal(gtp_stream_open(&stream, t, false, step, &why), 0);
}

static u32 read_all(u32 at_a_time)
{
	u32 done = 0;
	s64 n;

	while ((n = gtp_stream_read(&stream, bytes + done, at_a_time)) > 0)
		done += (u32)n;
	assert_int_equal(n, 0);
	assert_int_equal(gtp_stream_left(&stream), 0);
	return done;
}

/* Read the header, which comes before the frames of the first sweep. */
static void read_header(void)
{
	u32 n = read_all(100);

	assert_int_equal(n, stream.header_len);
	assert_memory_equal(bytes, "\x7fTRACE0\n", 8);
	assert_memory_equal(bytes + n - 2, "\n\n", 2);
}

static void begin(void)
{
	start();
	open_stream();
	read_header();
}

static u64 get(const u8 *p, u32 n)
{
	u64 value = 0;

	while (n--)
		value = value << 8 | p[n];
	return value;
}

/* Return one sweep's frames as text: the time of each, "cpu!n" for n lost frames, "end". */
static const char *swept(u32 at_a_time)
{
	u32 at = 0, len;

	assert_int_equal(gtp_stream_sweep(&stream), 0);
	len = read_all(at_a_time);
	text[0] = '\0';
	while (at < len) {
		u32 tp = (u32)get(bytes + at, 2), size;

		if (!tp) {
			assert_int_equal(len - at, GTP_FILE_END_BYTES);
			fake_note(text, "end ");
			break;
		}
		size = (u32)get(bytes + at + 2, 4);
		at += 6;
		assert_int_equal(bytes[at], 'V');
		if (tp == GTP_TP_LOST) {
			assert_int_equal(size, 2 * 13);
			assert_int_equal(get(bytes + at + 1, 4), GTP_TSV_CPU_ID);
			assert_int_equal(bytes[at + 13], 'V');
			assert_int_equal(get(bytes + at + 14, 4), GTP_TSV_LOST);
			fake_note(text, "%llu!%llu ", get(bytes + at + 5, 8),
				  get(bytes + at + 18, 8));
		} else {
			assert_int_equal(tp, 1);
			assert_int_equal(size, 13);
			fake_note(text, "%llu ", get(bytes + at + 5, 8));
		}
		at += size;
	}
	return text;
}

static void close_stream(void)
{
	gtp_stream_close(&stream);
}

static void test_frames_of_all_cpus_come_in_order_of_time(void **state)
{
	start();
	fake.clock = 0;
	hit(2);
	open_stream();
	hit(0);
	hit(1);
	hit(0);
	read_header();
	steps = 0;
	assert_string_equal(swept(7), "1 2 3 4 ");
	assert_int_equal(steps, 3);
	assert_false(gtp_stream_waits(&stream));
	fake.clock = 10;
	hit(1);
	assert_true(gtp_stream_waits(&stream));
	hit(0);
	assert_string_equal(swept(4096), "11 12 ");
	close_stream();
}

/* Make a hit on a CPU during a sweep, just before the sweep takes the frames of this CPU. */
static void late_hit(struct fake *f, struct gtp_cpu *cpu)
{
	hit(cpu->id);
}

static void test_what_comes_during_a_sweep_waits_for_the_next(void **state)
{
	begin();
	fake.clock = 0;
	hit(2);
	fake.while_exchanging = late_hit;
	/* The sweep reads the clock at 2; each CPU hits once more before its turn: 3, 4, 5. */
	assert_string_equal(swept(4096), "1 ");
	fake.while_exchanging = NULL;
	assert_true(gtp_stream_waits(&stream));
	hit(0);
	assert_string_equal(swept(4096), "3 4 5 6 ");
	assert_false(gtp_stream_waits(&stream));
	close_stream();
}

/* Make hits on random CPUs, also during sweeps. Each is read in order, or reported as lost. */
static void many_sweeps(u32 most)
{
	u64 last = 0, n = 0, lost = 0, hits = 0, rng = 12345;

	begin();
	fake.clock = 0;
	for (u32 round = 0; round < 200; round++) {
		const char *at;
		char *end;

		rng = rng * 6364136223846793005ULL + 1442695040888963407ULL;
		for (u32 i = (u32)(rng >> 33) % most; i; i--, hits++) {
			rng = rng * 6364136223846793005ULL + 1442695040888963407ULL;
			hit((u32)(rng >> 33) % 3);
		}
		fake.while_exchanging = round % 3 ? late_hit : NULL;
		hits += round % 3 ? 3 : 0;
		for (at = swept(1 + round); *at; at = end + 1) {
			u64 value = strtoull(at, &end, 10);

			if (*end == '!') {
				lost += strtoull(end + 1, &end, 10);
				continue;
			}
			assert_true(value > last);
			last = value;
			n++;
		}
	}
	fake.while_exchanging = NULL;
	gtp_trace_stop(t, GTP_STOP_USER);
	assert_int_equal(gtp_stream_sweep(&stream), 0);
	n += (read_all(4096) - GTP_FILE_END_BYTES) / FRAME_BYTES;
	assert_int_equal(n + lost, hits);
	assert_true(gtp_stream_ended(&stream));
	assert_int_equal(lost > 0, t->buffer_bytes > 0);
	close_stream();
}

static void test_many_sweeps_give_every_frame_once_in_order(void **state)
{
	many_sweeps(70);
}

static void test_many_sweeps_of_small_buffers(void **state)
{
	t->buffer_bytes = 1;
	many_sweeps(900);
}

/* Expect that CPU 1 has lost its first @n frames, whose times are counted from 1. */
static void expect_losses(u64 n)
{
	char want[64];
	int len = snprintf(want, sizeof(want), "1!%llu %llu ", n, n + 1);

	assert_memory_equal(swept(11), want, (size_t)len);
}

static void test_losses_are_told_in_front_of_the_next_frame(void **state)
{
	u64 frames;
	u32 i;

	t->buffer_bytes = 3 * GTP_BUFFER_MIN;
	start();
	for (i = 0; i < 300; i++)
		hit(1);
	open_stream();
	read_header();
	/* Frames that were dropped before a reader came do not count as lost. */
	frames = gtp_buffer_frames(&t->run.cpus[1]->buf);
	assert_int_equal(gtp_stream_sweep(&stream), 0);
	assert_int_equal(read_all(4096), frames * FRAME_BYTES);
	fake.clock = 0;
	for (i = 0; i < 300; i++)
		hit(1);
	hit(0);
	frames = gtp_buffer_frames(&t->run.cpus[1]->buf);
	assert_true(frames < 300);
	expect_losses(300 - frames);
	/* Losses are reported once. */
	fake.clock = 1000;
	hit(1);
	assert_string_equal(swept(4096), "1001 ");
	close_stream();
}

static void test_a_run_that_ends_is_read_to_its_end(void **state)
{
	begin();
	fake.clock = 0;
	hit(0);
	hit(1);
	gtp_trace_stop(t, GTP_STOP_USER);
	assert_true(gtp_stream_waits(&stream));
	assert_false(gtp_stream_ended(&stream));
	assert_string_equal(swept(3), "1 2 end ");
	assert_true(gtp_stream_ended(&stream));
	assert_int_equal(gtp_stream_read(&stream, bytes, 10), 0);
	/* GDB does not get the frames that the stream has returned. */
	assert_int_equal(gtp_trace_index(t, &why)->n, 0);
	close_stream();
}

/* The last sweep takes the frames even if GDB has read some or has a trace file open. */
static void test_the_end_takes_the_frames_from_other_readers(void **state)
{
	struct gtp_file file;

	begin();
	hit(0);
	gtp_trace_stop(t, GTP_STOP_USER);
	assert_int_equal(gtp_trace_index(t, &why)->n, 1);
	assert_int_equal(gtp_file_open(&file, t, &why), 0);
	assert_int_equal(gtp_stream_sweep(&stream), 0);
	assert_int_equal(gtp_file_read(&file, 0, bytes, 10), -ESTALE);
	gtp_file_close(&file);
	assert_int_equal(gtp_trace_index(t, &why)->n, 0);
	assert_int_equal(read_all(4096), FRAME_BYTES + GTP_FILE_END_BYTES);
	close_stream();
}

static void test_the_end_of_a_file_in_pieces(void **state)
{
	begin();
	gtp_trace_stop(t, GTP_STOP_USER);
	assert_int_equal(gtp_stream_sweep(&stream), 0);
	assert_int_equal(gtp_stream_read(&stream, bytes, 3), 3);
	assert_int_equal(gtp_stream_left(&stream), 1);
	assert_false(gtp_stream_ended(&stream));
	assert_int_equal(gtp_stream_read(&stream, bytes, 3), 1);
	assert_true(gtp_stream_ended(&stream));
	close_stream();
}

static void test_a_new_run_ends_the_stream(void **state)
{
	start();
	open_stream();
	hit(0);
	assert_int_equal(gtp_stream_sweep(&stream), 0);
	gtp_trace_stop(t, GTP_STOP_USER);
	assert_int_equal(gtp_trace_start(t, &why), 0);
	assert_true(gtp_stream_waits(&stream));
	assert_true(gtp_stream_urgent(&stream));
	assert_int_equal(gtp_stream_read(&stream, bytes, 10), -ESTALE);
	assert_int_equal(gtp_stream_sweep(&stream), -ESTALE);
	close_stream();
	open_stream();
	read_header();
	fake.clock = 0;
	hit(0);
	assert_string_equal(swept(10), "1 ");
	close_stream();
	/* After the stream is closed, the run records to its own buffers again. */
	hit(0);
	gtp_trace_stop(t, GTP_STOP_USER);
	assert_int_equal(gtp_trace_index(t, &why)->n, 1);
}

/* When a CPU has filled a quarter of its buffer, gtp_stream_urgent() asks for a sweep at once. */
static void test_urgent(void **state)
{
	start();
	open_stream();
	hit(0);
	assert_false(gtp_stream_urgent(&stream));
	while (gtp_buffer_used(&t->run.cpus[0]->buf) <= t->run.cpus[0]->buf.size / 4) {
		assert_false(gtp_stream_urgent(&stream));
		hit(0);
	}
	assert_true(gtp_stream_urgent(&stream));
	read_header();
	assert_int_equal(gtp_stream_sweep(&stream), 0);
	assert_false(gtp_stream_urgent(&stream));
	read_all(4096);
	gtp_trace_stop(t, GTP_STOP_USER);
	assert_true(gtp_stream_urgent(&stream));
	close_stream();
}

/* If buffers are not circular, a full buffer ends the run, even with a reader. */
static void test_linear_buffers(void **state)
{
	t->circular = false;
	t->buffer_bytes = 3 * GTP_BUFFER_MIN;
	begin();
	fake.clock = 0;
	hit(0);
	assert_string_equal(swept(4096), "1 ");
	while (t->run.ending == GTP_ENDING_NO)
		hit(0);
	assert_true(gtp_trace_settle(t));
	assert_int_equal(t->stop, GTP_STOP_FULL);
	assert_int_equal(gtp_stream_sweep(&stream), 0);
	assert_int_equal(read_all(4096) % FRAME_BYTES, GTP_FILE_END_BYTES);
	close_stream();
}

/* If the clock restarts, frames from before the restart come first, whatever their times are. */
static void test_the_clock_restarts(void **state)
{
	begin();
	fake.clock = 5000;
	hit(0);
	hit(1);
	for (u32 i = 0; i < 3; i++)
		gtp_restarts_note(&t->run.cpus[i]->restarts, &t->run.cpus[i]->buf);
	fake.clock = 0;
	hit(1);
	hit(0);
	assert_string_equal(swept(4096), "5001 5002 1 2 ");
	hit(0);
	assert_string_equal(swept(4096), "4 ");
	close_stream();
}

static void test_no_memory(void **state)
{
	int live;
	u32 i;

	start();
	hit(0);
	live = fake.live;
	for (i = 1;; i++) {
		fake.fail_alloc = fake.allocs + i;
		if (!gtp_stream_open(&stream, t, false, step, &why))
			break;
		assert_string_equal(
			why.text,
			"no memory to follow the run: that takes 0 MiB, twice the trace buffer; set trace-buffer-size to less");
		assert_int_equal(fake.live, live);
	}
	assert_true(i > 5 + 6);
	fake.fail_alloc = 0;
	read_header();
	/* Frames that a sweep took but could not merge are kept; later frames come after them. */
	for (i = 1;; i++) {
		int err;

		fake.fail_alloc = fake.allocs + i;
		err = gtp_stream_sweep(&stream);
		fake.fail_alloc = 0;
		if (!err)
			break;
		assert_int_equal(err, -ENOMEM);
		hit(0);
	}
	assert_true(i > 2);
	assert_int_equal(read_all(4096), FRAME_BYTES);
	assert_int_equal(gtp_stream_sweep(&stream), 0);
	assert_int_equal(read_all(4096), (i - 1) * FRAME_BYTES);
	close_stream();
	fake.memory_most = 100;
	assert_int_equal(gtp_stream_open(&stream, t, false, step, &why), -ENOMEM);
}

/* Read all frames of the last sweep, then let the next sweep fail at its @nth allocation. */
static void fail_a_sweep(u32 nth)
{
	fake.fail_alloc = fake.allocs + nth;
	assert_int_equal(gtp_stream_sweep(&stream), -ENOMEM);
	fake.fail_alloc = 0;
	assert_int_equal(gtp_stream_left(&stream), 0);
	assert_int_equal(gtp_stream_read(&stream, bytes, sizeof(bytes)), 0);
	assert_false(gtp_stream_ended(&stream));
	/* The sweep must be tried again, even without a further hit. */
	assert_true(gtp_stream_waits(&stream));
}

static void test_no_memory_for_a_later_sweep(void **state)
{
	for (u32 nth = 1; nth <= 2; nth++) {
		begin();
		fake.clock = 0;
		hit(0);
		hit(1);
		assert_string_equal(swept(4096), "1 2 ");
		hit(2);
		fail_a_sweep(nth);
		assert_string_equal(swept(4096), "4 ");
		hit(2);
		gtp_trace_stop(t, GTP_STOP_USER);
		fail_a_sweep(nth);
		assert_string_equal(swept(4096), "6 end ");
		close_stream();
		gtp_trace_reset(t);
	}
}

/*
 * If another CPU's clock is ahead, a sweep leaves its frames for later, but the stream does not
 * end.
 */
static void test_a_clock_that_is_ahead(void **state)
{
	begin();
	fake.clock = 1000;
	hit(1);
	fake.clock = 0;
	assert_true(gtp_stream_waits(&stream));
	assert_int_equal(gtp_stream_sweep(&stream), 0);
	assert_int_equal(gtp_stream_read(&stream, bytes, 10), 0);
	assert_false(gtp_stream_ended(&stream));
	assert_true(gtp_stream_waits(&stream));
	fake.clock = 2000;
	assert_string_equal(swept(4096), "1001 ");
	close_stream();
}

/*
 * A reader that waited for the run gets a report of the frames that were dropped before it read the
 * buffers.
 */
static void test_losses_from_the_beginning(void **state)
{
	u64 frames;

	t->buffer_bytes = 3 * GTP_BUFFER_MIN;
	start();
	fake.clock = 0;
	for (u32 i = 0; i < 300; i++)
		hit(1);
	frames = gtp_buffer_frames(&t->run.cpus[1]->buf);
	assert_int_equal(gtp_stream_open(&stream, t, true, step, &why), 0);
	read_header();
	expect_losses(300 - frames);
	close_stream();
}

/* The frames that a reader has taken do not count as lost. */
static void test_the_status_says_what_was_taken(void **state)
{
	start();
	open_stream();
	hit(0);
	assert_null(strstr(fake_status(&fake), "ttaken"));
	assert_int_equal(gtp_stream_sweep(&stream), 0);
	hit(0);
	hit(1);
	assert_non_null(strstr(fake_status(&fake), ";tframes:2;tcreated:3;"));
	assert_non_null(strstr(fake_status(&fake), ";ttaken:1;circular:1;"));
	close_stream();
	gtp_trace_stop(t, GTP_STOP_USER);
	assert_int_equal(gtp_trace_start(t, &why), 0);
	assert_null(strstr(fake_status(&fake), "ttaken"));
}

static void test_header(void **state)
{
	start();
	hit(0);
	open_stream();
	assert_int_equal(gtp_stream_read(&stream, bytes, sizeof(bytes)), stream.header_len);
	bytes[stream.header_len] = '\0';
	assert_non_null(strstr(
		(char *)bytes,
		"\nstatus 0;tunknown:0;tframes:ffffffff;tcreated:ffffffff;circular:1;disconn:0;starttime:60a24181e4000;stoptime:0\n"
		"tsv 200:0:1:6c6f7374\ntsv 1a:"));
	assert_non_null(strstr((char *)bytes, "\ntp T1:1000:E:0:0"));
	/* During the run the header has no counts of hits. */
	assert_null(strstr((char *)bytes, "\ntp V"));
	close_stream();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_frames_of_all_cpus_come_in_order_of_time,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_comes_during_a_sweep_waits_for_the_next,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_sweeps_give_every_frame_once_in_order,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_sweeps_of_small_buffers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_losses_are_told_in_front_of_the_next_frame,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_run_that_ends_is_read_to_its_end, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_the_end_takes_the_frames_from_other_readers,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_end_of_a_file_in_pieces, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_new_run_ends_the_stream, setup, teardown),
		cmocka_unit_test_setup_teardown(test_urgent, setup, teardown),
		cmocka_unit_test_setup_teardown(test_linear_buffers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_clock_restarts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_memory_for_a_later_sweep, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_clock_that_is_ahead, setup, teardown),
		cmocka_unit_test_setup_teardown(test_losses_from_the_beginning, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_status_says_what_was_taken, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_header, setup, teardown),
	};

	return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}
