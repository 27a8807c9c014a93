/* SPDX-License-Identifier: GPL-2.0-only */
/* Common code for the tests of runs: make a machine for each test, start a run, read its status. */
#ifndef _GTP_RUN_CASE_H
#define _GTP_RUN_CASE_H

#include <setjmp.h>
#include <stdlib.h>
#include "fake_target.h"
#include <cmocka.h>

static inline int setup(void **state)
{
	struct fake *f = calloc(1, sizeof(*f));

	assert_int_equal(fake_init(f), 0);
	*state = f;
	return 0;
}

static inline int teardown(void **state)
{
	assert_int_equal(fake_exit(*state), 0);
	free(*state);
	return 0;
}

static inline void start(struct fake *f)
{
	struct gtp_why why = { "" };

	assert_int_equal(gtp_trace_start(&f->trace, &why), 0);
	assert_string_equal(why.text, "");
}

/* status_has - true if qTStatus' reply contains @text; print the reply otherwise */
static inline bool status_has(struct fake *f, const char *text)
{
	bool has = strstr(fake_status(f), text);

	if (!has)
		print_message("%s\n", fake_status(f));
	return has;
}

#endif /* _GTP_RUN_CASE_H */
