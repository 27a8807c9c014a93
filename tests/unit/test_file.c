// SPDX-License-Identifier: GPL-2.0-only
/*
 * The whole trace file of a run: the lines of its header, its frames, and runs that change while it
 * is read.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/parse.h"
#include "base/target_xml.h"
#include "fake_target.h"
#include "export/file.h"

static struct fake fake;
static struct gtp_trace *const t = &fake.trace;
static struct gtp_why why;
static struct gtp_file file;

static int setup(void **state)
{
	return fake_init(&fake);
}

static int teardown(void **state)
{
	return fake_exit(&fake);
}

static struct gtp_tracepoint *define(const char *text)
{
	struct gtp_tracepoint *tp = NULL;

	assert_int_equal(gtp_tracepoint_define(&t->tps, &t->mem, text, &tp, &why), 0);
	assert_non_null(tp);
	return tp;
}

static void actions(const char *text)
{
	assert_int_equal(gtp_tracepoint_add_actions(&t->tps, &t->mem, text, &why), 0);
}

static void source(const char *text)
{
	assert_int_equal(gtp_tracepoint_add_source(&t->tps, &t->mem, text, &why), 0);
}

static void run(u32 hits)
{
	u64 arg = 7;

	assert_int_equal(gtp_trace_start(t, &why), 0);
	while (hits--)
		assert_true(fake_call(&fake, 0x1000, 1, &arg));
	gtp_trace_stop(t, GTP_STOP_USER);
}

/* Return the contents of the file, read at once and NUL-terminated. The caller frees them. */
static u8 *contents(u64 *size)
{
	u8 *bytes;

	assert_int_equal(gtp_file_open(&file, t, &why), 0);
	*size = gtp_file_size(&file);
	bytes = malloc(*size + 2);
	assert_int_equal(gtp_file_read(&file, 0, bytes, (u32)*size + 1), *size);
	bytes[*size] = '\0';
	return bytes;
}

/* Return the header without the target description, which this function compares. */
static const char *header(const u8 *bytes)
{
	static char text[65536];
	const char *from = strstr((const char *)bytes, "tdesc "), *line = gtp_target_xml;
	size_t before = (size_t)(from - (const char *)bytes);

	assert_non_null(from);
	for (; *line; line = strchr(line, '\n') + 1) {
		size_t n = (size_t)(strchr(line, '\n') + 1 - line);

		assert_memory_equal(from, "tdesc ", 6);
		assert_memory_equal(from + 6, line, n);
		from += 6 + n;
	}
	assert_int_equal(*from, '\n');
	assert_ptr_equal(from + 1, (const char *)bytes + file.header_len);
	memcpy(text, bytes, before);
	text[before] = '\0';
	return text;
}

#define BUILTINS                                                                                   \
	"tsv 1a:0:1:77617463685f707265765f76616c\n"                                                \
	"tsv 19:0:1:77617463685f76616c\n"                                                          \
	"tsv 18:0:1:77617463685f61646472\n"                                                        \
	"tsv 17:0:1:75737461636b\n"                                                                \
	"tsv 16:0:1:6274\n"                                                                        \
	"tsv 15:0:1:6b737461636b\n"                                                                \
	"tsv 14:0:1:64697361626c65\n"                                                              \
	"tsv 13:0:1:656e61626c65\n"                                                                \
	"tsv 12:0:1:73656c665f7472616365\n"                                                        \
	"tsv 11:0:1:6370755f6e756d626572\n"                                                        \
	"tsv 10:0:1:7264747363\n"                                                                  \
	"tsv f:0:1:7874696d655f6e736563\n"                                                         \
	"tsv e:0:1:7874696d655f736563\n"                                                           \
	"tsv d:0:1:7461736b5f70745f72656773\n"                                                     \
	"tsv c:0:1:63757272656e745f7461736b5f75736572\n"                                           \
	"tsv b:0:1:6972715f636f756e74\n"                                                           \
	"tsv a:0:1:736f66746972715f636f756e74\n"                                                   \
	"tsv 9:0:1:686172646972715f636f756e74\n"                                                   \
	"tsv 8:0:1:6b726574\n"                                                                     \
	"tsv 7:0:1:656e7472795f636c6f636b\n"                                                       \
	"tsv 6:0:1:6c6174656e6379\n"                                                               \
	"tsv 5:0:1:726574\n"                                                                       \
	"tsv 4:0:1:63757272656e745f7461736b5f706964\n"                                             \
	"tsv 3:0:1:63757272656e745f7461736b\n"                                                     \
	"tsv 2:0:1:636c6f636b\n"                                                                   \
	"tsv 1:0:1:6370755f6964\n"

