// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests which tables of call frame information are accepted, and that no table is freed while a hit
 * may use it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "cfi_case.h"
#include "probe/user/frames.h"
#include <cmocka.h>

/* --- hits, and memory --- */

static const struct gtp_frames *shown; /* the table that hits find */
static const void *in_use; /* memory that a hit may still read: shown after the last wait */
static bool asleep;	   /* a hit in a program sleeps, so waiting does not help */
static u32 allocated, waits, fail_at;
static u64 most; /* bytes that a table may have now */

static void *get(void *ctx, size_t bytes)
{
	if (fail_at && !--fail_at)
		return NULL;
	allocated++;
	return calloc(1, bytes);
}

static void put(void *ctx, void *p)
{
	if (!p)
		return;
	assert_ptr_not_equal(p, in_use);
	allocated--;
	free(p);
}

static const struct gtp_mem mem = { get, put, NULL };

static void show(struct gtp_frames *f)
{
	assert_null(shown);
	/* Hits may begin at once, so all of it must be ready. */
	assert_ptr_equal(f->cfi.bytes, f->used);
	assert_int_equal(gtp_cfi_find(&f->cfi, CFI_CASE_PAGE).kind, GTP_CFI_SP);
	shown = f;
	in_use = f->used;
}

static void hide(struct gtp_frames *f)
{
	assert_ptr_equal(shown, f);
	shown = NULL;
}

static void wait(void)
{
	waits++;
	if (!shown && !asleep)
		in_use = NULL;
}

static u64 memory_most(void)
{
	return most;
}

static struct gtp_frames_all all = { &mem, show, hide, wait, memory_most, 0 };
static struct gtp_frames frames;
static struct cfi_case_file file;
static u8 build_id[40];
static struct gtp_frames_id id;
static struct gtp_why why;

static int clean(void **state)
{
	static const struct gtp_cfi_rule rule = { .kind = GTP_CFI_SP, .offset = 8 };
	static const struct cfi_case_row row = { CFI_CASE_PAGE, 0 };

	cfi_case_make(&file, &rule, 1, &row, 1);
	memset(build_id, 0xab, sizeof(build_id));
	id = (struct gtp_frames_id){ build_id, 20 };
	waits = 0;
	fail_at = 0;
	most = GTP_FRAMES_BYTES;
	asleep = false;
	return 0;
}

/* Forget the table, as at the end: nothing is left. */
static int end(void **state)
{
	asleep = false;
	if (gtp_frames_hide(&all, &frames))
		wait();
	gtp_frames_free(&all, &frames);
	assert_int_equal(allocated, 0);
	assert_true(all.bytes == 0);
	return 0;
}

static int send_part(u32 offset, u32 size, u32 n, bool busy)
{
	const struct gtp_part part = { offset, size, file.bytes + offset, n };

	return gtp_frames_put(&all, &frames, &part, &id, busy, &why);
}

static int send(bool busy)
{
	return send_part(0, file.len, file.len, busy);
}

static void refused(int err, int wanted, const char *words)
{
	assert_int_equal(err, wanted);
	if (!strstr(why.text, words))
		fail_msg("%s", why.text);
	assert_null(frames.bytes);
}

/* --- tests --- */

static void in_parts(void **state)
{
	u32 n, at;

	for (n = 1; n <= file.len; n++) {
		for (at = 0; at < file.len; at += n) {
			assert_int_equal(send_part(at, file.len,
						   n < file.len - at ? n : file.len - at, false),
					 0);
		}
		assert_ptr_equal(shown, &frames);
	}
	assert_true(all.bytes == file.len);
	assert_int_equal(waits, file.len - 1);
}

static void wrong_parts(void **state)
{
	refused(send_part(8, file.len, 4, false), -EINVAL, "do not follow");
	assert_int_equal(send_part(0, file.len, 8, false), 0);
	refused(send_part(9, file.len, 4, false), -EINVAL, "do not follow");
	refused(send_part(8, file.len, 4, false), -EINVAL, "do not follow");
	assert_int_equal(send_part(0, file.len, 8, false), 0);
	refused(send_part(8, file.len - 1, 4, false), -EINVAL, "do not follow");
	assert_int_equal(send_part(0, file.len, 8, false), 0);
	refused(send_part(8, file.len, file.len - 7, false), -EINVAL, "do not follow");
	refused(send_part(0, file.len, file.len + 1, false), -EINVAL, "do not follow");
	refused(send_part(0, GTP_CFI_HEAD - 1, 4, false), -EINVAL, "impossible");
	refused(send_part(0, GTP_CFI_BYTES + 1, 4, false), -EINVAL, "impossible");
	refused(send_part(0, ~0U, 4, false), -EINVAL, "impossible");
	assert_true(all.bytes == 0);
	/* A table may begin again. */
	assert_int_equal(send_part(0, file.len, 8, false), 0);
	assert_int_equal(send(false), 0);
	assert_ptr_equal(shown, &frames);
}

