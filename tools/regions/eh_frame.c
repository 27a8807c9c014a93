// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read .eh_frame. An FDE contains the bounds of the code and may point to an exception table
 * (LSDA), whose call-site records contain the landing pads.
 */
#include <dwarf.h>
#include <stdlib.h>
#include "tools/regions/eh_frame.h"

/* Mark the landing pads in a function's exception table; return false if it cannot be read. */
static bool mark_pads(struct rgn_text *text, u64 lsda, u64 start)
{
	const struct rgn_section *s = rgn_image_section_at(text->image, lsda);
	struct rgn_data data;
	struct rgn_place at;
	const u8 *end;
	u8 encoding;
	u64 base, len;

	if (!s)
		return false;
	data = (struct rgn_data){ s->bytes, s->size, s->addr };
	at = rgn_fde_place(&data, lsda - s->addr);
	encoding = (u8)rgn_read(&at.in, 1);
	base = encoding == DW_EH_PE_omit ? start : rgn_fde_pointer(&at, encoding);
	if (rgn_read(&at.in, 1) != DW_EH_PE_omit)
		rgn_read_leb(&at.in, false);
	encoding = (u8)rgn_read(&at.in, 1);
	len = rgn_read_leb(&at.in, false);
	if (at.in.failed || len > rgn_read_left(&at.in))
		return false;
	for (end = at.in.p + len; at.in.p < end && !at.in.failed;) {
		u64 pad;

		rgn_fde_pointer(&at, encoding);
		rgn_fde_pointer(&at, encoding);
		pad = rgn_fde_pointer(&at, encoding);
		rgn_read_leb(&at.in, false);
		if (pad && !at.in.failed)
			rgn_text_mark(text, base + pad, RGN_LEADER_LANDING);
	}
	return !at.in.failed;
}

/* struct added - the FDEs that have been found; there is memory for @room of them */
struct added {
	struct rgn_text *text;
	u32 room;
};

static void add(void *ctx, const struct rgn_fde *fde)
{
	struct added *added = ctx;
	struct rgn_text *text = added->text;
	struct rgn_fde *more;

	if (text->fdes_n == added->room) {
		added->room = added->room ? 2 * added->room : 1024;
		more = rgn_alloc(added->room, sizeof(*more));
		if (text->fdes_n)
			memcpy(more, text->fdes, text->fdes_n * sizeof(*more));
		free(text->fdes);
		text->fdes = more;
	}
	text->fdes[text->fdes_n++] = *fde;
}

static int order(const void *a, const void *b)
{
	const struct rgn_fde *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

void rgn_eh_frame_read(struct rgn_text *text)
{
	const struct rgn_section *s = rgn_image_section(text->image, ".eh_frame");
	struct added added = { .text = text };

	struct rgn_data data;

	if (!s || !s->bytes)
		return;
	data = (struct rgn_data){ s->bytes, s->size, s->addr };
	rgn_fde_each(&data, add, &added);
	if (text->fdes_n)
		qsort(text->fdes, text->fdes_n, sizeof(*text->fdes), order);
}

const struct rgn_fde *rgn_eh_frame_find(const struct rgn_text *text, u64 start)
{
	struct rgn_fde key = { .start = start };

	if (!text->fdes_n)
		return NULL;
	return bsearch(&key, text->fdes, text->fdes_n, sizeof(key), order);
}

void rgn_eh_frame_mark(struct rgn_text *text)
{
	u32 i;

	for (i = 0; i < text->fdes_n; i++) {
		const struct rgn_fde *fde = &text->fdes[i];
		struct rgn_span *span = rgn_text_span(text, fde->start);

		if (fde->lsda && span && !mark_pads(text, fde->lsda, fde->start))
			rgn_text_function(span, fde->start)->flags |= RGN_FN_LANDING;
	}
}
