// SPDX-License-Identifier: GPL-2.0-only
/* Gather the evidence: decode, kernel tables, relocations, constants, line table. */
#include "tools/regions/eh_frame.h"
#include "tools/regions/leaders.h"
#include "tools/regions/rows.h"
#include "tools/regions/sites.h"

struct scan {
	struct rgn_text *text;
	bool code; /* the relocated section is code */
};

static void each_reloc(void *ctx, const struct rgn_reloc *r)
{
	struct scan *scan = ctx;

	switch (r->type) {
	case R_X86_64_PC32:
	case R_X86_64_PLT32:
	case R_X86_64_PC64:
		/* The decode of code has these: it knows what the operand is relative to. */
		if (scan->code)
			return;
		break;
	case R_X86_64_64:
	case R_X86_64_32:
	case R_X86_64_32S:
	case R_X86_64_RELATIVE:
		break;
	default:
		return;
	}
	if (!rgn_sites_table_at(scan->text->image, r->place))
		rgn_text_mark(scan->text, r->value, RGN_LEADER_RELOC);
}

static void relocations(struct rgn_text *text)
{
	const struct rgn_image *image = text->image;
	u32 i;

	for (i = 1; i < image->sections_n; i++) {
		const struct rgn_section *rela = &image->sections[i], *target;
		struct scan scan = { .text = text };

		if (rela->type != SHT_RELA || !rela->bytes || rela->info >= image->sections_n)
			continue;
		target = &image->sections[rela->info];
		/* The dynamic linker's own table names no section. */
		if (rela->info && !(target->flags & SHF_ALLOC))
			continue;
		if (!rela->info && !(rela->flags & SHF_ALLOC))
			continue;
		if (rgn_sites_table_named(target->name))
			continue;
		scan.code = rgn_image_is_code(image, target);
		if (scan.code && !(rela->flags & SHF_ALLOC))
			text->relocations = true;
		rgn_image_relocs(image, rela, target, each_reloc, &scan);
	}
}

/* Without relocations every word of data whose value lies in code counts as an address. */
static void constants(struct rgn_text *text)
{
	const struct rgn_image *image = text->image;
	u32 i;

	for (i = 1; i < image->sections_n; i++) {
		const struct rgn_section *s = &image->sections[i];
		u64 at;

		if (!(s->flags & SHF_ALLOC) || rgn_image_is_code(image, s) || !s->bytes ||
		    s->type != SHT_PROGBITS || rgn_sites_table_named(s->name))
			continue;
		for (at = 0; at + 8 <= s->size; at += 8) {
			u64 value = gtp_get_le(s->bytes + at, 8);

			if (rgn_text_span(text, value) && !rgn_sites_table_at(image, s->addr + at))
				rgn_text_mark(text, value, RGN_LEADER_CONST);
		}
	}
}

void rgn_leaders_find(struct rgn_text *text, const struct rgn_image *image,
		      const struct rgn_image *debug, enum rgn_cpu cpu)
{
	rgn_text_init(text, image, cpu);
	rgn_sites_before(text);
	rgn_text_decode(text);
	rgn_sites_after(text);
	relocations(text);
	if (!text->relocations && image->absolute)
		constants(text);
	if (!image->kernel)
		rgn_eh_frame_mark(text);
	rgn_rows_mark(text, debug);
}
