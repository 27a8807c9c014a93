// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read the FDEs of .eh_frame. A compiler writes an FDE for every function, and another for a .cold
 * part.
 */
#include <dwarf.h>
#include "tools/regions/fde.h"

/**
 * struct cie - the properties that all FDEs of a CIE share
 * @fde: holds the shared members: @code_align, @data_align, @common, @ra and @signal
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

struct rgn_place rgn_fde_place(const struct rgn_data *data, u64 offset)
{
	return (struct rgn_place){
		.in = { .p = data->bytes + offset, .end = data->bytes + data->size },
		.data = data,
	};
}

static u64 offset_of(const struct rgn_place *at)
{
	return (u64)(at->in.p - at->data->bytes);
}

u64 rgn_fde_pointer(struct rgn_place *at, u8 encoding)
{
	u64 place = at->data->addr + offset_of(at), v;
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

/*
 * Read the augmentation data of a CIE. Return false for an unknown letter, because the size of its
 * data is unknown.
 */
static bool read_augmentation(struct rgn_place *at, struct cie *cie, const char *letters)
{
	struct rgn_reader *r = &at->in;

	for (; *letters && !r->failed; letters++) {
		if (*letters == 'L')
			cie->lsda = (u8)rgn_read(r, 1);
		else if (*letters == 'R')
			cie->code = (u8)rgn_read(r, 1);
		else if (*letters == 'P')
			rgn_fde_pointer(at, (u8)rgn_read(r, 1) & 0x7f);
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
static bool read_cie(struct rgn_place at, struct cie *cie)
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
	cie->fde.ra = version == 1 ? rgn_read(r, 1) : rgn_read_leb(r, false);
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

static bool read_fde(struct rgn_place at, const struct cie *cie, struct rgn_fde *fde)
{
	u64 len;

	*fde = cie->fde;
	fde->start = rgn_fde_pointer(&at, cie->code);
	fde->size = rgn_fde_pointer(&at, cie->code & 0x0f);
	fde->own = at.in;
	if (cie->has_data) {
		len = rgn_read_leb(&at.in, false);
		if (at.in.failed || len > rgn_read_left(&at.in))
			return false;
		fde->own = at.in;
		fde->own.p += len;
		if (cie->lsda != DW_EH_PE_omit)
			fde->lsda = rgn_fde_pointer(&at, cie->lsda);
	}
	return !at.in.failed && fde->size;
}

void rgn_fde_each(const struct rgn_data *data, void (*each)(void *ctx, const struct rgn_fde *fde),
		  void *ctx)
{
	struct rgn_place all = rgn_fde_place(data, 0);

	while (rgn_read_left(&all.in) >= 8) {
		u64 len = rgn_read(&all.in, 4), id_at = offset_of(&all), back;
		struct rgn_place entry = all;
		struct rgn_fde fde;
		struct cie cie;

		if (!len || len > rgn_read_left(&all.in))
			break;
		entry.in.end = all.in.p + len;
		/* In an FDE this word is the distance back to its CIE; in a CIE it is 0. */
		back = rgn_read(&entry.in, 4);
		if (back && back <= id_at && data->size - (id_at - back) >= 8) {
			struct rgn_place from = rgn_fde_place(data, id_at - back);

			len = rgn_read(&from.in, 4);
			if (len < rgn_read_left(&from.in))
				from.in.end = from.in.p + len;
			rgn_read(&from.in, 4);
			if (read_cie(from, &cie) && read_fde(entry, &cie, &fde))
				each(ctx, &fde);
		}
		all.in.p = entry.in.end;
	}
}
