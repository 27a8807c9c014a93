// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests the parser of the kernel's list of kprobes: it finds all entries wherever the text is
 * split, and notices hidden addresses.
 */
#include <setjmp.h>
#include <stdlib.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "probe/policy/debugfs_text.h"

enum { MAX = 16 };

struct found {
	u64 addr[MAX];
	u32 n;
	u32 limit;
};

static int take(void *ctx, const char *line, u32 len)
{
	struct found *f = ctx;

	assert_int_equal(strlen(line), len);
	if (f->n == f->limit)
		return -ENOMEM;
	f->addr[f->n++] = gtp_debugfs_probe(line, len);
	return 0;
}

/* Parse the text in pieces of @step bytes. Each piece is a heap copy of its exact size. */
static int feed(struct found *f, const char *text, size_t step)
{
	struct gtp_debugfs_text l = { .len = 0 };
	size_t left = strlen(text);
	int rc = 0;

	memset(f, 0, sizeof(*f));
	f->limit = MAX;
	while (left && !rc) {
		size_t n = left < step ? left : step;
		char *piece = malloc(n);

		memcpy(piece, text, n);
		rc = gtp_debugfs_feed(&l, piece, n, take, f);
		free(piece);
		text += n;
		left -= n;
	}
	return rc;
}

static const char list[] = "ffffffff8113ed30  k  vfs_read+0x10   \x20\n"
			   "ffffffff8113ed31  r  vfs_write+0x0    [DISABLED][FTRACE]\n"
			   "\n"
			   "ffffffffc0300000  k  beef+0x1c  btrfs [OPTIMIZED]\n";

static void addresses(void **state)
{
	struct found f;
	size_t step;

	for (step = 1; step <= sizeof(list); step++) {
		assert_int_equal(feed(&f, list, step), 0);
		assert_int_equal(f.n, 3);
		assert_true(f.addr[0] == 0xffffffff8113ed30);
		assert_true(f.addr[1] == 0xffffffff8113ed31);
		assert_true(f.addr[2] == 0xffffffffc0300000);
	}
}

static void secrets(void **state)
{
	static const char *const texts[] = {
		"0000000000000000  k  vfs_read+0x10    ",
		"(null)  k  vfs_read+0x10    ",
		"  ffffffff81000000  k",
		"ffffffff81000000",
		"ffffffff81000000k x",
		"",
		"(____ptrval____)  k  x+0x0",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		assert_int_equal(gtp_debugfs_probe(texts[i], (u32)strlen(texts[i])), 0);
}

static void long_lines(void **state)
{
	char text[3 * GTP_DEBUGFS_LINE];
	struct found f;

	memset(text, 'x', sizeof(text));
	memcpy(text, "1234 ", 5);
	memcpy(text + sizeof(text) - 7, "\n56 k\n", 7);
	assert_int_equal(feed(&f, text, 7), 0);
	assert_int_equal(f.n, 2);
	assert_int_equal(f.addr[0], 0x1234);
	assert_int_equal(f.addr[1], 0x56);
}

static void who_takes_them_may_give_up(void **state)
{
	struct gtp_debugfs_text l = { .len = 0 };
	struct found f = { .limit = 1 };

	assert_int_equal(gtp_debugfs_feed(&l, list, sizeof(list) - 1, take, &f), -ENOMEM);
	assert_int_equal(f.n, 1);
}

static bool range(const char *text, struct gtp_debugfs_range *r)
{
	return gtp_debugfs_range(text, (u32)strlen(text), r);
}

static void ranges(void **state)
{
	struct gtp_debugfs_range r;

	assert_true(range("0xffffffff81e00000-0xffffffff81e00010\tpreempt_schedule", &r));
	assert_true(r.start == 0xffffffff81e00000 && r.end == 0xffffffff81e00010);
	assert_int_equal(r.name, gtp_debugfs_hash("preempt_schedule.part.0"));
	assert_int_equal(r.name, gtp_debugfs_hash("preempt_schedule [module]"));
	assert_int_not_equal(r.name, gtp_debugfs_hash("preempt_schedul"));
	assert_false(range("0x0000000000000000-0x0000000000000000\tpreempt_schedule", &r));
	assert_false(range("ffffffff81e00000-0xffffffff81e00010\tx", &r));
	assert_false(range("0xffffffff81e00010-0xffffffff81e00000\tx", &r));
	assert_false(range("0xffffffff81e00000-0xffffffff81e00010", &r));
	assert_false(range("0xffffffff81e00000", &r));
	assert_false(range("", &r));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),  cmocka_unit_test(secrets),
		cmocka_unit_test(long_lines), cmocka_unit_test(who_takes_them_may_give_up),
		cmocka_unit_test(ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
