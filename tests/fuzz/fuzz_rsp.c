// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzer of everything between a byte from GDB and a reply: framing, packets, definitions, runs.
 *
 * An input is a transcript like those in tests/sessions/, which are the seeds. The fuzzer adds
 * frames and checksums to the transcript's packets and sends them to the stub on the fake machine.
 * It skips lines that make no sense. A line that calls a function of the fixture makes hits.
 * Required for any input: no sanitizer complains, every reply is well framed, nothing leaks, and
 * the machine is left without a probe.
 */
#include <stdlib.h>

#include "fake_gdb.h"
#include "tools/dev/session.h"

static struct fake_gdb gdb;
static u32 read_pos;
static u32 checked;

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* Check one packet of the stub, which begins with '$'; return its end. */
static u32 check_frame(u32 i)
{
	char digits[3] = { 0 };
	u8 sum = 0;

	for (i++; gdb.out[i] != '#'; i++) {
		must(i < gdb.out_len);
		/*
		 * A packet must contain no '*', which begins a run-length code, and no '$', which
		 * begins a packet: GDB would misread the rest.
		 */
		must(gdb.out[i] != '*' && gdb.out[i] != '$');
		sum += (u8)gdb.out[i];
	}
	must(i + 2 < gdb.out_len);
	memcpy(digits, gdb.out + i + 1, 2);
	must(strtoul(digits, NULL, 16) == sum);
	return i + 3;
}

static void check_replies(void)
{
	if (gdb.lost) {
		gdb.lost = 0;
		read_pos = 0;
		checked = 0;
	}
	while (checked < gdb.out_len) {
		if (gdb.out[checked] == '$')
			checked = check_frame(checked);
		else
			must(strchr("+-", gdb.out[checked++]));
	}
}

static void forget(void)
{
	fake_gdb_clear(&gdb);
	read_pos = 0;
	checked = 0;
}

static int do_send(void *ctx, const void *bytes, size_t len)
{
	forget();
	fake_gdb_feed(&gdb, bytes, (u32)len);
	check_replies();
	return 0;
}

static int do_receive(void *ctx, bool wait)
{
	return read_pos < gdb.out_len ? (u8)gdb.out[read_pos++] : -1;
}

static int do_call(void *ctx, const char *what)
{
	int err = fake_gdb_call(&gdb, what);

	check_replies();
	return err;
}

static int do_reconnect(void *ctx)
{
	forget();
	return fake_gdb_reconnect(&gdb);
}

static unsigned long long do_symbol(void *ctx, const char *name)
{
	return fake_gdb_symbol(name);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const struct session_world world = {
		do_send, do_receive, do_call, do_reconnect, do_symbol, NULL,
	};

	if (!size)
		return 0;
	must(!fake_gdb_init(&gdb));
	gdb.allow_write = true;
	forget();
	session_play_wild(data, size, &world);
	must(!fake_gdb_exit(&gdb));
	return 0;
}
