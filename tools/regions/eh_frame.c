// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read .eh_frame. A compiler writes an FDE for every function, and another for a .cold part. An FDE
 * contains the bounds of the code and may point to an exception table (LSDA), whose call-site
 * records contain the landing pads.
 */
#include <dwarf.h>
#include <stdlib.h>
#include "tools/regions/eh_frame.h"

/*
 * struct place - a reader, and the section that it reads, because pointers may be relative to their
 * own address
 */
struct place {
	struct rgn_reader in;
	const struct rgn_section *section;
};

/**
 * struct cie - the properties that all FDEs of a CIE share
 * @fde: holds the shared members: @code_align, @data_align, @common and @signal
 * @lsda: the encoding of the pointer to the exception table
 * @code: the encoding of the pointer to the code
 * @has_data: true if an FDE has augmentation data
 */
struct cie {
	struct rgn_fde fde;
	u8 lsda;
	u8 code;
	bool has_data;
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

/* Return a pointer in one of the DW_EH_PE_* encodings; a stored 0 means no pointer and stays 0. */
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

/* Mark the landing pads in a function's exception table; return false if it cannot be read. */
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

/*
 * Read the augmentation data of a CIE. Return false for an unknown letter, because the size of its
 * data is unknown.
 */
static bool read_augmentation(struct place *at, struct cie *cie, const char *letters)
{
	struct rgn_reader *r = &at->in;

	for (; *letters && !r->failed; letters++) {
		if (*letters == 'L')
			cie->lsda = (u8)rgn_read(r, 1);
		else if (*letters == 'R')
			cie->code = (u8)rgn_read(r, 1);
		else if (*letters == 'P')
			pointer(at, (u8)rgn_read(r, 1) & 0x7f);
		else if (*letters == 'S')
			cie->fde.signal = true;
		else if (*letters != 'B')
			return false;
	}
	return !r->failed;
}

/*
 * Read a CIE; @at is after its length and id. The augmentation string says what the FDEs contain.
 */
static bool read_cie(struct place at, struct cie *cie)
{
	struct rgn_reader *r = &at.in;
	u8 version = (u8)rgn_read(r, 1);
	const char *letters = (const char *)r->p;
	u64 len;

	memset(cie, 0, sizeof(*cie));
	cie->lsda = DW_EH_PE_omit;
	while (rgn_read(r, 1))
		;
	cie->fde.code_align = rgn_read_leb(r, false);
	cie->fde.data_align = (s64)rgn_read_leb(r, true);
	if (version == 1)
		rgn_read(r, 1);
	else
		rgn_read_leb(r, false);
	if (r->failed)
		return false;
	cie->fde.common = *r;
	if (!*letters)
		return true;
	if (*letters++ != 'z')
		return false;
	cie->has_data = true;
	len = rgn_read_leb(r, false);
	if (r->failed || len > rgn_read_left(r))
		return false;
	cie->fde.common = *r;
	cie->fde.common.p += len;
	return read_augmentation(&at, cie, letters);
}

static bool read_fde(struct place at, const struct cie *cie, struct rgn_fde *fde)
{
	u64 len;

	*fde = cie->fde;
	fde->start = pointer(&at, cie->code);
	fde->size = pointer(&at, cie->code & 0x0f);
	fde->own = at.in;
	if (cie->has_data) {
		len = rgn_read_leb(&at.in, false);
		if (at.in.failed || len > rgn_read_left(&at.in))
			return false;
		fde->own = at.in;
		fde->own.p += len;
		if (cie->lsda != DW_EH_PE_omit)
			fde->lsda = pointer(&at, cie->lsda);
	}
	return !at.in.failed && fde->size;
}

static void add(struct rgn_text *text, const struct rgn_fde *fde, u32 *room)
{
	struct rgn_fde *more;

	if (text->fdes_n == *room) {
		*room = *room ? 2 * *room : 1024;
		more = rgn_alloc(*room, sizeof(*more));
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
	struct place all;
	u32 room = 0;

	if (!s || !s->bytes)
		return;
	all = place_at(s, 0);
	while (rgn_read_left(&all.in) >= 8) {
		u64 len = rgn_read(&all.in, 4), id_at = offset_of(&all), back;
		struct place entry = all;
		struct rgn_fde fde;
		struct cie cie;

		if (!len || len > rgn_read_left(&all.in))
			break;
		entry.in.end = all.in.p + len;
		/* In an FDE this word is the distance back to its CIE; in a CIE it is 0. */
		back = rgn_read(&entry.in, 4);
		if (back && back <= id_at && s->size - (id_at - back) >= 8) {
			struct place from = place_at(s, id_at - back);

			len = rgn_read(&from.in, 4);
			if (len < rgn_read_left(&from.in))
				from.in.end = from.in.p + len;
			rgn_read(&from.in, 4);
			if (read_cie(from, &cie) && read_fde(entry, &cie, &fde))
				add(text, &fde, &room);
		}
		all.in.p = entry.in.end;
	}
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
