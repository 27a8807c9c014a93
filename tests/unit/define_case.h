/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common code for the tests of definitions: a list of tracepoints, and texts in the form of
 * packets.
 */
#ifndef _GTP_DEFINE_CASE_H
#define _GTP_DEFINE_CASE_H

#include <setjmp.h>
#include <stdlib.h>
#include "fake_target.h"
#include <cmocka.h>

struct world {
	struct fake f;
	struct gtp_tracepoints *list;
	struct gtp_mem *mem;
	struct gtp_why why;
	struct gtp_tracepoint *tp;
};

static inline int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_int_equal(fake_init(&w->f), 0);
	w->list = &w->f.trace.tps;
	w->mem = &w->f.mem;
	*state = w;
	return 0;
}

static inline int teardown(void **state)
{
	struct world *w = *state;

	assert_int_equal(fake_exit(&w->f), 0);
	free(w);
	return 0;
}

/* Define a tracepoint from a copy of exactly the text, so that ASan detects a read past its end. */
static inline int define(struct world *w, const char *text)
{
	char *copy = strdup(text);
	int rc;

	w->why.text[0] = '\0';
	rc = gtp_tracepoint_define(w->list, w->mem, copy, &w->tp, &w->why);
	free(copy);
	return rc;
}

static inline int act(struct world *w, const char *text)
{
	char *copy = strdup(text);
	int rc;

	w->why.text[0] = '\0';
	rc = gtp_tracepoint_add_actions(w->list, w->mem, copy, &w->why);
	free(copy);
	return rc;
}

#endif /* _GTP_DEFINE_CASE_H */
