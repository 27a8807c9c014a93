// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the landing pads of exceptions: .eh_frame names the functions that have an exception table
 * (LSDA), and the call sites of that table name the pads.
 */
#include <dwarf.h>
#include "tools/regions/eh_frame.h"
#include "tools/regions/reader.h"

/* struct place - a reader in a section: encoded pointers count from their own address */
struct place {
	struct rgn_reader in;
	const struct rgn_section *section;
};

/* struct cie - the encodings of pointers, which all FDEs of a CIE share */
struct cie {
	u8 lsda;
	u8 code;
	bool has_data; /* an FDE has augmentation data */
};

static struct place place_at(const struct rgn_section *s, u64 offset)
{
	return (struct place){
		.in = { .p = s->bytes + offset, .end = s->bytes + s->size },
		.section = s,
	};
}

static u64 offset_of(const struct place *at)
{
	return (u64)(at->in.p - at->section->bytes);
}

/* A pointer in one of the DW_EH_PE_* encodings; a stored 0 means no pointer and stays 0. */
static u64 pointer(struct place *at, u8 encoding)
{
	u64 place = at->section->addr + offset_of(at), v;
	struct rgn_reader *r = &at->in;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		v = rgn_read(r, 8);
		break;
	case DW_EH_PE_uleb128:
		v = rgn_read_leb(r, false);
		break;
	case DW_EH_PE_sleb128:
		v = rgn_read_leb(r, true);
		break;
	case DW_EH_PE_udata2:
		v = rgn_read(r, 2);
		break;
	case DW_EH_PE_sdata2:
		v = (u64)(s64)(s16)rgn_read(r, 2);
		break;
	case DW_EH_PE_udata4:
		v = rgn_read(r, 4);
		break;
	case DW_EH_PE_sdata4:
		v = (u64)(s64)(s32)rgn_read(r, 4);
		break;
	default:
		r->failed = true;
		return 0;
	}
	if ((encoding & 0x70) == DW_EH_PE_pcrel && v)
		v += place;
	else if (encoding & 0x70 && (encoding & 0x70) != DW_EH_PE_pcrel)
		r->failed = true;
	return v;
}

/* Mark the landing pads in one function's exception table; false when it cannot be read. */
static bool mark_pads(struct rgn_text *text, u64 lsda, u64 start)
{
	const struct rgn_section *s = rgn_image_section_at(text->image, lsda);
	struct place at;
	const u8 *end;
	u8 encoding;
	u64 base, len;

	if (!s)
		return false;
	at = place_at(s, lsda - s->addr);
	encoding = (u8)rgn_read(&at.in, 1);
	base = encoding == DW_EH_PE_omit ? start : pointer(&at, encoding);
	if (rgn_read(&at.in, 1) != DW_EH_PE_omit)
		rgn_read_leb(&at.in, false);
	encoding = (u8)rgn_read(&at.in, 1);
	len = rgn_read_leb(&at.in, false);
	if (at.in.failed || len > rgn_read_left(&at.in))
		return false;
	for (end = at.in.p + len; at.in.p < end && !at.in.failed;) {
		u64 pad;

		pointer(&at, encoding);
		pointer(&at, encoding);
		pad = pointer(&at, encoding);
		rgn_read_leb(&at.in, false);
		if (pad && !at.in.failed)
			rgn_text_mark(text, base + pad, RGN_LEADER_LANDING);
	}
	return !at.in.failed;
}

/* @at is after the length and id of a CIE. Its augmentation string says what its FDEs contain. */
static struct cie read_cie(struct place at)
{
	struct cie cie = { .lsda = DW_EH_PE_omit };
	struct rgn_reader *r = &at.in;
	u8 version = (u8)rgn_read(r, 1);
	const char *letters = (const char *)r->p;

	while (rgn_read(r, 1))
		;
	if (r->failed)
		return cie;
	rgn_read_leb(r, false);
	rgn_read_leb(r, true);
	if (version == 1)
		rgn_read(r, 1);
	else
		rgn_read_leb(r, false);
	if (*letters++ != 'z')
		return cie;
	cie.has_data = true;
	rgn_read_leb(r, false);
	for (; *letters && !r->failed; letters++) {
		if (*letters == 'L')
			cie.lsda = (u8)rgn_read(r, 1);
		else if (*letters == 'R')
			cie.code = (u8)rgn_read(r, 1);
		else if (*letters == 'P')
			pointer(&at, (u8)rgn_read(r, 1) & 0x7f);
	}
	return cie;
}

static void read_fde(struct rgn_text *text, struct place at, const struct cie *cie)
{
	struct rgn_span *span;
	u64 start, lsda;

	if (!cie->has_data || cie->lsda == DW_EH_PE_omit)
		return;
	start = pointer(&at, cie->code);
	pointer(&at, cie->code & 0x0f);
	rgn_read_leb(&at.in, false);
	lsda = pointer(&at, cie->lsda);
	span = rgn_text_span(text, start);
	if (at.in.failed || !lsda || !span)
		return;
	if (!mark_pads(text, lsda, start))
		rgn_text_function(span, start)->flags |= RGN_FN_LANDING;
}

void rgn_eh_frame_mark(struct rgn_text *text)
{
	const struct rgn_section *s = rgn_image_section(text->image, ".eh_frame");
	struct place all;

	if (!s || !s->bytes)
		return;
	all = place_at(s, 0);
	while (rgn_read_left(&all.in) >= 8) {
		u64 len = rgn_read(&all.in, 4), id_at = offset_of(&all), back;
		struct place entry = all;
		struct cie cie;

		if (!len || len > rgn_read_left(&all.in))
			return;
		entry.in.end = all.in.p + len;
		/* In an FDE the distance back to its CIE, in a CIE 0. */
		back = rgn_read(&entry.in, 4);
		if (back && back <= id_at) {
			struct place from = place_at(s, id_at - back);

			rgn_read(&from.in, 8);
			cie = read_cie(from);
			read_fde(text, entry, &cie);
		}
		all.in.p += len;
	}
}
