// SPDX-License-Identifier: GPL-2.0-only
/* Finds every number in a packet that can be an address; a truncated packet does no harm. */
#include <setjmp.h>
#include <stdlib.h>
#include "tools/compile/fields.h"
#include <cmocka.h>

struct list {
	char text[1024];
	const char *packet;
};

static void add(void *ctx, enum field_kind kind, u32 at, u32 digits)
{
	struct list *l = ctx;
	size_t len = strlen(l->text);

	snprintf(l->text + len, sizeof(l->text) - len, "%c%u %.*s\n", kind, at,
		 (int)(kind == FIELD_TEXT ? 2 * digits : digits), l->packet + at);
}

static const char *found(const char *packet)
{
	static struct list l;

	l.text[0] = '\0';
	l.packet = packet;
	fields_find(packet, (u32)strlen(packet), add, &l);
	return l.text;
}

static void definitions(void **state)
{
	assert_string_equal(found("QTDP:1:ffffffff81001000:E:0:0-"), "n7 ffffffff81001000\n");
	/* 22 is const8, 24 const32, 25 const64, 27 the end. */
	assert_string_equal(found("QTDP:1:81:E:0:5:F5:X11,2222248100100027250011223344556677"),
			    "n7 81\no29 81001000\no41 0011223344556677\n");
	assert_string_equal(found("QTEnable:1:81"), "n11 81\n");
	assert_string_equal(found("QTDV:1:ffffffff81001000:0:61"), "n7 ffffffff81001000\n");
	assert_string_equal(found("QTinit"), "");
	assert_string_equal(found("QTro:81,82"), "");
	assert_string_equal(found("qRcmd,737472696374206f6e"), "");
}

static void actions(void **state)
{
	static const char packet[] =
		"QTDP:-1:81:Rffff8100M-1,ffffffff81002000,8M6,-8,4X6,248100100027-";

	assert_string_equal(found(packet), "n8 81\nn24 ffffffff81002000\no54 81001000\n");
}

static void sources(void **state)
{
	/* "*0xffffffff81001000", then "1234567 + abc" */
	assert_string_equal(found("QTDPsrc:1:81:at:0:13:2a307866666666666666663831303031303030"),
			    "n10 81\nt27 66666666666666663831303031303030\n");
	assert_string_equal(found("QTDPsrc:1:81:cond:0:d:31323334353637202b20616263"),
			    "n10 81\nt22 31323334353637\n");
}

/* Search a heap copy of the exact size, so that ASan detects a read past the end. */
static void cut(const char *packet)
{
	u32 n, len = (u32)strlen(packet);

	for (n = 0; n <= len; n++) {
		struct list l = { "", packet };
		char *copy = malloc(n ? n : 1);

		memcpy(copy, packet, n);
		fields_find(copy, n, add, &l);
		free(copy);
	}
}

static void cuts(void **state)
{
	cut("QTDP:1:81:E:0:5:F5:X11,2222248100100027250011223344556677");
	cut("QTDP:-1:81:Rffff8100M-1,ffffffff81002000,8M6,-8,4X6,248100100027-");
	cut("QTDPsrc:1:81:at:0:13:2a307866666666666666663831303031303030");
	cut("QTDP:-1:81:X4001,00");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(definitions),
		cmocka_unit_test(actions),
		cmocka_unit_test(sources),
		cmocka_unit_test(cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
