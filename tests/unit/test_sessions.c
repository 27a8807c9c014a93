// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plays the transcripts of tests/sessions/ to the stub on the fake machine. Every packet of the
 * stub must occur in a transcript.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <glob.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
#include "fake_gdb.h"
#include "stub/packets.h"
#include "tools/dev/session.h"

/* The folder, seen from tests/unit, where make runs the tests. */
#define SESSIONS "../sessions"

enum { MAX_FILES = 200 };

static struct fake_gdb gdb;
static u32 read_pos;

static int do_send(void *ctx, const void *bytes, size_t len)
{
	/* Normally the player has read all output before it sends again. */
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

/* --- the player itself --- */

static int play_text(const char *text)
{
	char path[] = "/tmp/gdbtp-session-XXXXXX";
	int fd = mkstemp(path), err;
	FILE *report = fopen("/dev/null", "w");
	FILE *f = fdopen(fd, "w");

	assert_non_null(f);
	assert_non_null(report);
	fputs(text, f);
	fclose(f);
	read_pos = 0;
	assert_int_equal(fake_gdb_init(&gdb), 0);
	err = session_play(path, &world, report);
	assert_int_equal(fake_gdb_exit(&gdb), 0);
	fclose(report);
	unlink(path);
	return err;
}

/* The player must find errors in transcripts. Otherwise the other tests would prove nothing. */
static void the_player_finds_fault(void **state)
{
	assert_int_equal(play_text("> ?\n< S05\n"), 0);
	assert_int_equal(play_text("> ?\n< S06\n"), -1);
	assert_int_equal(play_text("> ?\n< S0\n"), -1);
	assert_int_equal(play_text("> ?\n< S055\n"), -1);
	assert_int_equal(play_text("> ?\n<\n"), -1);
	/*
	 * A reply that the transcript does not expect, in the middle and at the end, and a missing
	 * reply.
	 */
	assert_int_equal(play_text("> ?\n> qC\n<\n"), -1);
	assert_int_equal(play_text("> ?\n"), -1);
	assert_int_equal(play_text("> k\n< *\n"), -1);
	assert_int_equal(play_text("raw> $?#00\nraw< +\n"), -1);
	assert_int_equal(play_text("! call nothing\n"), -1);
	assert_int_equal(play_text("! jump\n"), -1);
	assert_int_equal(play_text("what is this\n"), -1);
	assert_int_equal(play_text("> m{nowhere},1\n< *\n"), -1);
	assert_int_equal(play_text("> s\n< S05\n~ stepped\n"), 0);
	assert_int_equal(play_text("> s\n< S05\n~ leapt\n"), -1);
	assert_int_equal(play_text("> qOffsets\n< TextSeg={=a}\n> ?\n< {a}\n"), -1);
	assert_int_equal(play_text("> qOffsets\n< TextSeg={=a}\n> m{a},1\n< 00\n"), 0);
}

/* --- coverage --- */

static glob_t files;

/* struct use - the names of the transcripts that send a packet, in the form of docs/packets.md */
struct use {
	char names[512];
	const char *file;
};

static struct use uses[128];
static char names[MAX_FILES][64];

static void note_use(void *ctx, const char *text)
{
	const struct gtp_packet *p = gtp_packets_find(text, (u32)strlen(text));
	struct use *u = p ? &uses[p - gtp_packets] : NULL;
	size_t len;

	if (!u || u->file == ctx)
		return;
	u->file = ctx;
	len = strlen(u->names);
	snprintf(u->names + len, sizeof(u->names) - len, "%s%s", len ? ", " : "",
		 (const char *)ctx);
}

static void find_uses(void)
{
	for (size_t i = 0; i < files.gl_pathc; i++) {
		const char *name = strrchr(files.gl_pathv[i], '/') + 1;

		snprintf(names[i], sizeof(names[i]), "%.*s", (int)strcspn(name, "."), name);
		session_packets(files.gl_pathv[i], note_use, names[i]);
	}
}

static void every_packet_is_played(void **state)
{
	int missing = 0;

	assert_true(gtp_packets_count <= ARRAY_SIZE(uses));
	for (u32 i = 0; i < gtp_packets_count; i++) {
		if (uses[i].file)
			continue;
		print_error("no transcript sends %s\n", gtp_packets[i].name);
		missing++;
	}
	assert_int_equal(missing, 0);
}

/* No row of gtp_packets is hidden by an earlier one that matches the same packets. */
static void no_row_hides_another(void **state)
{
	for (u32 i = 0; i < gtp_packets_count; i++) {
		const char *name = gtp_packets[i].name;

		assert_ptr_equal(gtp_packets_find(name, (u32)strlen(name)), &gtp_packets[i]);
	}
}

/*
 * Rows of gtp_packets for packets about a process must have the flag for this, so that the stub in
 * the kernel does not serve them.
 */
static void a_kernel_knows_no_packet_about_a_process(void **state)
{
	static const char *const packets[] = {
		"vFile:close:1",
		"vFile:fstat:1",
		"vFile:open:2f78,0,0",
		"vFile:pread:1,8,0",
		"vFile:readlink:2f78",
		"vFile:setfs:0",
		"qC",
		"qXfer:auxv:read::0,8",
		"qXfer:exec-file:read::0,8",
		"qXfer:libraries-svr4:read::0,8",
		"qXfer:threads:read::0,8",
	};
	u32 i, flagged = 0;

	assert_int_equal(fake_gdb_init(&gdb), 0);
	for (i = 0; i < ARRAY_SIZE(packets); i++) {
		const struct gtp_packet *p = gtp_packets_find(packets[i], (u32)strlen(packets[i]));

		assert_non_null(p);
		if (!(p->flags & GTP_PKT_PROCESS))
			fail_msg("%s is handled without a process", p->name);
		assert_string_equal(fake_gdb_ask(&gdb, packets[i]), "");
	}
	for (i = 0; i < gtp_packets_count; i++)
		flagged += !!(gtp_packets[i].flags & GTP_PKT_PROCESS);
	assert_int_equal(flagged, ARRAY_SIZE(packets));
	assert_int_equal(fake_gdb_exit(&gdb), 0);
}

static char *describe(const struct gtp_packet *p)
{
	static char row[1024];
	const char *doc = p->doc;
	int n = snprintf(row, sizeof(row), "| `%s` | ", p->name);

	/* A '|' would end the table's column. */
	for (; *doc; doc++)
		n += snprintf(row + n, sizeof(row) - (size_t)n, *doc == '|' ? "\\|" : "%c", *doc);
	snprintf(row + n, sizeof(row) - (size_t)n, " | %s%s | %s |",
		 p->flags & GTP_PKT_NOISY ? "may be slow" : "",
		 p->flags & GTP_PKT_NUMERIC ? "no words" : "", uses[p - gtp_packets].names);
	return row;
}

#define DOCS "../../docs/packets.md"

/* docs/packets.md must have exactly these rows; build/unit/test_sessions --rows prints them. */
static void the_manual_is_right(void **state)
{
	FILE *f = fopen(DOCS, "r");
	char *line = NULL;
	size_t size = 0;
	u32 i = 0;

	assert_non_null(f);
	print_message("the rows of docs/packets.md come from test_sessions --rows\n");
	while (getline(&line, &size, f) > 0) {
		if (strncmp(line, "| `", 3))
			continue;
		line[strcspn(line, "\n")] = '\0';
		assert_true(i < gtp_packets_count);
		assert_string_equal(line, describe(&gtp_packets[i++]));
	}
	assert_int_equal(i, gtp_packets_count);
	free(line);
	fclose(f);
}

int main(int argc, char **argv)
{
	static struct CMUnitTest tests[MAX_FILES + 5] = {
		cmocka_unit_test(the_player_finds_fault),
		cmocka_unit_test(every_packet_is_played),
		cmocka_unit_test(no_row_hides_another),
		cmocka_unit_test(a_kernel_knows_no_packet_about_a_process),
		cmocka_unit_test(the_manual_is_right),
	};
	const size_t fixed = 5;
	int failed;

	if (glob(SESSIONS "/*.rsp", 0, NULL, &files) || files.gl_pathc > MAX_FILES) {
		fprintf(stderr, "no transcripts, or too many, in %s\n", SESSIONS);
		return 1;
	}
	find_uses();
	if (argc > 1 && !strcmp(argv[1], "--rows")) {
		for (u32 i = 0; i < gtp_packets_count; i++)
			puts(describe(&gtp_packets[i]));
		return 0;
	}
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct CMUnitTest t = cmocka_unit_test_prestate(play, files.gl_pathv[i]);

		t.name = strrchr(files.gl_pathv[i], '/') + 1;
		tests[fixed + i] = t;
	}
	failed = _cmocka_run_group_tests("sessions", tests, fixed + files.gl_pathc, NULL, NULL);
	globfree(&files);
	return failed;
}
