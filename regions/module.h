/* SPDX-License-Identifier: GPL-2.0-only */
/* What the module would decide of an address, were the file's bytes the live ones. */
#ifndef _GTP_MODULE_H
#define _GTP_MODULE_H

#include "regions/region.h"
#include "regions/text.h"

/* struct gtp_module - the module's view of an analysed image: the table, and nothing else */
struct gtp_module {
	const struct gtp_text *text;
	u8 *bytes;
	struct gtp_table table;
};

/* gtp_module_init - make the table; @text must outlive it */
void gtp_module_init(struct gtp_module *m, const struct gtp_text *text);
void gtp_module_free(struct gtp_module *m);

/* gtp_module_ask - gtp_region_find() for an offset of a span that the module's table has */
enum gtp_region_verdict gtp_module_ask(const struct gtp_module *m, const struct gtp_span *span,
				       const struct gtp_function *f, u32 at, struct gtp_region *r);

#endif /* _GTP_MODULE_H */