static void test_never_run(void **state)
{
	u64 size;
	u8 *bytes = contents(&size);

	assert_string_equal(header(bytes),
			    "\x7fTRACE0\n"
			    "R a4\n"
			    "status 0;tnotrun:0;tframes:0;tcreated:0;tfree:0;tsize:0;circular:0;"
			    "disconn:0;starttime:0;stoptime:0\n" BUILTINS);
	assert_int_equal(size, file.header_len + 4);
	assert_memory_equal(bytes + file.header_len, "\0\0\0", 4);
	gtp_file_close(&file);
	free(bytes);
}

/* Check a header with every kind of line, and the frames after it. */
static void test_all(void **state)
{
	static u8 raw[4096];
	const struct gtp_index *ix;
	u64 size;
	u8 *bytes;
	u32 n;

	assert_int_equal(gtp_tsvs_define(&t->run.tsvs, &t->mem, "40:2a:0:6d696e65", &why), 0);
	define("3:1000:E:0:0:X3,220127-");
	actions("3:1000:R20-");
	actions("3:1000:M-1,8000,8X00000001,27");
	source("3:1000:at:0:3:666f6f");
	source("3:1000:cond:0:1:31");
	define("4:2000:D:0:a");
	fake_map(&fake, 0x8000, NULL, 8);
	fake.wall_us = 0x123456789;
	t->text_start = 0xffffffff9a000000;
	t->build_id = "0123456789abcdef0123456789abcdef01234567";
	run(3);
	bytes = contents(&size);
	assert_string_equal(
		header(bytes),
		"\x7fTRACE0\n"
		"R a4\n"
		"status 0;tstop:0;tframes:3;tcreated:3;tfree:ff28;tsize:10000;"
		"circular:0;disconn:0;starttime:123456789;stoptime:123456789;"
		"textseg:ffffffff9a000000;buildid:0123456789abcdef0123456789abcdef01234567\n"
		"tsv 40:2a:0:6d696e65\n" BUILTINS "tp T4:2000:D:0:a\n"
		"tp V4:2000:0:0\n"
		"tp T3:1000:E:0:0:X3,220127\n"
		"tp A3:1000:R20\n"
		"tp A3:1000:M-1,8000,8\n"
		"tp A3:1000:X00000001,27\n"
		"tp Z3:1000:at:0:3:666f6f\n"
		"tp Z3:1000:cond:0:1:31\n"
		"tp V3:1000:3:d8\n");
	ix = gtp_trace_index(t, &why);
	n = gtp_index_read(ix, 0, raw, sizeof(raw));
	assert_int_equal(n, 3 * (6 + 165 + 11 + 8));
	assert_int_equal(size, file.header_len + n + 4);
	assert_memory_equal(bytes + file.header_len, raw, n);
	assert_memory_equal(bytes + size - 4, "\0\0\0", 4);
	gtp_file_close(&file);
	free(bytes);
}

/* Check that the source text @text of a tracepoint is written to the file as @expected. */
static void check_source(const char *text, const char *expected)
{
	char in[256], line[256];
	const char *found;
	u64 size;
	u8 *bytes;
	int n;

	n = sprintf(in, "1:1000:cmd:0:%zx:", strlen(text));
	n += (int)gtp_hex_encode(in + n, text, strlen(text));
	in[n] = '\0';
	define("1:1000:E:0:0");
	source(in);
	bytes = contents(&size);
	n = sprintf(line, "\ntp Z1:1000:cmd:0:%zx:", strlen(expected));
	n += (int)gtp_hex_encode(line + n, expected, strlen(expected));
	strcpy(line + n, "\n");
	found = strstr((char *)bytes, line);
	if (!found)
		print_error("no %s in\n%s", line, header(bytes));
	assert_non_null(found);
	gtp_file_close(&file);
	free(bytes);
	gtp_trace_reset(t);
}

/* The length of a source line in the file is right, even if the one in the packet was wrong. */
static void test_wrong_source_length(void **state)
{
	u64 size;
	u8 *bytes;

	define("1:1000:E:0:0");
	source("1:1000:cmd:0:1:636f6c6c6563742f7320616263646566676869"); /* "collect/s abcdefghi" */
	bytes = contents(&size);
	assert_non_null(strstr((char *)bytes,
			       "\ntp Z1:1000:cmd:0:11:636f6c6c65637420616263646566676869\n"));
	gtp_file_close(&file);
	free(bytes);
}

/* GDB cannot read a file with collect/s, so the option is removed; other slashes are divisions. */
static void test_collect_option(void **state)
{
	check_source("collect/s name", "collect name");
	check_source("collect/s20 $args, a/b", "collect $args, a/b");
	check_source("  coll /s a", "  coll  a");
	check_source("collect a /b", "collect a /b");
	check_source("collect/s", "collect");
	check_source("teval $x = $y/2", "teval $x = $y/2");
	check_source("collect/s0123456789abcdef x", "collect x");
	check_source("collect", "collect");
	check_source("", "");
	check_source("/", "");
}

