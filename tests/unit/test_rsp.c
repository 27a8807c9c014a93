// SPDX-License-Identifier: GPL-2.0-only
/* Tests the framing of packets: replies to right and wrong input, however the input is split. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>
#include "transport/rsp.h"

/* The framing under test. It delivers packets as "[text]" and ^C as "^", and sends bytes. */
static struct gtp_rsp rsp;
static char in[GTP_PACKET_MAX + 1];
static u8 last[GTP_RSP_FRAME_MAX];
static char up[65536], down[4 * GTP_RSP_FRAME_MAX];
static u32 up_len, down_len;
static const char *answer; /* the reply to each packet, NULL: none */
static bool go_no_ack;

static void add_up(const void *bytes, u32 len)
{
	assert_true(up_len + len < sizeof(up));
	memcpy(up + up_len, bytes, len);
	up_len += len;
	up[up_len] = '\0';
}

static void packet(void *ctx, char *data, u32 len)
{
	assert_ptr_equal(ctx, &rsp);
	assert_int_equal(data[len], '\0');
	add_up("[", 1);
	add_up(data, len);
	add_up("]", 1);
	if (go_no_ack)
		gtp_rsp_start_no_ack(&rsp);
	if (answer)
		gtp_rsp_reply(&rsp, answer, (u32)strlen(answer));
}

static void interrupt(void *ctx)
{
	assert_ptr_equal(ctx, &rsp);
	add_up("^", 1);
}

static void sent(void *ctx, const void *bytes, u32 len)
{
	assert_ptr_equal(ctx, &rsp);
	assert_true(down_len + len < sizeof(down));
	memcpy(down + down_len, bytes, len);
	down_len += len;
	down[down_len] = '\0';
}

static const struct gtp_rsp_ops ops = { packet, interrupt, sent };

static void clear(void)
{
	up_len = 0;
	up[0] = '\0';
	down_len = 0;
	down[0] = '\0';
}

static int fresh(void **state)
{
	clear();
	answer = NULL;
	go_no_ack = false;
	gtp_rsp_init(&rsp, &ops, &rsp, in, last);
	return 0;
}

static void feed_bytes(const void *bytes, u32 len)
{
	/* Pass a copy of the exact size, so that ASan detects a read past the end. */
	u8 *copy = malloc(len ? len : 1);

	memcpy(copy, bytes, len);
	gtp_rsp_feed(&rsp, copy, len);
	free(copy);
}

static void feed(const char *text)
{
	feed_bytes(text, (u32)strlen(text));
}

static void expect(const char *want_up, const char *want_down)
{
	assert_string_equal(up, want_up);
	assert_string_equal(down, want_down);
	clear();
}

static void whole_packet(void **state)
{
	answer = "S05";
	feed("$?#3f");
	expect("[?]", "+$S05#b8");
}

static void empty_packet_and_reply(void **state)
{
	answer = "";
	feed("$#00");
	expect("[]", "+$#00");
}

static void checksum_in_capitals(void **state)
{
	feed("$jj#D4$jk#d5");
	expect("[jj][jk]", "++");
}

/* The checksum of the second packet is wrong. The '-' asks for the last reply again. */
static void every_split(void **state)
{
	static const char text[] = "+$qC#b4\x03$a}\x03z#7b-$m0,1#fa";
	u32 n = sizeof(text) - 1;

	answer = "OK";
	for (u32 i = 0; i <= n; i++) {
		for (u32 j = i; j <= n; j++) {
			fresh(NULL);
			answer = "OK";
			feed_bytes(text, i);
			feed_bytes(text + i, j - i);
			feed_bytes(text + j, n - j);
			expect("[qC]^[m0,1]", "+$OK#9a-$OK#9a+$OK#9a");
		}
	}
}

static void escapes_in(void **state)
{
	/* }\x03 is '#', }] is '}', }\x04 is '$', }\n is '*' */
	feed("$X}\x03}]}\x04}\n#ba");
	expect("[X#}$*]", "+");
}

static void interrupt_inside_is_data(void **state)
{
	feed("$a\x03z#de\x03");
	expect("[a\x03z]^", "+");
}

static void nul_bytes_pass(void **state)
{
	static const u8 bytes[] = { '$', 'a', 0, 'b', '#', 'c', '3' };

	feed_bytes(bytes, sizeof(bytes));
	assert_int_equal(up_len, 5);
	assert_memory_equal(up, "[a\0b]", 5);
}

static void bad_checksum_is_refused(void **state)
{
	feed("$?#3e");
	expect("", "-");
	feed("$?#zz");
	expect("", "-");
	feed("$?#3z");
	expect("", "-");
	assert_int_equal(rsp.bad_sums, 3);
	feed("$?#3f");
	expect("[?]", "+");
}

static void bad_checksum_without_acks(void **state)
{
	rsp.no_ack = true;
	feed("$?#3e$?#3f");
	assert_string_equal(up, "[?]");
	assert_ptr_equal(strstr(down, "$E.packet with a wrong checksum"), down);
}

