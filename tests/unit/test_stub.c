// SPDX-License-Identifier: GPL-2.0-only
/* Tests parts of the stub that transcripts cannot test: time, faults, closed connections. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>
#include "stub/monitor.h"
#include "stub_case.h"

#define ASK(packet, reply) assert_string_equal(fake_gdb_ask(&gdb, packet), reply)

static char *packetf(const char *fmt, ...)
{
	static char text[4096];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return text;
}

static void start_run(const char *actions)
{
	ASK("QTinit", "OK");
	ASK(packetf("QTDP:1:%llx:E:0:0-", FAKE_LEAF), "OK");
	ASK(packetf("QTDP:-1:%llx:%s", FAKE_LEAF, actions), "OK");
	ASK("QTStart", "OK");
}

/* Return a console packet: "O" and the text in hex. */
static char *console(const char *text)
{
	static char packet[512];
	u32 n = (u32)strlen(text);

	packet[0] = 'O';
	packet[1 + gtp_hex_encode(packet + 1, text, n)] = '\0';
	return packet;
}

/* --- console --- */

static void notices_wait_for_a_listener(void **state)
{
	gtp_stub_print(&gdb.s, "a module is gone\n");
	ASK("?", "S05");
	ASK("qAttached", "1");
	ask_begins("qTStatus", packetf("%s|T0;", console("a module is gone\n")));
	ask_begins("qTStatus", "T0;");
}

static void long_text_takes_several_packets(void **state)
{
	char text[251];
	u32 digits = 0;
	const char *got;

	memset(text, 'a', 250);
	text[250] = '\0';
	gtp_stub_print(&gdb.s, text);
	got = fake_gdb_ask(&gdb, "QTinit");
	for (const char *p = got; *p; p++)
		digits += *p == '6';
	assert_int_equal(digits, 250);
	assert_string_equal(got + strlen(got) - 3, "|OK");
	/* three pieces: 100, 100, 50 */
	assert_int_equal(strchr(got, '|') - got, 201);
}

static void too_many_notices(void **state)
{
	char text[301];
	const char *got;

	memset(text, 'a', 300);
	text[300] = '\0';
	for (u32 i = 0; i < 20; i++)
		gtp_stub_print(&gdb.s, text);
	got = fake_gdb_ask(&gdb, "QTinit");
	assert_non_null(strstr(got, console("gdbtp: there was more to say than could be kept\n")));
	ASK("QTinit", "OK");
}

static void keep_alives(void **state)
{
	/* Outside of a packet no text about progress is sent, now or later. */
	gdb.now_ms = 100000;
	gtp_stub_progress(&gdb.s, "working", 1, 2);
	assert_string_equal(gdb.out, "+");
	ASK("QTinit", "OK");
	gdb.s.noisy = true;
	gdb.now_ms += GTP_KEEP_ALIVE_MS - 1;
	fake_gdb_clear(&gdb);
	gtp_stub_progress(&gdb.s, "working", 1, 2);
	assert_int_equal(gdb.out_len, 0);
	gdb.now_ms += 1;
	gtp_stub_progress(&gdb.s, "working", 1, 2);
	assert_int_not_equal(gdb.out_len, 0);
	assert_non_null(strstr(gdb.out, console("gdbtp: working: 1 of 2\n")));
	/* A text was just sent, so the next one must wait. */
	fake_gdb_clear(&gdb);
	gtp_stub_progress(&gdb.s, "working", 2, 2);
	assert_int_equal(gdb.out_len, 0);
	gdb.s.noisy = false;
}

/* Simulate work that takes @n times GTP_NUDGE_MS, and reports its progress. */
static void work_for_long(u32 n)
{
	while (n--) {
		gdb.now_ms += GTP_NUDGE_MS;
		gtp_stub_progress(&gdb.s, "working", n, n);
		gtp_stub_progress(&gdb.s, "working", n, n);
	}
}

static void disarm_for_long(struct fake *f, struct gtp_location *loc)
{
	work_for_long(5);
}

