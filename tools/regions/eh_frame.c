// SPDX-License-Identifier: GPL-2.0-only
/*
 * .eh_frame for the functions that have exception tables, and those tables for their landing pads.
 */
#include <dwarf.h>
#include "tools/regions/eh_frame.h"

/* struct reader - bounded; reading behind the end sets @failed and gives 0 */
struct reader {
	const u8 *p;
	const u8 *end;
	u64 addr; /* of @p */
	bool failed;
};

/* struct cie - what the entries of one common part share */
struct cie {
	u8 lsda; /* encodings */
	u8 code;
	bool has_data;
};

static u64 take(struct reader *r, u32 n)
{
	u64 v;

	if ((u64)(r->end - r->p) < n) {
		r->failed = true;
		return 0;
	}
	v = gtp_get_le(r->p, n);
	r->p += n;
	r->addr += n;
	return v;
}

static u64 leb(struct reader *r, bool is_signed)
{
	u32 shift = 0;
	u64 v = 0;
	u8 b;

	do {
		b = (u8)take(r, 1);
		if (shift < 64)
			v |= (u64)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80 && !r->failed);
	if (is_signed && b & 0x40 && shift < 64)
		v |= ~0ULL << shift;
	return v;
}

/* A pointer as its encoding says; 0 stays 0, which means that there is none. */
static u64 pointer(struct reader *r, u8 encoding)
{
	u64 place = r->addr, v;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		v = take(r, 8);
		break;
	case DW_EH_PE_uleb128:
		v = leb(r, false);
		break;
	case DW_EH_PE_sleb128:
		v = leb(r, true);
		break;
	case DW_EH_PE_udata2:
		v = take(r, 2);
		break;
	case DW_EH_PE_sdata2:
		v = (u64)(s64)(s16)take(r, 2);
		break;
	case DW_EH_PE_udata4:
		v = take(r, 4);
		break;
	case DW_EH_PE_sdata4:
		v = (u64)(s64)(s32)take(r, 4);
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

static struct reader reader_at(const struct rgn_image *image, u64 addr)
{
	struct reader r = { .addr = addr, .failed = true };
	u32 i;

	for (i = 1; i < image->sections_n; i++) {
		const struct rgn_section *s = &image->sections[i];

		if (!(s->flags & SHF_ALLOC) || !s->bytes || addr - s->addr >= s->size)
			continue;
		r.p = s->bytes + (addr - s->addr);
		r.end = s->bytes + s->size;
		r.failed = false;
		break;
	}
	return r;
}

/* The call sites of one function's table. */
static bool pads(struct rgn_text *text, u64 lsda, u64 start)
{
	struct reader r = reader_at(text->image, lsda);
	u8 encoding = (u8)take(&r, 1);
	u64 base = encoding == DW_EH_PE_omit ? start : pointer(&r, encoding);
	const u8 *end;
	u64 len;

	if (take(&r, 1) != DW_EH_PE_omit)
		leb(&r, false);
	encoding = (u8)take(&r, 1);
	len = leb(&r, false);
	if (r.failed || len > (u64)(r.end - r.p))
		return false;
	for (end = r.p + len; r.p < end && !r.failed;) {
		u64 pad;

		pointer(&r, encoding);
		pointer(&r, encoding);
		pad = pointer(&r, encoding);
		leb(&r, false);
		if (pad && !r.failed)
			rgn_text_mark(text, base + pad, RGN_LEADER_LANDING);
	}
	return !r.failed;
}

/* A common part: its letters say what data its entries carry. */
static struct cie read_cie(struct reader r)
{
	struct cie cie = { .lsda = DW_EH_PE_omit };
	u8 version = (u8)take(&r, 1);
	const char *letters = (const char *)r.p;

	while (take(&r, 1) && !r.failed)
		;
	if (r.failed)
		return cie;
	leb(&r, false);
	leb(&r, true);
	if (version == 1)
		take(&r, 1);
	else
		leb(&r, false);
	if (*letters++ != 'z')
		return cie;
	cie.has_data = true;
	leb(&r, false);
	for (; *letters && !r.failed; letters++) {
		if (*letters == 'L')
			cie.lsda = (u8)take(&r, 1);
		else if (*letters == 'R')
			cie.code = (u8)take(&r, 1);
		else if (*letters == 'P')
			pointer(&r, (u8)take(&r, 1) & 0x7f);
	}
	return cie;
}

static void read_entry(struct rgn_text *text, struct reader r, const struct cie *cie)
{
	struct rgn_span *span;
	u64 start, lsda;

	if (!cie->has_data || cie->lsda == DW_EH_PE_omit)
		return;
	start = pointer(&r, cie->code);
	pointer(&r, cie->code & 0x0f);
	leb(&r, false);
	lsda = pointer(&r, cie->lsda);
	span = rgn_text_span(text, start);
	if (r.failed || !lsda || !span)
		return;
	if (!pads(text, lsda, start))
		rgn_text_function(span, start)->flags |= RGN_FN_LANDING;
}

void rgn_eh_frame_mark(struct rgn_text *text)
{
	const struct rgn_section *s = rgn_image_section(text->image, ".eh_frame");
	struct reader all;

	if (!s || !s->bytes)
		return;
	all = (struct reader){ .p = s->bytes, .end = s->bytes + s->size, .addr = s->addr };
	while (all.end - all.p >= 8) {
		u64 len = take(&all, 4), back, place = all.addr;
		struct reader entry = all;
		struct cie cie;

		if (!len || len > (u64)(all.end - all.p))
			return;
		entry.end = all.p + len;
		back = take(&entry, 4);
		if (back && back <= place - s->addr) {
			struct reader from = reader_at(text->image, place - back);

			take(&from, 8); /* its length, and the 0 that makes it a common part */
			cie = read_cie(from);
			read_entry(text, entry, &cie);
		}
		all.p += len;
		all.addr += len;
	}
}
