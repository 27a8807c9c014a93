// SPDX-License-Identifier: GPL-2.0-only
/* Tests binary replies: the packet x reads memory, qXfer:gtpframe:read the run's trace file. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>
#include "export/file.h"
#include "stub_case.h"

enum { MANY = 5 * 4096 };
#define MANY_AT 0xffff888000010000ULL

static const u8 *ask(const char *fmt, ...)
{
	char packet[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(packet, sizeof(packet), fmt, args);
	va_end(args);
	return (const u8 *)fake_gdb_ask(&gdb, packet);
}

#define ASK(reply, ...) assert_string_equal((const char *)ask(__VA_ARGS__), reply)

/* --- x --- */

/* Map all byte values, including '#', '$', '*' and '}', in an unusual order. */
static u8 *map_many(void)
{
	u8 *bytes = fake_map(&gdb.f, MANY_AT, NULL, MANY);

	for (u32 i = 0; i < MANY; i++)
		bytes[i] = (u8)(i * 7 + i / 256);
	return bytes;
}

static void x_gives_bytes(u64 offset, u32 asked, u32 given, const u8 *bytes)
{
	const u8 *got = ask("x%llx,%x", MANY_AT + offset, asked);

	assert_int_equal(gdb.out_len, 1 + given);
	assert_int_equal(got[0], 'b');
	assert_memory_equal(got + 1, bytes + offset, given);
}

static void x_gives_all_bytes_as_they_are(void **state)
{
	const u8 *bytes = map_many();

	x_gives_bytes(0, 256, 256, bytes);
	x_gives_bytes(3, 1, 1, bytes);
	x_gives_bytes(0, 0, 0, bytes);
}

/* The 'b' takes a byte of the packet, so the reply has one byte less than asked for. */
static void x_gives_no_more_than_a_packet_has(void **state)
{
	const u8 *bytes = map_many();

	x_gives_bytes(1, GTP_PACKET_MAX, GTP_PACKET_MAX - 1, bytes);
	x_gives_bytes(1, GTP_PACKET_MAX - 1, GTP_PACKET_MAX - 1, bytes);
	x_gives_bytes(1, GTP_PACKET_MAX - 2, GTP_PACKET_MAX - 2, bytes);
	x_gives_bytes(0, 0xffffffff, GTP_PACKET_MAX - 1, bytes);
}

static void x_ends_where_memory_ends(void **state)
{
	const u8 *bytes = map_many();

	x_gives_bytes(MANY - 10, 100, 10, bytes);
	ASK("E01", "x%llx,1", MANY_AT + MANY);
	ASK("E01", "x%llx,1", MANY_AT - 1);
}

/* --- with frames --- */

static void make_frames(u32 n)
{
	ASK("OK", "QTinit");
	ASK("OK", "QTDP:1:%llx:E:0:0-", FAKE_LEAF);
	ASK("OK", "QTDP:-1:%llx:R20M-1,%llx,10", FAKE_LEAF, FAKE_BANNER);
	ASK("OK", "QTStart");
	for (u32 i = 0; i < n; i++)
		assert_int_equal(fake_gdb_call(&gdb, "leaf 7"), 0);
	ASK("OK", "QTStop");
}

static void x_reads_the_selected_frame(void **state)
{
	make_frames(1);
	fake_map(&gdb.f, 0x5000, "live", 4);
	ASK("blive", "x5000,4");
	ASK("F0T1", "QTFrame:0");
	ASK("bgtp_target: the ", "x%llx,20", FAKE_BANNER);
	ASK("E01", "x5000,4");
	ASK("E01", "x%llx,1", FAKE_ARRAY);
	ASK("F-1", "QTFrame:ffffffff");
	ASK("blive", "x5000,4");
}

/* --- qXfer:gtpframe:read --- */

/* Return the file as QTSave reads it; the caller frees it. */
static u8 *read_file(u64 *size)
{
	struct gtp_file file;
	struct gtp_why why;
	u8 *bytes;

	assert_int_equal(gtp_file_open(&file, &gdb.f.trace, &why), 0);
	*size = gtp_file_size(&file);
	bytes = malloc(*size);
	for (u64 at = 0; at < *size; at += 1000)
		gtp_file_read(&file, at, bytes + at, (u32)(*size - at < 1000 ? *size - at : 1000));
	gtp_file_close(&file);
	return bytes;
}

static void read_in_pieces(u32 piece)
{
	u64 size, at = 0;
	u8 *want = read_file(&size);

	for (;;) {
		const u8 *got = ask("qXfer:gtpframe:read::%llx,%x", at, piece);
		u32 n = gdb.out_len - 1;

		assert_true(n <= piece && n < GTP_PACKET_MAX && at + n <= size);
		assert_memory_equal(got + 1, want + at, n);
		at += n;
		if (got[0] == 'l')
			break;
		assert_int_equal(got[0], 'm');
		assert_true(n > 0);
	}
	assert_int_equal(at, size);
	free(want);
}

static void the_file_is_what_is_saved(void **state)
{
	make_frames(300);
	read_in_pieces(GTP_PACKET_MAX);
	read_in_pieces(GTP_PACKET_MAX - 1);
	read_in_pieces(777);
	make_frames(0);
	read_in_pieces(100);
}

static void there_is_a_file_before_any_run(void **state)
{
	read_in_pieces(GTP_PACKET_MAX);
}

/* After a new run has begun, a read that began before gets no frames of the new run. */
static void pieces_of_two_runs_do_not_mix(void **state)
{
	make_frames(300);
	assert_int_equal(ask("qXfer:gtpframe:read::0,10")[0], 'm');
	make_frames(300);
	ASK("E.the frames are gone: another run began; read again from 0",
	    "qXfer:gtpframe:read::10,10");
	read_in_pieces(1000);
}

/* The open trace file is closed with the connection; tear_down() checks that nothing leaks. */
static void a_file_goes_with_its_connection(void **state)
{
	make_frames(3);
	assert_int_equal(ask("qXfer:gtpframe:read::0,10")[0], 'm');
	assert_int_equal(fake_gdb_reconnect(&gdb), 0);
	assert_int_equal(ask("qXfer:gtpframe:read::8,4")[0], 'm');
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(x_gives_all_bytes_as_they_are), T(x_gives_no_more_than_a_packet_has),
		T(x_ends_where_memory_ends),	  T(x_reads_the_selected_frame),
		T(the_file_is_what_is_saved),	  T(there_is_a_file_before_any_run),
		T(pieces_of_two_runs_do_not_mix), T(a_file_goes_with_its_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