/* While a run takes a long time to end, a GDB that accepts no text gets bytes that it skips. */
static void an_end_that_takes_long(void **state)
{
	const u64 args[] = { 1 };

	start_run("R20X00000004,22001a27");
	gdb.f.while_disarming = disarm_for_long;
	assert_true(fake_call(&gdb.f, FAKE_LEAF, 1, args));
	fake_gdb_clear(&gdb);
	/* The worker ends the run. */
	assert_true(gtp_trace_settle(&gdb.f.trace));
	assert_string_equal(gdb.out, "+++++");
	/* The first packet after the hit ends the run, because the worker has not yet done so. */
	start_run("R20X00000004,22001a27");
	assert_true(fake_call(&gdb.f, FAKE_LEAF, 1, args));
	fake_gdb_clear(&gdb);
	fake_gdb_feed(&gdb, "$qC#b4", 6);
	assert_string_equal(gdb.out, "++++++$#00"); /* five bytes to skip, and the packet's ack */
	gdb.f.while_disarming = NULL;
	/* During a continue GDB waits without a timeout, so it gets no bytes to skip. */
	start_run("R20");
	ASK("c", "");
	fake_gdb_clear(&gdb);
	work_for_long(5);
	assert_int_equal(gdb.out_len, 0);
	fake_gdb_feed(&gdb, "\003", 1);
	ASK("QTStop", "OK");
}

static void console_while_waiting(void **state)
{
	start_run("R20");
	ASK("c", "");
	fake_gdb_clear(&gdb);
	gtp_stub_print(&gdb.s, "hello\n");
	assert_non_null(strstr(gdb.out, console("hello\n")));
	fake_gdb_clear(&gdb);
	fake_gdb_feed(&gdb, "\003", 1);
	assert_string_equal(gdb.out, "$S02#b5");
	/* The continue is over, so text for the console is kept for the next one. */
	fake_gdb_clear(&gdb);
	gtp_stub_print(&gdb.s, "hello\n");
	fake_gdb_feed(&gdb, "\003", 1);
	assert_int_equal(gdb.out_len, 0);
	assert_true(gtp_trace_running(&gdb.f.trace));
}

static void an_end_before_the_worker_came(void **state)
{
	const u64 args[] = { 1 };

	start_run("R20X00000004,22001a27");
	ASK("c", "");
	/* The hit ends the run. GDB's next packet arrives before the worker runs. */
	assert_true(fake_call(&gdb.f, FAKE_LEAF, 1, args));
	ask_begins("?", "O");
	assert_non_null(strstr(gdb.out, "|S05|S05"));
	assert_false(gdb.s.waiting);
	gtp_stub_trace_ended(&gdb.s);
	ASK("?", "S05");
}

static void a_dead_client_is_not_printed_to(void **state)
{
	start_run("R20");
	ASK("c", "");
	assert_int_equal(fake_gdb_reconnect(&gdb), 0);
	assert_false(gdb.s.waiting);
	assert_int_equal(gdb.f.trace.stop, GTP_STOP_DISCONNECTED);
	gtp_stub_trace_ended(&gdb.s);
	assert_int_equal(gdb.out_len, 0);
}

/* --- memory --- */

static void partial_reads_end_at_a_page(void **state)
{
	const char *got;

	got = fake_gdb_ask(&gdb, packetf("m%llx,20", FAKE_DATA_END - 8));
	assert_int_equal(strlen(got), 16);
	ASK(packetf("m%llx,20", FAKE_DATA_END), "E01");
	/* Two pages are mapped at FAKE_TEXT, and a reply has 8192 bytes at most. */
	got = fake_gdb_ask(&gdb, packetf("m%llx,4000", FAKE_TEXT));
	assert_int_equal(strlen(got), 2 * 8192);
	got = fake_gdb_ask(&gdb, packetf("m%llx,ffffffffffffffff", FAKE_TEXT + 4));
	assert_int_equal(strlen(got), 2 * (8192 - 4));
}

