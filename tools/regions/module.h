/* SPDX-License-Identifier: GPL-2.0-only */
/* Ask the module's code whether it would place a jump at an address of a file's code. */
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
 * rgn_module_ask - call gtp_region_find() for the offset @at of @span, which must be a span of kind
 * RGN_SPAN_TEXT; struct gtp_region_ask describes @only_falls
 */
enum gtp_region_verdict rgn_module_ask(const struct rgn_module *m, const struct rgn_span *span,
				       const struct rgn_function *f, u32 at, bool only_falls,
				       struct gtp_region *r);

#endif /* _RGN_MODULE_H */
