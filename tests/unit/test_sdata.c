// SPDX-License-Identifier: GPL-2.0-only
/*
 * Static data ($_sdata): it can only be collected at a kernel tracepoint; GDB can read it from a
 * frame as memory and by qXfer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "fake_target.h"
#include "export/file.h"
#include "trace/tfile.h"

enum { MARKER = 0x5000, OTHER = 0x6000 };

static struct fake f;

static int setup(void **state)
{
	if (fake_init(&f))
		return -1;
	f.marker = MARKER;
	return 0;
}

static int teardown(void **state)
{
	return fake_exit(&f);
}

static void hit(u64 n)
{
	u64 args[] = { 0, n };

	assert_true(fake_call(&f, MARKER, 2, args));
}

static void start(void)
{
	struct gtp_why why = { "" };

	assert_int_equal(gtp_trace_start(&f.trace, &why), 0);
}

static void stop(void)
{
	gtp_trace_stop(&f.trace, GTP_STOP_USER);
}

static void refused(const char *words)
{
	struct gtp_why why = { "" };

	assert_true(gtp_trace_start(&f.trace, &why) < 0);
	assert_non_null(strstr(why.text, words));
	assert_int_equal(f.armed, 0);
}

static void record_of_a_hit(void **state)
{
	fake_define(&f, "1:5000:E:0:0:S", "L");
	fake_define(&f, "2:5000:E:0:0", "R10");
	start();
	assert_int_equal(f.armed, 1);
	hit(0x11223344);
	stop();
	assert_string_equal(fake_frames(&f),
			    "1@5000 s=010203040506070844332211\n2@5000 r4=11223344\n");
}

/*
 * An instruction and the kernel tracepoint at its address are different places. S stands for the
 * kernel tracepoint.
 */
static void where_no_tracepoint_is(void **state)
{
	fake_define(&f, "1:6000:E:0:0:S", NULL);
	refused("tracepoint 1 at 0x6000: there is no kernel tracepoint");
	gtp_trace_reset(&f.trace);
	fake_define(&f, "1:6000:E:0:0", "L");
	refused("tracepoint 1 collects static data");
	gtp_trace_reset(&f.trace);
	fake_define(&f, "1:6000:E:0:0", NULL);
	start();
	assert_int_equal(fake_armed(&f, OTHER)->kind, GTP_LOCATION_CODE);
}

static void no_record_is_no_error(void **state)
{
	struct gtp_totals sum;

	fake_define(&f, "1:5000:E:0:0:S", "LR10");
	start();
	hit(404);
	hit(1);
	stop();
	assert_string_equal(fake_frames(&f),
			    "1@5000 r4=194\n1@5000 s=010203040506070801000000 r4=1\n");
	gtp_trace_totals(&f.trace, &sum);
	assert_int_equal(sum.no_sdata, 1);
}

static void added_during_a_run(void **state)
{
	struct gtp_why why = { "" };
	struct gtp_tracepoint *tp;

	fake_define(&f, "1:5000:E:0:0:S", NULL);
	start();
	assert_null(f.trace.formats);
	tp = fake_define(&f, "2:5000:E:0:0:S", "L");
	assert_int_equal(gtp_trace_install(&f.trace, tp, &why), 0);
	assert_non_null(f.trace.formats);
	hit(2);
	stop();
	assert_string_equal(fake_frames(&f), "1@5000\n2@5000 s=010203040506070802000000\n");
}

/* After any failed allocation there is a message, nothing is armed, and nothing has leaked. */
static void without_memory(void **state)
{
	struct gtp_why why;
	u32 n;
	int rc;

	fake_define(&f, "1:5000:E:0:0:S", "L");
	for (n = 1;; n++) {
		f.fail_alloc = f.allocs + n;
		why.text[0] = '\0';
		rc = gtp_trace_start(&f.trace, &why);
		f.fail_alloc = 0;
		if (!rc)
			break;
		assert_string_not_equal(why.text, "");
		assert_int_equal(f.armed, 0);
	}
	assert_true(n > 2);
}

static const struct gtp_frame *first_frame(void)
{
	struct gtp_why why = { "" };
	const struct gtp_index *ix = gtp_trace_index(&f.trace, &why);

	assert_non_null(ix);
	assert_true(ix->n > 0);
	return gtp_index_at(ix, 0)->frame;
}