static void writes_when_they_are_allowed(void **state)
{
	gdb.allow_write = true;
	ASK(packetf("M%llx,4:01020304", FAKE_ARRAY), "OK");
	ASK(packetf("m%llx,4", FAKE_ARRAY), "01020304");
	ASK(packetf("X%llx,4:#$}*", FAKE_ARRAY), "OK");
	ASK(packetf("m%llx,4", FAKE_ARRAY), "23247d2a");
	ASK("M10,1:00", "E.cannot write 1 bytes at 0x10");
	ASK("M10,0:", "OK");
}

static void no_load_address(void **state)
{
	gdb.f.trace.text_start = 0;
	ASK("qOffsets", "");
	ASK("p10", "0000000000000000");
	/* Without the run-time address of _text, link-time addresses cannot be converted. */
	ASK("QTro:ffffffff81000000,ffffffff81001000", "OK");
	assert_int_equal(gdb.f.trace.nro, 0);
}

static void readonly_ranges(void **state)
{
	ASK("QTro:ffffffff81000000,ffffffff81001000:ffffffff82000000,ffffffff82000010", "OK");
	assert_int_equal(gdb.f.trace.nro, 2);
	assert_true(gdb.f.trace.ro[0].start == FAKE_TEXT);
	assert_true(gdb.f.trace.ro[1].end == FAKE_TEXT + 0x1000010);
	/*
	 * Ignored: distances too large or not a multiple of 2 MiB, addresses too low, empty ranges.
	 */
	ASK("QTro:ffffffff81001000,ffffffff81002000", "OK");
	assert_int_equal(gdb.f.trace.nro, 0);
	ASK("QTro:ffffffff41000000,ffffffff81002000", "OK");
	assert_int_equal(gdb.f.trace.nro, 0);
	ASK("QTro:ffffffffa1000000,ffffffffa1002000", "OK");
	assert_int_equal(gdb.f.trace.nro, 0);
	ASK("QTro:ffffffff81000000,ffffffff81000000", "OK");
	assert_int_equal(gdb.f.trace.nro, 0);
}

static void more_readonly_ranges_than_are_kept(void **state)
{
	char text[8192];
	int n = sprintf(text, "QTro:");

	for (u32 i = 0; i < 2 * GTP_RO_MAX; i++)
		n += sprintf(text + n, "%sffffffff81%02x0000,ffffffff81%02x1000", i ? ":" : "", i,
			     i);
	ASK(text, "OK");
	assert_int_equal(gdb.f.trace.nro, GTP_RO_MAX);
}

static void a_range_ends_a_read(void **state)
{
	const char *got;

	start_run("R20");
	assert_int_equal(fake_gdb_call(&gdb, "leaf 1"), 0);
	ASK("QTStop", "OK");
	ASK("QTro:ffffffff81000000,ffffffff81000010", "OK");
	ASK("QTFrame:0", "F0T1");
	got = fake_gdb_ask(&gdb, packetf("m%llx,20", FAKE_TEXT + 8));
	assert_int_equal(strlen(got), 16);
	ASK(packetf("m%llx,20", FAKE_TEXT + 16), "E01");
	/* The range is known to be code, but is no longer mapped. */
	fake_unmap(&gdb.f, FAKE_TEXT);
	ASK(packetf("m%llx,20", FAKE_TEXT + 8), "E01");
}

/* --- frames and definitions that are removed --- */

static void frames_go_with_a_run_of_another(void **state)
{
	struct gtp_why why;

	start_run("R20");
	assert_int_equal(fake_gdb_call(&gdb, "leaf 1"), 0);
	ASK("QTStop", "OK");
	ASK("QTFrame:0", "F0T1");
	gtp_trace_drop(&gdb.f.trace);
	ASK("p5", "xxxxxxxxxxxxxxxx");
	assert_int_equal(gdb.s.frame, -1);
	assert_int_equal(gtp_trace_start(&gdb.f.trace, &why), 0);
}