static void restart_inside(void **state)
{
	feed("$QTSta$?#3f");
	expect("[?]", "+");
	feed("$QTStart#b$?#3f");
	expect("[?]", "+");
	feed("$QTStart#$?#3f");
	expect("[?]", "+");
}

static void hash_ends_even_after_escape(void **state)
{
	feed("$a}#de");
	expect("[a]", "+");
}

static void noise_between_packets(void **state)
{
	feed("hello#00}}\n$?#3f\x80\xff+-*");
	expect("[?]", "+");
}

static void nak_resends_the_last_reply(void **state)
{
	feed("-");
	expect("", "");
	answer = "T0";
	feed("$?#3f-+--");
	expect("[?]", "+$T0#84$T0#84$T0#84$T0#84");
}

static void no_ack_begins_after_the_ack(void **state)
{
	answer = "OK";
	go_no_ack = true;
	feed("$QStartNoAckMode#b0");
	expect("[QStartNoAckMode]", "+$OK#9a");
	go_no_ack = false;
	/* GDB has not got the reply to QStartNoAckMode: acks are still on, and '-' repeats it. */
	feed("-");
	expect("", "$OK#9a");
	feed("+$?#3f-$?#3f");
	expect("[?][?]", "$OK#9a$OK#9a");
}

static void no_ack_begins_with_a_packet(void **state)
{
	answer = "OK";
	go_no_ack = true;
	feed("$QStartNoAckMode#b0");
	clear();
	go_no_ack = false;
	feed("$?#3f");
	expect("[?]", "$OK#9a");
}

static void feed_long(u32 n)
{
	static char text[2 * GTP_PACKET_MAX];
	u8 sum = 0;

	text[0] = '$';
	for (u32 i = 0; i < n; i++) {
		text[1 + i] = (char)('a' + i % 26);
		sum += (u8)text[1 + i];
	}
	snprintf(text + 1 + n, 4, "#%02x", sum);
	feed_bytes(text, n + 4);
}

static void longest_packet(void **state)
{
	feed_long(GTP_PACKET_MAX);
	assert_int_equal(up_len, GTP_PACKET_MAX + 2);
	assert_string_equal(down, "+");
	assert_int_equal(rsp.overlong, 0);
}

static void over_long_keeps_sync(void **state)
{
	for (u32 n = GTP_PACKET_MAX + 1; n < GTP_PACKET_MAX + 4; n++) {
		feed_long(n);
		assert_string_equal(up, "");
		assert_ptr_equal(strstr(down, "+$E.packet longer than 16384 bytes#"), down);
		clear();
		feed("$?#3f");
		expect("[?]", "+");
	}
	assert_int_equal(rsp.overlong, 3);
}

static void reply_escapes(void **state)
{
	gtp_rsp_reply(&rsp, "a#b$c}d*e", 9);
	assert_string_equal(down, "$a}\003b}\004c}]d}\ne#51");
}

static void longest_reply_all_escaped(void **state)
{
	static char data[GTP_PACKET_MAX + 100];

	memset(data, '}', sizeof(data));
	gtp_rsp_reply(&rsp, data, GTP_PACKET_MAX);
	assert_int_equal(down_len, 2 * GTP_PACKET_MAX + 4);
	clear();
	/* A reply that is too long is truncated, not written past the buffer. */
	gtp_rsp_reply(&rsp, data, sizeof(data));
	assert_int_equal(down_len, 2 * GTP_PACKET_MAX + 4);
}

/* The framing must be able to read the packets that it makes: all byte values, random lengths. */
static void round_trip(void **state)
{
	static u8 data[600];
	unsigned int seed = 20260;

	for (u32 i = 0; i < 2000; i++) {
		u32 n = (u32)rand_r(&seed) % sizeof(data);
		u32 frame_len;
		static u8 wire[2 * sizeof(data) + 4];

		for (u32 k = 0; k < n; k++)
			data[k] = (u8)((u32)rand_r(&seed) >> 8);
		fresh(NULL);
		gtp_rsp_reply(&rsp, data, n);
		frame_len = down_len;
		memcpy(wire, down, frame_len);
		clear();
		feed_bytes(wire, frame_len);
		assert_int_equal(up_len, n + 2);
		assert_memory_equal(up + 1, data, n);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, fresh)
	const struct CMUnitTest tests[] = {
		T(whole_packet),
		T(empty_packet_and_reply),
		T(checksum_in_capitals),
		T(every_split),
		T(escapes_in),
		T(interrupt_inside_is_data),
		T(nul_bytes_pass),
		T(bad_checksum_is_refused),
		T(bad_checksum_without_acks),
		T(restart_inside),
		T(hash_ends_even_after_escape),
		T(noise_between_packets),
		T(nak_resends_the_last_reply),
		T(no_ack_begins_after_the_ack),
		T(no_ack_begins_with_a_packet),
		T(longest_packet),
		T(over_long_keeps_sync),
		T(reply_escapes),
		T(longest_reply_all_escaped),
		T(round_trip),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