/* Each part of the static data, read as memory, is equal to that part of the whole. */
static void memory_form(void **state)
{
	static const char text[] = "gtp_target:gtp_target_many\n0 8 0 head u64\n8 4 1 a int\n";
	const struct gtp_frame *frame;
	u8 all[200], part[200];
	u32 size, from, len;

	fake_define(&f, "1:5000:E:0:0:S", "L");
	start();
	hit(7);
	stop();
	frame = first_frame();
	size = gtp_sdata_size(frame, f.trace.formats);
	assert_int_equal(size, 8 + 12 + strlen(text));
	assert_int_equal(gtp_sdata_read(frame, f.trace.formats, 0, all, sizeof(all)), size);
	assert_int_equal(gtp_get_le(all, 4), 12);
	assert_int_equal(gtp_get_le(all + 4, 4), strlen(text));
	assert_int_equal(all[8 + 8], 7);
	assert_memory_equal(all + 20, text, strlen(text));
	for (from = 0; from <= size + 1; from++) {
		for (len = 0; len <= size + 1; len++) {
			u32 want = from > size ? 0 : size - from;

			if (want > len)
				want = len;
			assert_int_equal(gtp_sdata_read(frame, f.trace.formats, from, part, len),
					 want);
			assert_memory_equal(part, all + from, want);
		}
	}
	assert_int_equal(gtp_sdata_read(frame, f.trace.formats, ~0ULL, part, 8), 0);
	assert_int_equal(gtp_sdata_size(frame, NULL), 20);
}

static void trace_file_form(void **state)
{
	u8 image[200], part[200], head[11] = { 'M' };
	const struct gtp_frame *frame;
	u32 size, from;

	fake_define(&f, "1:5000:E:0:0:S", "L");
	start();
	hit(7);
	stop();
	frame = first_frame();
	size = gtp_sdata_size(frame, f.trace.formats);
	gtp_put_le(head + 1, GTP_SDATA_ADDR, 8);
	gtp_put_le(head + 9, size, 2);
	assert_int_equal(gtp_tfile_frame_size(frame, f.trace.formats), 6 + 11 + size);
	assert_int_equal(gtp_tfile_read_frame(frame, f.trace.formats, 0, image, sizeof(image)),
			 6 + 11 + size);
	assert_int_equal(gtp_get_le(image + 2, 4), 11 + size);
	assert_memory_equal(image + 6, head, sizeof(head));
	gtp_sdata_read(frame, f.trace.formats, 0, part, size);
	assert_memory_equal(image + 17, part, size);
	for (from = 0; from < 17 + size; from++) {
		u32 want = 17 + size - from < 5 ? 17 + size - from : 5;

		assert_int_equal(gtp_tfile_read_frame(frame, f.trace.formats, from, part, 5), want);
		assert_memory_equal(part, image + from, want);
	}
}

static void uploaded(void **state)
{
	struct gtp_tracepoint *tp = fake_define(&f, "1:5000:E:0:3:S:X3,220127", "L");
	char text[100];

	assert_true(gtp_tracepoint_piece(tp, 0, text, sizeof(text)) > 0);
	assert_string_equal(text, "T1:5000:E:0:3:S:X3,220127");
	assert_true(gtp_tracepoint_piece(tp, 1, text, sizeof(text)) > 0);
	assert_string_equal(text, "A1:5000:L");
}

static void a_record_that_is_too_large(void **state)
{
	static u8 memory[65536], record[GTP_SDATA_RECORD_MAX + 1];
	struct gtp_buffer b;
	u8 *copy = NULL;

	gtp_buffer_init(&b, memory, sizeof(memory), false);
	assert_int_equal(gtp_buffer_begin(&b, 1, 2, 3), 0);
	assert_int_equal(gtp_buffer_add_static(&b, record, sizeof(record), &copy), -E2BIG);
	assert_null(copy);
	record[5] = 9;
	assert_int_equal(gtp_buffer_add_static(&b, record, GTP_SDATA_RECORD_MAX, &copy), 0);
	assert_int_equal(copy[5], 9);
	assert_int_equal(gtp_buffer_add_static(&b, record, GTP_SDATA_RECORD_MAX, &copy), -ENOSPC);
}

static void records_of_every_length(void **state)
{
	static u8 memory[4096];
	u8 record[40];
	struct gtp_buffer b;
	u8 *copy;

	for (u32 i = 0; i < sizeof(record); i++)
		record[i] = (u8)(i * 37 + 1);
	for (u32 len = 0; len <= sizeof(record); len++) {
		gtp_buffer_init(&b, memory, sizeof(memory), false);
		memset(memory, 0xee, sizeof(memory));
		assert_int_equal(gtp_buffer_begin(&b, 1, 2, 3), 0);
		assert_int_equal(gtp_buffer_add_static(&b, record, len, &copy), 0);
		assert_memory_equal(copy, record, len);
		assert_int_equal(copy[len], 0xee);
		assert_int_equal(gtp_buffer_mark(&b), sizeof(struct gtp_frame) +
							      sizeof(struct gtp_block) +
							      (len + 7) / 8 * 8);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(record_of_a_hit),
		T(where_no_tracepoint_is),
		T(no_record_is_no_error),
		T(added_during_a_run),
		T(without_memory),
		T(memory_form),
		T(trace_file_form),
		T(uploaded),
		T(a_record_that_is_too_large),
		T(records_of_every_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
