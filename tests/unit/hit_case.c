// SPDX-License-Identifier: GPL-2.0-only
/*
 * Common code for the tests of hits: a session with one variable and some memory, and a short
 * notation for tracepoints.
 */
#include <stdlib.h>
#include "hit_case.h"

const struct gtp_regs regs = {
	.rax = 0xa,
	.rbx = 0xb,
	.rdi = 0x2000,
	.rsi = 7,
	.rip = 0x1001,
	.cs = 0x10,
	.ss = 0x18,
	.eflags = 0xffffffff00000246,
	.rsp = 0x9000,
};

int setup(void **state)
{
	struct fake *f = calloc(1, sizeof(*f));
	struct gtp_why why;

	assert_int_equal(fake_init(f), 0);
	assert_int_equal(gtp_tsvs_define(&f->trace.run.tsvs, &f->mem, "46:0:0:78", &why), 0);
	memcpy(fake_map(f, 0x2000, NULL, 4096), "\x01\x02\x03\x04kernel\0tail", 16);
	*state = f;
	return 0;
}

int teardown(void **state)
{
	assert_int_equal(fake_exit(*state), 0);
	free(*state);
	return 0;
}

static size_t put_expr(char *text, const char *hex)
{
	return (size_t)sprintf(text, "X%zx,%s", strlen(hex) / 2, hex);
}

struct gtp_tracepoint *define(struct fake *f, const char *head, const char *cond, ...)
{
	char def[512], acts[1024] = "";
	size_t len = (size_t)sprintf(def, "%s", head);
	const char *a;
	va_list args;

	if (cond) {
		def[len++] = ':';
		put_expr(def + len, cond);
	}
	len = 0;
	va_start(args, cond);
	while ((a = va_arg(args, const char *))) {
		if (*a == 'R' || *a == 'M')
			len += (size_t)sprintf(acts + len, "%s", a);
		else
			len += put_expr(acts + len, a);
	}
	va_end(args);
	return fake_define(f, def, *acts ? acts : NULL);
}

void start(struct fake *f)
{
	struct gtp_why why = { "" };
	int rc = gtp_trace_start(&f->trace, &why);

	if (rc)
		print_message("%s\n", why.text);
	assert_int_equal(rc, 0);
}

void fire(struct fake *f, int times)
{
	while (times--)
		assert_true(fake_fire(f, 0x1000, &regs));
}

void expect_frames(struct fake *f, const char *want)
{
	gtp_trace_stop(&f->trace, GTP_STOP_USER);
	assert_string_equal(fake_frames(f), want);
}

void expect_end(struct fake *f, enum gtp_stop stop, u32 tp)
{
	assert_int_equal(f->stopping, 1);
	assert_true(gtp_trace_running(&f->trace));
	assert_true(gtp_trace_settle(&f->trace));
	assert_false(gtp_trace_settle(&f->trace));
	assert_int_equal(f->trace.stop, stop);
	assert_int_equal(f->trace.run.stop_tp, tp);
}

void expect_error(struct fake *f, u32 tp, const char *want)
{
	const struct gtp_failure *failure = &f->trace.run.failure;
	char text[160];

	expect_end(f, GTP_STOP_ERROR, tp);
	assert_int_equal(failure->tp, tp);
	assert_int_equal(gtp_failure_text(failure, text, sizeof(text)), (int)strlen(want));
	assert_string_equal(text, want);
}

s64 variable(struct fake *f)
{
	return f->trace.run.tsvs.slot[0x46]->value;
}
