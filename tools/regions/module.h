/* SPDX-License-Identifier: GPL-2.0-only */
/* The decision that the module would make about an address if the live bytes equal the file's. */
#ifndef _RGN_MODULE_H
#define _RGN_MODULE_H

#include "regions/region.h"
#include "tools/regions/text.h"

/* struct rgn_module - the table that the module would load for an analysed image */
struct rgn_module {
	const struct rgn_text *text;
	u8 *bytes;
	struct gtp_table table;
};

/* rgn_module_init - make the table; @text must outlive it */
void rgn_module_init(struct rgn_module *m, const struct rgn_text *text);
void rgn_module_free(struct rgn_module *m);

/*
 * rgn_module_ask - call gtp_region_find() for an offset of a span that is in the module's table;
 * @only_falls: see struct gtp_region_ask
 */
enum gtp_region_verdict rgn_module_ask(const struct rgn_module *m, const struct rgn_span *span,
				       const struct rgn_function *f, u32 at, bool only_falls,
				       struct gtp_region *r);

#endif /* _RGN_MODULE_H */
