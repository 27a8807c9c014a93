// SPDX-License-Identifier: GPL-2.0-only
/*
 * A compiled session is read within its bounds, rejected if it is invalid, and its addresses are
 * relocated.
 */
#include <setjmp.h>
#include <stdlib.h>
#include "regions/table.h"
#include "tools/run/gtpd.h"
#include <cmocka.h>

/* A separate writer of the format, made from its description in the header file. */
struct file {
	u8 bytes[4096];
	u32 len;
};

static void put(struct file *f, u64 v, u32 n)
{
	gtp_put_le(f->bytes + f->len, v, n);
	f->len += n;
}

static void put_bytes(struct file *f, const void *bytes, u32 n)
{
	memcpy(f->bytes + f->len, bytes, n);
	f->len += n;
}

static u32 begin(struct file *f, u32 kind)
{
	put(f, kind, 4);
	put(f, 0, 4);
	return f->len;
}

static void end(struct file *f, u32 from)
{
	gtp_put_le(f->bytes + from - 4, f->len - from, 4);
}

static void put_text(struct file *f, u32 kind, const char *text)
{
	u32 from = begin(f, kind);

	put_bytes(f, text, (u32)strlen(text));
	end(f, from);
}

static void put_kernel(struct file *f, u8 id, const char *release)
{
	u32 from = begin(f, GTPD_KERNEL), i;

	put(f, 0xffffffff81000000, 8);
	put(f, 0xffffffff83000000, 8);
	put(f, 20, 1);
	for (i = 0; i < 20; i++)
		put(f, id, 1);
	put_bytes(f, release, (u32)strlen(release));
	end(f, from);
}

struct move {
	u32 at, digits, kind;
};

static void put_packet(struct file *f, const char *text, const struct move *moves, u32 n)
{
	u32 from = begin(f, GTPD_PACKET), i;

	put(f, n, 2);
	for (i = 0; i < n; i++) {
		put(f, moves[i].at, 2);
		put(f, moves[i].digits, 1);
		put(f, moves[i].kind, 1);
	}
	put_bytes(f, text, (u32)strlen(text));
	end(f, from);
}

static void seal(struct file *f)
{
	gtp_put_le(f->bytes + 8, f->len, 4);
	gtp_put_le(f->bytes + 12, gtp_table_crc(f->bytes + 16, f->len - 16), 4);
}

static void head(struct file *f)
{
	memset(f, 0, sizeof(*f));
	put_bytes(f, "GTPDEF\0\1", 8);
	f->len = 16;
}

static const char place[] = "QTDP:1:ffffffff81001000:E:0:0";
static const char text_place[] = "QTDPsrc:1:ffffffff81001000:at:0:9:66666666383130";

static void make(struct file *f)
{
	static const struct move one = { 7, 16, GTPD_NUMBER };
	static const struct move two[] = { { 10, 16, GTPD_NUMBER }, { 34, 7, GTPD_TEXT } };

	head(f);
	put_kernel(f, 0xab, "6.1.0-x");
	put_packet(f, "QTinit", NULL, 0);
	put_packet(f, place, &one, 1);
	put_packet(f, text_place, two, 2);
	put_text(f, GTPD_NAME, "name count_x\t\t\tadd");
	put_text(f, GTPD_KEY, "key_stack");
	put_kernel(f, 0xcd, "6.12");
	put_packet(f, "QTinit", NULL, 0);
	seal(f);
}

/* Open a heap copy of the exact size, so that ASan detects a read past the end. */
static const char *refusal(const void *bytes, u32 len)
{
	struct gtpd_error error = { 0 };
	u8 *copy = malloc(len ? len : 1);
	struct gtpd g;
	int err;

	memcpy(copy, bytes, len);
	err = gtpd_open(&g, copy, len, &error);
	free(copy);
	assert_int_equal(err, error.why ? -EINVAL : 0);
	return error.why;
}