/* If a tracepoint has several locations, a frame without registers has the hit's address. */
static void test_several_locations(void **state)
{
	const struct gtp_index *ix;

	define("1:1000:E:0:0");
	run(1);
	ix = gtp_trace_index(t, &why);
	assert_int_equal(gtp_tfile_frame_size(gtp_index_at(ix, 0)->frame, NULL), 6);
	define("1:2000:E:0:0");
	define("2:1000:E:0:0");
	run(1);
	ix = gtp_trace_index(t, &why);
	assert_int_equal(ix->n, 2);
	assert_int_equal(gtp_index_at(ix, 0)->frame->tp, 1);
	assert_int_equal(gtp_tfile_frame_size(gtp_index_at(ix, 0)->frame, NULL), 6 + 165);
	assert_int_equal(gtp_tfile_frame_size(gtp_index_at(ix, 1)->frame, NULL), 6);
}

static void test_in_pieces(void **state)
{
	static u8 got[16384];
	u64 size;
	u8 *bytes;

	define("1:1000:E:0:0-");
	actions("1:1000:R20");
	run(5);
	bytes = contents(&size);
	assert_true(size < sizeof(got));
	for (u32 piece = 1; piece < 300; piece = piece * 2 + 1) {
		u64 at = 0;
		s64 n;

		while ((n = gtp_file_read(&file, at, got + at, piece)) > 0)
			at += (u64)n;
		assert_int_equal(n, 0);
		assert_int_equal(at, size);
		assert_memory_equal(got, bytes, size);
	}
	assert_int_equal(gtp_file_read(&file, ~0ULL, got, 10), 0);
	assert_int_equal(gtp_file_read(&file, size - 1, got, 10), 1);
	gtp_file_close(&file);
	free(bytes);
}

static char *repeat(const char *head, const char *unit, u32 n, const char *tail)
{
	char *text = malloc(strlen(head) + n * strlen(unit) + strlen(tail) + 1);
	char *p = text + sprintf(text, "%s", head);

	while (n--)
		p += sprintf(p, "%s", unit);
	strcpy(p, tail);
	return text;
}

static void assert_lines_fit(const u8 *bytes)
{
	const char *p = (const char *)bytes, *nl;

	for (; (nl = strchr(p, '\n')) && nl != p; p = nl + 1)
		assert_true(nl - p <= 999);
	assert_non_null(nl);
}

/*
 * A collect command that is too long for a line is written as several, which together have all
 * expressions in order. Compare those after @at with the list @expected.
 */
static void check_lists(const char *at, const char *expected)
{
	static const char head[] = "\ntp Z1:1000:cmd:0:", word[] = "636f6c6c65637420";
	char items[2048] = "";

	for (at = strstr(at, head); at; at = strstr(at, head)) {
		const char *hex = strchr(at + strlen(head), ':') + 1, *end = strchr(at + 1, '\n');

		assert_true(end - (at + 1) <= 999);
		assert_int_equal(strtoul(at + strlen(head), NULL, 16), (end - hex) / 2);
		assert_memory_equal(hex, word, strlen(word));
		hex += strlen(word);
		strcat(items, *items ? "2c" : "");
		strncat(items, hex, (size_t)(end - hex));
		at = end;
	}
	assert_string_equal(items, expected);
}

static void test_long_list(void **state)
{
	/* f(a,"),\"'"), whose commas do not separate expressions */
	static const char tricky[] = "6628612c22292c5c22272229";
	char text[2048], in[2200], hex[40];
	u64 size;
	u8 *bytes;
	u32 i;

	strcpy(text, tricky);
	for (i = 0; i < 40; i++) {
		gtp_hex_encode(hex, "abcdefghij", 10);
		strcat(text, "2c");
		strncat(text, hex, 20);
	}
	sprintf(in, "1:1000:cmd:0:%zx:636f6c6c65637420%s", strlen(text) / 2 + 8, text);
	define("1:1000:E:0:0");
	source(in);
	bytes = contents(&size);
	check_lists(header(bytes), text);
	gtp_file_close(&file);
	free(bytes);
	gtp_trace_reset(t);

	/*
	 * "collect (aaa..., bbb...), x": an expression that is too long for a line by itself is not
	 * cut
	 */
	strcpy(text, "28");
	for (i = 0; i < 600; i++)
		strcat(text, i == 300 ? "2c" : "61");
	sprintf(in, "1:1000:cmd:0:%zx:636f6c6c65637420%s292c2078", strlen(text) / 2 + 12, text);
	define("1:1000:E:0:0");
	source(in);
	bytes = contents(&size);
	check_lists(header(bytes), "78");
	gtp_file_close(&file);
	free(bytes);
}

