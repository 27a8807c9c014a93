// SPDX-License-Identifier: GPL-2.0-only
/* Gather the evidence: decode, kernel tables, relocations, constants, line table. */
#include "regions/landing.h"
#include "regions/leaders.h"
#include "regions/rows.h"
#include "regions/sites.h"

struct scan {
	struct gtp_text *text;
	bool code; /* what the relocations change is code */
};

static void each_reloc(void *ctx, const struct gtp_reloc *r)
{
	struct scan *scan = ctx;

	switch (r->type) {
	case R_X86_64_PC32:
	case R_X86_64_PLT32:
	case R_X86_64_PC64:
		/* In code the decode has seen the operand, and knows where it counts from. */
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
	if (!gtp_sites_table_at(scan->text->image, r->place))
		gtp_text_mark(scan->text, r->value, GTP_LEADER_RELOC);
}

static void relocations(struct gtp_text *text)
{
	const struct gtp_image *image = text->image;
	u32 i;

	for (i = 1; i < image->sections_n; i++) {
		const struct gtp_section *rela = &image->sections[i], *target;
		struct scan scan = { .text = text };

		if (rela->type != SHT_RELA || !rela->bytes || rela->info >= image->sections_n)
			continue;
		target = &image->sections[rela->info];
		/* The dynamic linker's own table names no section. */
		if (rela->info && !(target->flags & SHF_ALLOC))
			continue;
		if (!rela->info && !(rela->flags & SHF_ALLOC))
			continue;
		if (gtp_sites_table_named(target->name))
			continue;
		scan.code = target->flags & SHF_EXECINSTR;
		if (scan.code && !(rela->flags & SHF_ALLOC))
			text->relocations = true;
		gtp_image_relocs(image, rela, target, each_reloc, &scan);
	}
}

/* Without relocations an address in data is a word whose value lies in code. */
static void constants(struct gtp_text *text)
{
	const struct gtp_image *image = text->image;
	u32 i;

	for (i = 1; i < image->sections_n; i++) {
		const struct gtp_section *s = &image->sections[i];
		u64 at;

		if (!(s->flags & SHF_ALLOC) || s->flags & SHF_EXECINSTR || !s->bytes ||
		    s->type != SHT_PROGBITS || gtp_sites_table_named(s->name))
			continue;
		for (at = 0; at + 8 <= s->size; at += 8) {
			u64 value = gtp_get_le(s->bytes + at, 8);

			if (gtp_text_span(text, value) && !gtp_sites_table_at(image, s->addr + at))
				gtp_text_mark(text, value, GTP_LEADER_CONST);
		}
	}
}

void gtp_leaders_find(struct gtp_text *text, const struct gtp_image *image,
		      const struct gtp_image *debug, enum gtp_cpu cpu)
{
	gtp_text_init(text, image, cpu);
	gtp_sites_before(text);
	gtp_text_decode(text);
	gtp_sites_after(text);
	relocations(text);
	if (!text->relocations && image->absolute)
		constants(text);
	if (!image->kernel)
		gtp_landing_mark(text);
	gtp_rows_mark(text, debug);
}
