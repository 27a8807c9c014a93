// SPDX-License-Identifier: GPL-2.0-only
/* Plays tests/sessions/ to the stub on the fake machine; every packet must be in one. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <glob.h>
#include <libgen.h>
#include <stdlib.h>
#include <cmocka.h>
#include "fake_gdb.h"
#include "stub/packets.h"
#include "tools/session.h"

/* make runs the tests in their own folder. */
#define SESSIONS "../sessions"

static struct fake_gdb gdb;
static u32 read_pos;

static int do_send(void *ctx, const void *bytes, size_t len)
{
	/* All that had come has been read, or the player has complained. */
	if (read_pos == gdb.out_len) {
		fake_gdb_clear(&gdb);
		read_pos = 0;
	}
	fake_gdb_feed(&gdb, bytes, (u32)len);
	return 0;
}

static int do_receive(void *ctx, bool wait)
{
	return read_pos < gdb.out_len ? (u8)gdb.out[read_pos++] : -1;
}

static int do_call(void *ctx, const char *what)
{
	return fake_gdb_call(&gdb, what);
}

static int do_reconnect(void *ctx)
{
	read_pos = 0;
	return fake_gdb_reconnect(&gdb);
}

static unsigned long long do_symbol(void *ctx, const char *name)
{
	return fake_gdb_symbol(name);
}

static const struct session_world world = {
	do_send, do_receive, do_call, do_reconnect, do_symbol, NULL,
};

static void play(void **state)
{
	const char *path = *state;
	int played, leaked;

	read_pos = 0;
	assert_int_equal(fake_gdb_init(&gdb), 0);
	played = session_play(path, &world, stderr);
	leaked = fake_gdb_exit(&gdb);
	assert_int_equal(played, 0);
	assert_int_equal(leaked, 0);
}

/* --- coverage --- */

static bool seen[128];

static void mark(void *ctx, const char *text)
{
	const struct gtp_packet *p = gtp_packets_find(text, (u32)strlen(text));

	if (p)
		seen[p - gtp_packets] = true;
}

static glob_t files;

static void every_packet_is_played(void **state)
{
	int missing = 0;

	assert_true(gtp_packets_count <= ARRAY_SIZE(seen));
	for (size_t i = 0; i < files.gl_pathc; i++)
		assert_int_equal(session_packets(files.gl_pathv[i], mark, NULL), 0);
	for (u32 i = 0; i < gtp_packets_count; i++) {
		if (seen[i])
			continue;
		print_error("no transcript sends %s\n", gtp_packets[i].name);
		missing++;
	}
	assert_int_equal(missing, 0);
}

/* A row that an earlier one hides would never be asked. */
static void no_row_hides_another(void **state)
{
	for (u32 i = 0; i < gtp_packets_count; i++) {
		const char *name = gtp_packets[i].name;

		assert_ptr_equal(gtp_packets_find(name, (u32)strlen(name)), &gtp_packets[i]);
	}
}

int main(void)
{
	static struct CMUnitTest tests[256] = {
		cmocka_unit_test(every_packet_is_played),
		cmocka_unit_test(no_row_hides_another),
	};
	const size_t fixed = 2;

	if (glob(SESSIONS "/*.rsp", 0, NULL, &files) ||
	    files.gl_pathc > ARRAY_SIZE(tests) - fixed) {
		fprintf(stderr, "no transcripts, or too many, in %s\n", SESSIONS);
		return 1;
	}
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct CMUnitTest t = cmocka_unit_test_prestate(play, files.gl_pathv[i]);

		t.name = basename(strdup(files.gl_pathv[i]));
		tests[fixed + i] = t;
	}
	return _cmocka_run_group_tests("sessions", tests, fixed + files.gl_pathc, NULL, NULL);
}