static void upload_survives_changes(void **state)
{
	ASK(packetf("QTDP:1:%llx:E:0:0", FAKE_LEAF), "OK");
	ASK(packetf("QTDP:2:%llx:E:0:0", FAKE_ADD), "OK");
	ASK("qTfP", packetf("T1:%llx:E:0:0", FAKE_LEAF));
	ASK("QTinit", "OK");
	ASK("qTsP", "l");
	ASK("qTfV", "1:0:1:6370755f6964");
	ASK("QTinit", "OK");
	ASK("qTsV", "1:0:1:6370755f6964");
}

static void gdb_leaves_in_the_middle_of_a_definition(void **state)
{
	start_run("R20");
	ASK("QTDisconnected:1", "OK");
	ASK(packetf("QTDP:2:%llx:E:0:0-", FAKE_ADD), "OK");
	assert_null(fake_armed(&gdb.f, FAKE_ADD));
	assert_int_equal(fake_gdb_reconnect(&gdb), 0);
	assert_non_null(fake_armed(&gdb.f, FAKE_ADD));
	assert_true(gtp_trace_running(&gdb.f.trace));
}

static void the_run_ends_in_the_middle_of_a_definition(void **state)
{
	start_run("R20");
	ASK(packetf("QTDP:2:%llx:E:0:0-", FAKE_ADD), "OK");
	ASK("QTStop", "OK");
	assert_null(gdb.f.trace.installing);
	/* QTStop completed the definition, so the tracepoint joined the run, which then ended. */
	assert_int_equal(gdb.f.armed, 0);
	ASK(packetf("QTDP:-2:%llx:R3", FAKE_ADD), "OK");
	ASK("QTinit", "OK");
	ASK("qTfP", "l");
}

static void set_note(const char *which, u32 digits, const char *want)
{
	static char text[6000];
	int n = sprintf(text, "QTNotes:%s:", which);

	memset(text + n, '6', digits);
	text[n + digits] = '\0';
	ASK(text, want);
}

/* The reply to qTStatus is complete even with three notes of the greatest length. */
static void long_notes(void **state)
{
	const char *got;

	set_note("user", 4002, "E.a note of 2001 characters is too long; 2000 are the most");
	start_run("R20");
	ASK("QTStop", "OK");
	set_note("user", 4000, "OK");
	set_note("notes", 4000, "OK");
	set_note("tstop", 4000, "OK");
	got = fake_gdb_ask(&gdb, "qTStatus");
	assert_in_range(strlen(got), 12000, 12400);
	assert_non_null(strstr(got, ";notes:6666"));
}

static void saves_where_told(void **state)
{
	static const char folder[] = "E.tsave -r takes a plain name, without '/'";
	char name[2 * GTP_SAVE_NAME_MAX + 3];

	ASK("QTSave:782e7466", "OK");
	assert_string_equal(gdb.saved, "x.tf");
	/* "/etc/x", "a/b", "..", "." */
	ask_begins("QTSave:2f6574632f78", folder);
	ask_begins("QTSave:612f62", folder);
	ask_begins("QTSave:2e2e", folder);
	ask_begins("QTSave:2e", folder);
	/* "..x" is a valid name. */
	ASK("QTSave:2e2e78", "OK");
	memset(name, '6', sizeof(name));
	name[2 * GTP_SAVE_NAME_MAX + 2] = '\0';
	ASK(packetf("QTSave:%s", name), "E.the file name is longer than 255 characters");
	ASK(packetf("QTSave:%s", name + 2), "OK");
}

static void monitor_of_the_machine(void **state)
{
	assert_non_null(strstr(fake_gdb_ask(&gdb, "qRcmd,66616b65"), "|OK"));
	assert_non_null(strstr(gdb.out, console("so it is\n")));
	/* "fake refuse", "fake fail" */
	assert_non_null(strstr(fake_gdb_ask(&gdb, "qRcmd,66616b6520726566757365"), "|E01"));
	assert_non_null(strstr(gdb.out, console("gdbtp: the fake machine refuses\n")));
	assert_non_null(strstr(fake_gdb_ask(&gdb, "qRcmd,66616b65206661696c"), "|E01"));
	assert_non_null(strstr(gdb.out, console("gdbtp: the command failed\n")));
}

