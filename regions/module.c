// SPDX-License-Identifier: GPL-2.0-only
/* Ask the module's own code, with the table that it would be given. */
#include <err.h>
#include <stdlib.h>
#include "regions/mktable.h"
#include "regions/module.h"

void gtp_module_init(struct gtp_module *m, const struct gtp_text *text)
{
	const char *why;
	u32 size;

	m->text = text;
	m->bytes = gtp_mktable_make(text, &size);
	if (gtp_table_open(&m->table, m->bytes, size, &why))
		errx(3, "%s: its table is wrong: %s", text->image->path, why);
}

void gtp_module_free(struct gtp_module *m)
{
	free(m->bytes);
}

/* The table has the spans of code that stays, in the same order. */
static u32 number_of(const struct gtp_module *m, const struct gtp_span *span)
{
	const struct gtp_span *s;
	u32 n = 0;

	for (s = m->text->spans; s != span; s++)
		n += s->kind == GTP_SPAN_TEXT;
	return n;
}

enum gtp_region_verdict gtp_module_ask(const struct gtp_module *m, const struct gtp_span *span,
				       const struct gtp_function *f, u32 at, struct gtp_region *r)
{
	u32 start = (u32)(f->addr - span->addr);
	struct gtp_region_ask ask = {
		.fn = span->bytes + start,
		.fn_size = f->size,
		.at = at - start,
		.table = &m->table,
		.span = number_of(m, span),
		.fn_offset = start,
	};

	return gtp_region_find(&ask, r);
}
