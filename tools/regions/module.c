// SPDX-License-Identifier: GPL-2.0-only
/* Ask the module's code whether it would place a jump at an address of a file's code. */
#include <err.h>
#include <stdlib.h>
#include "tools/regions/mktable.h"
#include "tools/regions/module.h"

void rgn_module_init(struct rgn_module *m, const struct rgn_text *text)
{
	const char *why;
	u32 size;

	m->text = text;
	m->bytes = rgn_mktable_make(text, &size);
	if (gtp_table_open(&m->table, m->bytes, size, &why))
		errx(3, "%s: its table is wrong: %s", text->image->path, why);
}

void rgn_module_free(struct rgn_module *m)
{
	free(m->bytes);
}

/*
 * Return the number that a span has in the table, which contains only the spans of kind
 * RGN_SPAN_TEXT.
 */
static u32 number_of(const struct rgn_module *m, const struct rgn_span *span)
{
	const struct rgn_span *s;
	u32 n = 0;

	for (s = m->text->spans; s != span; s++)
		n += s->kind == RGN_SPAN_TEXT;
	return n;
}

enum gtp_region_verdict rgn_module_ask(const struct rgn_module *m, const struct rgn_span *span,
				       const struct rgn_function *f, u32 at, bool only_falls,
				       struct gtp_region *r)
{
	u32 start = rgn_function_start(span, f);
	struct gtp_region_ask ask = {
		.fn = span->bytes + start,
		.fn_size = f->size,
		.at = at - start,
		.table = &m->table,
		.span = number_of(m, span),
		.fn_offset = start,
		.only_falls = only_falls,
	};

	return gtp_region_find(&ask, r);
}