/*
 * Check a switch after "monitor NAME @arg": it changes from @before to @after. A refusal names the
 * allowed words.
 */
static void switches(const char *arg, bool before, bool after, int err)
{
	struct gtp_why why = { "" };
	bool value = before;

	assert_int_equal(gtp_monitor_switch("jit", arg, &value, &why), err);
	assert_int_equal(value, after);
	if (err)
		assert_string_equal(why.text,
				    packetf("jit takes on, off or nothing, not '%s'", arg));
	else
		assert_string_equal(why.text, "");
}

static void switch_commands(void **state)
{
	static const char *const on[] = { "on", "yes", "Y", "1" };
	static const char *const off[] = { "off", "NO", "n", "0" };
	static const char *const bad[] = { "o", "of", "offf", "onion", "2", "on off", " on" };
	u32 i;

	for (i = 0; i < 2; i++)
		switches("", i, i, 0);
	for (i = 0; i < ARRAY_SIZE(on); i++) {
		switches(on[i], false, true, 0);
		switches(on[i], true, true, 0);
		switches(off[i], true, false, 0);
		switches(off[i], false, false, 0);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		switches(bad[i], false, false, -EINVAL);
		switches(bad[i], true, true, -EINVAL);
	}
	assert_string_equal(gtp_monitor_on_off(true), "on");
	assert_string_equal(gtp_monitor_on_off(false), "off");
}

static int save_error;

static int fail_to_save(void *ctx, const char *path, struct gtp_why *why)
{
	return save_error;
}

/* A refusal without a message is reported with the text of its errno. */
static void errors_without_words(void **state)
{
	static const struct {
		int err;
		const char *want;
	} rows[] = {
		{ -ENOMEM, "E.the kernel has no memory for it" },
		{ -EFAULT, "E.the memory cannot be accessed" },
		{ -EBUSY, "E.not while the trace is running; tstop first" },
		{ -ENOENT, "E.there is no such thing" },
		{ -EPERM, "E.not allowed" },
		{ -EOPNOTSUPP, "E.not supported" },
		{ -EINVAL, "E.the packet is malformed" },
	};
	struct gtp_stub_ops ops = *gdb.s.ops;

	ops.save = fail_to_save;
	gdb.s.ops = &ops;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		save_error = rows[i].err;
		ASK("QTSave:78", rows[i].want);
	}
}

static void a_module_goes_away(void **state)
{
	const char *text;

	start_run("R20");
	assert_int_equal(gtp_trace_forget_range(&gdb.f.trace, FAKE_MODULE, FAKE_MODULE + 4096), 1);
	fake_gdb_ask(&gdb, "qRcmd,737461747573");
	text = packetf("tracepoint 1 at 0x%llx: 0 hits, 0 bytes, enabled, gone with its module",
		       FAKE_LEAF);
	assert_non_null(strstr(gdb.out, console(text)));
	ASK("QTStop", "OK");
}

/* No frame number is larger than an int, in which GDB keeps it. */
static void more_frames_than_numbers(void **state)
{
	start_run("R20");
	gdb.f.trace.run.cpus[0]->buf.created = 1ULL << 31;
	fake_gdb_ask(&gdb, "qRcmd,737461747573");
	assert_non_null(strstr(
		gdb.out, console("numbered:  the oldest 2147483646; GDB counts no further\n")));
	gdb.f.trace.run.cpus[0]->buf.created = 0;
	ASK("QTStop", "OK");
}

/* Messages must not contain characters that framing would have to escape. */
static void words_need_no_escape(void **state)
{
	ASK("QTSave:2423207d2a7e0a78", "OK");
	ASK("QTSave:2423207d2a7e0a78", "E.. ).~.x is there already; take another name");
}