static void other_files(void **state)
{
	file.bytes[80] ^= 1;
	refused(send(false), -EINVAL, "checksum");
	file.bytes[80] ^= 1;
	build_id[19] ^= 1;
	refused(send(false), -EINVAL, "another build");
	build_id[19] ^= 1;
	id.bytes = 19;
	refused(send(false), -EINVAL, "another build");
	id.bytes = 0;
	refused(send(false), -EINVAL, "no build-id");
	/* A table for a file without a build-id does not match either. */
	file.bytes[16] = 0;
	cfi_case_seal(&file);
	refused(send(false), -EINVAL, "no build-id");
	assert_null(shown);
	/* The table has the first bytes of a long build-id. */
	file.bytes[16] = GTP_CFI_ID;
	memset(file.bytes + 17, 0xab, GTP_CFI_ID);
	cfi_case_seal(&file);
	id.bytes = 32;
	assert_int_equal(send(false), 0);
}

/* While a hit may sleep, the table in use stays. */
static void busy(void **state)
{
	static const struct gtp_frames_id other = { (const u8 *)"another build-id", 16 };

	assert_int_equal(send(true), 0);
	refused(send(true), -EBUSY, "tracepoints are in programs");
	assert_ptr_equal(shown, &frames);
	assert_true(gtp_frames_is_needed(&frames, true));
	assert_false(gtp_frames_is_needed(&frames, false));
	gtp_frames_check(&all, &frames, &id, true);
	assert_ptr_equal(shown, &frames);
	/* The file has changed: hits do not find the table any more, but it is still there. */
	asleep = true;
	gtp_frames_check(&all, &frames, &other, true);
	assert_null(shown);
	assert_true(gtp_frames_is_needed(&frames, true));
	gtp_frames_check(&all, &frames, &other, true);
	refused(send(true), -EBUSY, "tracepoints are in programs");
	asleep = false;
	gtp_frames_check(&all, &frames, &other, false);
	assert_null(frames.used);
	assert_int_equal(send(false), 0);
	assert_ptr_equal(shown, &frames);
}

static void limits(void **state)
{
	static struct gtp_frames many[8];
	struct gtp_part part = { 0, GTP_CFI_BYTES, file.bytes, 1 };
	u32 i;

	for (i = 0; i < 4; i++)
		assert_int_equal(gtp_frames_put(&all, &many[i], &part, &id, false, &why), 0);
	refused(send(false), -ENOSPC, "over 256 MiB");
	/* One that begins again has room where it was. */
	assert_int_equal(gtp_frames_put(&all, &many[3], &part, &id, false, &why), 0);
	for (i = 0; i < 4; i++)
		gtp_frames_free(&all, &many[i]);
	assert_int_equal(send(false), 0);
}

/* A table takes only a part of the memory that is free. The table that hits use stays. */
static void little_memory(void **state)
{
	assert_int_equal(send(false), 0);
	most = file.len - 1;
	refused(send(false), -ENOMEM, "available memory");
	assert_int_equal(allocated, 2);
	assert_ptr_equal(shown, &frames);
	most = file.len;
	assert_int_equal(send(false), 0);
}

static void no_memory(void **state)
{
	fail_at = 1;
	refused(send(false), -ENOMEM, "no memory");
	/* Without the room to remember rules, the table is used all the same. */
	fail_at = 2;
	assert_int_equal(send(false), 0);
	assert_null(frames.known);
	assert_int_equal(gtp_cfi_find(&shown->cfi, CFI_CASE_PAGE).kind, GTP_CFI_SP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(in_parts, clean, end),
		cmocka_unit_test_setup_teardown(wrong_parts, clean, end),
		cmocka_unit_test_setup_teardown(other_files, clean, end),
		cmocka_unit_test_setup_teardown(busy, clean, end),
		cmocka_unit_test_setup_teardown(limits, clean, end),
		cmocka_unit_test_setup_teardown(little_memory, clean, end),
		cmocka_unit_test_setup_teardown(no_memory, clean, end),
	};

	return cmocka_run_group_tests_name("frames", tests, NULL, NULL);
}