static void reads(void **state)
{
	char packet[GTPD_PACKET_MAX + 1];
	struct gtpd_error error;
	struct gtpd_record r = { 0 };
	struct gtpd_part p = { 0 };
	struct file f;
	struct gtpd g;

	make(&f);
	assert_int_equal(gtpd_open(&g, f.bytes, f.len, &error), 0);
	assert_true(gtpd_next_part(&g, &p));
	assert_true(p.text == 0xffffffff81000000 && p.end == 0xffffffff83000000);
	assert_int_equal(p.id_len, 20);
	assert_int_equal(p.id[19], 0xab);
	assert_int_equal(p.release_len, 7);
	assert_memory_equal(p.release, "6.1.0-x", 7);
	assert_true(gtpd_next_of(&g, &p, GTPD_PACKET, &r));
	assert_int_equal(gtpd_packet(&r, 0x1000000, packet), 6);
	assert_string_equal(packet, "QTinit");
	assert_true(gtpd_next_of(&g, &p, GTPD_PACKET, &r));
	assert_int_equal(gtpd_packet(&r, 0x1e00000, packet), (int)strlen(place));
	assert_string_equal(packet, "QTDP:1:ffffffff82e01000:E:0:0");
	assert_true(gtpd_next_of(&g, &p, GTPD_PACKET, &r));
	assert_true(gtpd_packet(&r, 0x11, packet) > 0);
	assert_string_equal(packet, "QTDPsrc:1:ffffffff81001011:at:0:9:66666666383231");
	assert_false(gtpd_next_of(&g, &p, GTPD_PACKET, &r));
	r.bytes = NULL;
	assert_true(gtpd_next_of(&g, &p, GTPD_KEY, &r));
	assert_memory_equal(r.bytes, "key_stack", r.len);
	assert_false(gtpd_next_of(&g, &p, GTPD_KEY, &r));
	assert_true(gtpd_next_part(&g, &p));
	assert_int_equal(p.id[0], 0xcd);
	assert_false(gtpd_next_part(&g, &p));
}

static void every_cut_is_refused(void **state)
{
	struct file f;
	u32 n, real;

	make(&f);
	real = f.len;
	assert_null(refusal(f.bytes, real));
	for (n = 0; n < real; n++) {
		assert_non_null(refusal(f.bytes, n));
		/* The cut file with a correct size and checksum must be read within its bounds. */
		make(&f);
		f.len = n;
		if (n >= 16)
			seal(&f);
		refusal(f.bytes, n);
		make(&f);
	}
}

static void every_bit_is_checked(void **state)
{
	struct file f;
	u32 bit;

	make(&f);
	for (bit = 0; bit < 8 * f.len; bit++) {
		f.bytes[bit / 8] ^= (u8)(1 << bit % 8);
		assert_non_null(refusal(f.bytes, f.len));
		/*
		 * With a correct checksum, the file may be valid. It must be read within its
		 * bounds.
		 */
		seal(&f);
		refusal(f.bytes, f.len);
		f.bytes[bit / 8] ^= (u8)(1 << bit % 8);
		seal(&f);
	}
	assert_null(refusal(f.bytes, f.len));
}

static const char *packet_refusal(const char *text, u32 at, u32 digits, u32 kind)
{
	const struct move one = { at, digits, kind };
	struct file f;

	head(&f);
	put_kernel(&f, 1, "x");
	put_packet(&f, text, &one, digits ? 1 : 0);
	seal(&f);
	return refusal(f.bytes, f.len);
}