/* --- connection --- */

static void no_buffers_no_connection(void **state)
{
	static struct gtp_stub s;
	u32 n;

	for (n = 1; n <= 3; n++) {
		memset(&s, 0, sizeof(s));
		gdb.f.fail_alloc = gdb.f.allocs + n;
		assert_int_equal(gtp_stub_init(&s, &gdb.f.trace, gdb.s.ops, gdb.s.send, &gdb.f),
				 -ENOMEM);
		gdb.f.fail_alloc = 0;
	}
	memset(&s, 0, sizeof(s));
	assert_int_equal(gtp_stub_init(&s, &gdb.f.trace, gdb.s.ops, gdb.s.send, &gdb.f), 0);
	gtp_stub_exit(&s);
}

static const char *const whole_session[] = {
	"QTinit",
	"QTDP:1:ffffffffc0a000c0:E:0:0:X7,26000522072227-",
	"QTDP:-1:ffffffffc0a000c0:R20M-1,ffffffffc0a03000,8",
	"QTDP:-1:ffffffffc0a000c0:R20-",
	"QTDP:-1:ffffffffc0a000c0:X00000008,2c00402e00402927",
	"QTDPsrc:1:ffffffffc0a000c0:at:0:1:61",
	"QTDV:40:0000000000000007:0:6e",
	"QTNotes:user:61;notes:62;tstop:63;",
	"QTStart",
	"QTDP:2:ffffffffc0a00010:E:0:0-",
	"QTDP:-2:ffffffffc0a00010:R20",
	"qRcmd,737461747573",
	"QTStop",
	"QTFrame:0",
	"qTBuffer:0,100",
	"QTStart",
	"QTDP:3:ffffffffc0a00040:E:0:0-",
	"qTStatus",
};

/*
 * Every allocation of a session fails once: the reply is a message or OK, nothing leaks
 * (tear_down), and the session can continue.
 */
static void every_allocation_fails_once(void **state)
{
	u32 n, i, made;

	for (n = 1;; n++) {
		gdb.f.fail_alloc = gdb.f.allocs + n;
		for (i = 0; i < ARRAY_SIZE(whole_session); i++) {
			const char *got = fake_gdb_ask(&gdb, whole_session[i]);

			assert_true(*got == 'O' || *got == 'E' || *got == 'T' || *got == 'F' ||
				    *got == 'l' || gtp_hex_is(got, strlen(got)));
			if (!strcmp(got, "E01") || !strcmp(got, "E."))
				fail_msg("%s: %s says nothing", whole_session[i], got);
			fake_gdb_call(&gdb, "leaf 7");
		}
		made = gdb.f.allocs;
		ASK("QTinit", "OK");
		if (made < gdb.f.fail_alloc)
			break;
	}
	gdb.f.fail_alloc = 0;
	assert_true(n > 15);
	ask_begins("qTStatus", "T0;tnotrun:0");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(notices_wait_for_a_listener),
		T(long_text_takes_several_packets),
		T(too_many_notices),
		T(keep_alives),
		T(an_end_that_takes_long),
		T(console_while_waiting),
		T(an_end_before_the_worker_came),
		T(a_dead_client_is_not_printed_to),
		T(partial_reads_end_at_a_page),
		T(writes_when_they_are_allowed),
		T(no_load_address),
		T(readonly_ranges),
		T(more_readonly_ranges_than_are_kept),
		T(a_range_ends_a_read),
		T(frames_go_with_a_run_of_another),
		T(upload_survives_changes),
		T(gdb_leaves_in_the_middle_of_a_definition),
		T(the_run_ends_in_the_middle_of_a_definition),
		T(long_notes),
		T(saves_where_told),
		T(monitor_of_the_machine),
		T(switch_commands),
		T(errors_without_words),
		T(a_module_goes_away),
		T(more_frames_than_numbers),
		T(words_need_no_escape),
		T(no_buffers_no_connection),
		T(every_allocation_fails_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
