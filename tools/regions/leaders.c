// SPDX-License-Identifier: GPL-2.0-only
/* Find where control may arrive, from code, the kernel's tables, relocations and the line table. */
#include "tools/regions/eh_frame.h"
#include "tools/regions/functions.h"
#include "tools/regions/leaders.h"
#include "tools/regions/rows.h"
#include "tools/regions/sites.h"
#include "tools/regions/switch.h"

#ifndef SHT_RELR
#define SHT_RELR 19
#endif

struct scan {
	struct rgn_text *text;
	bool code; /* the section to which the relocations apply is code */
};

static void each_reloc(void *ctx, const struct rgn_reloc *r)
{
	struct scan *scan = ctx;

	switch (r->type) {
	case R_X86_64_PC32:
	case R_X86_64_PLT32:
	case R_X86_64_PC64:
		/* The decoder has already marked the targets of relative operands in code. */
		if (scan->code)
			return;
		break;
	case R_X86_64_64:
	case R_X86_64_32:
	case R_X86_64_32S:
	case R_X86_64_RELATIVE:
	case R_X86_64_IRELATIVE:
		break;
	default:
		return;
	}
	if (!rgn_sites_table_at(scan->text->image, r->place))
		rgn_text_mark(scan->text, r->value, RGN_LEADER_RELOC);
}

/* Mark the address that is stored at @place and that the dynamic linker adjusts. */
static void mark_stored(struct rgn_text *text, u64 place)
{
	const u8 *p = rgn_image_at(text->image, place, 8);

	if (p)
		rgn_text_mark(text, gtp_get_le(p, 8), RGN_LEADER_RELOC);
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
		/*
		 * Skip relocations of sections that are not loaded. The relocations for the dynamic
		 * linker belong to no section.
		 */
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

/*
 * Mark the addresses that data contains. Without relocations, assume that each 8-byte word whose
 * value is an address of code is such an address.
 */
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

/* Read DT_RELR: each word is the address of a place, or a bitmap of the 63 places that follow. */
static void packed_relocations(struct rgn_text *text, const struct rgn_section *s)
{
	u64 at, place = 0, word, i;

	for (at = 0; at + 8 <= s->size; at += 8) {
		word = gtp_get_le(s->bytes + at, 8);
		if (!(word & 1)) {
			mark_stored(text, word);
			place = word + 8;
			continue;
		}
		for (i = 0; i < 63; i++) {
			if (word >> (i + 1) & 1)
				mark_stored(text, place + 8 * i);
		}
		place += 63 * 8;
	}
}

static void packed(struct rgn_text *text)
{
	u32 i;

	for (i = 1; i < text->image->sections_n; i++) {
		const struct rgn_section *s = &text->image->sections[i];

		if (s->type == SHT_RELR && s->bytes)
			packed_relocations(text, s);
	}
}

/*
 * True if a lock prefix precedes the target: the C library skips the prefix by a jump in a process
 * with only one thread.
 */
static bool skips_lock(const struct rgn_span *span, u32 at)
{
	return at && span->len[at - 1] && span->bytes[at - 1] == 0xf0;
}

/*
 * Find functions in which the decoder lost the instruction boundaries because of data in code. If a
 * jump leads into the middle of an instruction, the jump or the instruction was decoded wrongly.
 */
static void find_astray(struct rgn_text *text)
{
	u32 i, at;

	for (i = 0; i < text->spans_n; i++) {
		struct rgn_span *span = &text->spans[i];

		for (at = 0; at < span->size; at++) {
			if (span->leader[at] & (RGN_LEADER_JUMP | RGN_LEADER_CALL) &&
			    !span->len[at] && !skips_lock(span, at))
				rgn_text_function(span, span->addr + at)->flags |= RGN_FN_ASTRAY;
		}
	}
}

void rgn_leaders_find(struct rgn_text *text, const struct rgn_image *image,
		      const struct rgn_image *debug, enum rgn_cpu cpu)
{
	rgn_text_init(text, image, cpu);
	if (!image->kernel)
		rgn_eh_frame_read(text);
	rgn_functions_init(text);
	rgn_sites_before(text);
	rgn_text_decode(text);
	rgn_sites_after(text);
	relocations(text);
	if (!text->relocations && image->absolute)
		constants(text);
	if (!image->kernel) {
		packed(text);
		rgn_eh_frame_mark(text);
		find_astray(text);
	}
	rgn_rows_mark(text, debug);
	if (!image->kernel)
		rgn_switch_find(text);
}