static void only_definitions(void **state)
{
	static const char *const others[] = {
		"",    "QTStart", "QTStop", "QTSave:2f", "M0,1:00",    "k",	  "QTFrame:0",
		"QTD", "vRun",	  "g",	    "QTinit#00", "QTinit\x03", "QTinit}", "QTDP:1\xff",
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		assert_non_null(packet_refusal(others[i], 0, 0, 0));
	assert_null(packet_refusal("QTBuffer:size:-1", 0, 0, 0));
	assert_null(packet_refusal("qRcmd,00", 0, 0, 0));
	assert_null(packet_refusal("qRcmd,", 0, 0, 0));
	assert_null(packet_refusal("qRcmd,6e6f747261636", 0, 0, 0));
	assert_non_null(packet_refusal("qRcmd,6e6f7472616365206f6e", 0, 0, 0));
	assert_non_null(packet_refusal("qRcmd,20206E6F7472616365206f6e", 0, 0, 0));
}

static void relocations_are_at_numbers(void **state)
{
	assert_null(packet_refusal(place, 7, 16, GTPD_NUMBER));
	assert_non_null(packet_refusal(place, 6, 16, GTPD_NUMBER));
	assert_non_null(packet_refusal(place, 8, 16, GTPD_NUMBER));
	assert_non_null(packet_refusal(place, 7, 17, GTPD_NUMBER));
	assert_non_null(packet_refusal(place, 7, 16, GTPD_RELOCATION_KINDS));
	assert_non_null(packet_refusal(place, 65535, 1, GTPD_NUMBER));
	assert_non_null(packet_refusal(place, (u32)strlen(place), 1, GTPD_NUMBER));
	assert_null(packet_refusal(place, (u32)strlen(place) - 1, 1, GTPD_NUMBER));
	assert_non_null(packet_refusal(place, 7, 16, GTPD_TEXT));
}

static int moved(const char *text, u32 at, u32 digits, u32 kind, u64 distance, char *to)
{
	const struct move one = { at, digits, kind };
	struct gtpd_record r = { 0 };
	struct gtpd_error error;
	struct gtpd_part p = { 0 };
	struct file f;
	struct gtpd g;

	head(&f);
	put_kernel(&f, 1, "x");
	put_packet(&f, text, &one, 1);
	seal(&f);
	assert_int_equal(gtpd_open(&g, f.bytes, f.len, &error), 0);
	assert_true(gtpd_next_part(&g, &p));
	assert_true(gtpd_next_of(&g, &p, GTPD_PACKET, &r));
	return gtpd_packet(&r, distance, to);
}

static void numbers_keep_their_digits(void **state)
{
	char to[GTPD_PACKET_MAX + 1];

	assert_int_equal(moved("QTDP:1:f0:E", 7, 2, GTPD_NUMBER, 0xf, to), 11);
	assert_string_equal(to, "QTDP:1:ff:E");
	assert_int_equal(moved("QTDP:1:f0:E", 7, 2, GTPD_NUMBER, 0x10, to), -ERANGE);
	assert_int_equal(moved("QTDP:1:f0:E", 7, 2, GTPD_NUMBER, 0x100, to), -ERANGE);
	assert_int_equal(moved("QTDP:1:f0:E", 7, 2, GTPD_NUMBER, -0xf0ULL, to), 11);
	assert_string_equal(to, "QTDP:1:00:E");
	assert_int_equal(moved("QTDP:1:f0:E", 7, 2, GTPD_NUMBER, -0xf1ULL, to), -ERANGE);
	assert_int_equal(moved("QTDP:1:f0:E", 7, 2, GTPD_NUMBER, -0x1f0ULL, to), -ERANGE);
	/* Relocation must not change the sign of a constant. */
	assert_int_equal(moved("QTDP:1:70:E", 7, 2, GTPD_OPERAND, 0xf, to), 11);
	assert_int_equal(moved("QTDP:1:70:E", 7, 2, GTPD_OPERAND, 0x10, to), -ERANGE);
	assert_int_equal(moved("QTDP:1:ffffffffffffffff:E", 7, 16, GTPD_NUMBER, 1, to), -ERANGE);
	assert_int_equal(moved("QTDP:1:fffffffffffffffe:E", 7, 16, GTPD_NUMBER, 1, to), 25);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads),
		cmocka_unit_test(every_cut_is_refused),
		cmocka_unit_test(every_bit_is_checked),
		cmocka_unit_test(only_definitions),
		cmocka_unit_test(relocations_are_at_numbers),
		cmocka_unit_test(numbers_keep_their_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