/*
 * GDB does not read lines of 1000 or more characters. Such lines are left out, and the rest of the
 * file stays intact.
 */
static void test_long_lines(void **state)
{
	char *cond = repeat("1:1000:E:0:5:X25e,", "220129", 201, "220127");
	char *fits = repeat("1:1000:cmd:0:1e0:", "61", 0x1e0, "");
	char *long_source = repeat("1:1000:cmd:0:1f4:", "62", 0x1f4, "");
	char *note = repeat("", "41", 600, "");
	u64 size;
	u8 *bytes;

	define(cond);
	source(long_source);
	source(fits);
	source("1:1000:cmd:0:1:63");
	t->stop_notes_hex = NULL;
	run(0);
	t->stop_notes_hex = t->mem.alloc(t->mem.ctx, strlen(note) + 1);
	strcpy(t->stop_notes_hex, note);
	t->user_hex = t->mem.alloc(t->mem.ctx, strlen(note) + 1);
	strcpy(t->user_hex, note);
	t->notes_hex = t->mem.alloc(t->mem.ctx, 5);
	strcpy(t->notes_hex, "6162");
	bytes = contents(&size);
	assert_lines_fit(bytes);
	assert_non_null(strstr((char *)bytes, "status 0;tstop:0;tframes:0;tcreated:0;tfree:"));
	assert_null(strstr((char *)bytes, ";username:"));
	assert_non_null(strstr((char *)bytes, ";notes:6162\n"));
	assert_non_null(strstr((char *)bytes, "\ntp T1:1000:E:0:5\ntp Z1:1000:cmd:0:1e0:6161"));
	assert_non_null(strstr((char *)bytes, "61\ntp Z1:1000:cmd:0:1:63\ntp V1:1000:0:0\n"));
	gtp_file_close(&file);
	free(bytes);
	free(cond);
	free(fits);
	free(long_source);
	free(note);
}

static void test_refused_while_running(void **state)
{
	define("1:1000:E:0:0");
	assert_int_equal(gtp_trace_start(t, &why), 0);
	assert_int_equal(gtp_file_open(&file, t, &why), -EBUSY);
	assert_non_null(strstr(why.text, "tstop"));
	gtp_trace_stop(t, GTP_STOP_USER);
	assert_int_equal(gtp_file_open(&file, t, &why), 0);
	gtp_file_close(&file);
}

/* If GDB begins a new run or deletes the old one between two reads, the second gets -ESTALE. */
static void test_frames_that_are_gone(void **state)
{
	u8 byte;

	define("1:1000:E:0:0");
	run(2);
	assert_int_equal(gtp_file_open(&file, t, &why), 0);
	assert_int_equal(gtp_file_read(&file, 0, &byte, 1), 1);
	run(2);
	assert_int_equal(gtp_file_read(&file, 1, &byte, 1), -ESTALE);
	gtp_file_close(&file);

	assert_int_equal(gtp_file_open(&file, t, &why), 0);
	assert_int_equal(gtp_trace_start(t, &why), 0);
	assert_int_equal(gtp_file_read(&file, 0, &byte, 1), -ESTALE);
	gtp_trace_stop(t, GTP_STOP_USER);
	gtp_file_close(&file);

	assert_int_equal(gtp_file_open(&file, t, &why), 0);
	gtp_trace_reset(t);
	assert_int_equal(gtp_file_read(&file, 0, &byte, 1), -ESTALE);
	gtp_file_close(&file);
}

/* After any failed allocation there is an error message, and nothing is left allocated. */
static void test_no_memory(void **state)
{
	u32 failed = 0;
	int rc = -ENOMEM;

	define("1:1000:E:0:0");
	for (u32 n = 1; rc; n++) {
		run(2); /* start a new run, because the index of the last run exists already */
		why.text[0] = '\0';
		fake.fail_alloc = fake.allocs + n;
		rc = gtp_file_open(&file, t, &why);
		fake.fail_alloc = 0;
		if (!rc)
			break;
		failed++;
		assert_null(file.header);
		assert_int_equal(rc, -ENOMEM);
		assert_non_null(strstr(why.text, "memory"));
	}
	assert_int_equal(failed, 7); /* five allocations for the index, two for the header */
	gtp_file_close(&file);
}

#define test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(test_never_run),
		test(test_all),
		test(test_several_locations),
		test(test_collect_option),
		test(test_wrong_source_length),
		test(test_in_pieces),
		test(test_long_lines),
		test(test_long_list),
		test(test_refused_while_running),
		test(test_frames_that_are_gone),
		test(test_no_memory),
	};

	return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
