// SPDX-License-Identifier: GPL-2.0-only
/*
 * Semaphores of static markers (SDT) in programs. A program runs a marker only while its semaphore,
 * a 16-bit number in its own data, is not 0. A note in the section .note.stapsdt names the marker's
 * place and the address of its semaphore.
 *
 * The addresses are those at the time when the note was written. If a tool such as prelink has
 * moved the file's addresses since, the section .stapsdt.base has moved by the same distance, and
 * the note has that section's old address.
 */
#include "base/space.h"
#include "probe/user/sdt.h"

enum {
	SECTION = 64, /* bytes of a section header */
	SHT_NOTE = 7,
	NT_STAPSDT = 3,
	NOTE_HEAD = 12,
	NOTE = NOTE_HEAD + 8 + 24, /* bytes of a note with its owner and the three addresses */
};

static const char notes_name[] = ".note.stapsdt", base_name[] = ".stapsdt.base";

/*
 * struct place - the offset and size of the notes in the file, and the address of .stapsdt.base or
 * 0
 */
struct place {
	u64 at;
	u64 bytes;
	u64 base;
};

static bool is_named(const struct gtp_sdt *sdt, u64 at, const char *name, u32 size)
{
	char text[sizeof(notes_name)];

	return sdt->read(sdt->ctx, text, size, at) && !memcmp(text, name, size);
}

static void look_at(const struct gtp_sdt *sdt, const u8 *entry, u64 names, struct place *found)
{
	u64 name = names + gtp_get_le(entry, 4);

	if (gtp_get_le(entry + 4, 4) == SHT_NOTE &&
	    is_named(sdt, name, notes_name, sizeof(notes_name))) {
		found->at = gtp_get_le(entry + 24, 8);
		found->bytes = gtp_get_le(entry + 32, 8);
	} else if (is_named(sdt, name, base_name, sizeof(base_name))) {
		found->base = gtp_get_le(entry + 16, 8);
	}
}

static bool find_place(const struct gtp_sdt *sdt, struct place *found)
{
	u8 head[GTP_ELF_HEAD], entry[SECTION];
	u64 table, names;
	u32 n, i, index;

	if (!sdt->read(sdt->ctx, head, sizeof(head), 0))
		return false;
	table = gtp_get_le(head + 40, 8);
	n = (u32)gtp_get_le(head + 60, 2);
	index = (u32)gtp_get_le(head + 62, 2);
	if (gtp_get_le(head + 58, 2) != SECTION || n > GTP_SDT_SECTIONS || index >= n ||
	    table > S64_MAX - GTP_SDT_SECTIONS * SECTION ||
	    !sdt->read(sdt->ctx, entry, SECTION, table + (u64)index * SECTION))
		return false;
	names = gtp_get_le(entry + 24, 8);
	if (names > S64_MAX - U32_MAX - SECTION)
		return false;
	for (i = 0; i < n; i++)
		if (sdt->read(sdt->ctx, entry, SECTION, table + (u64)i * SECTION))
			look_at(sdt, entry, names, found);
	return found->bytes && found->at <= S64_MAX - NOTE && found->bytes <= S64_MAX - found->at;
}

/* Report the marker of a note to @sdt->found; skip notes of other owners. */
static void take(const struct gtp_sdt *sdt, const u8 *note, u64 base)
{
	u64 moved = base ? base - gtp_get_le(note + 28, 8) : 0;
	u64 semaphore = gtp_get_le(note + 36, 8);

	if (gtp_get_le(note + 8, 4) == NT_STAPSDT && !memcmp(note + NOTE_HEAD, "stapsdt", 8))
		sdt->found(sdt->ctx, gtp_get_le(note + 20, 8) + moved,
			   semaphore ? semaphore + moved : 0);
}

void gtp_sdt_each(const struct gtp_sdt *sdt)
{
	struct place p = { 0 };
	u8 note[NOTE];
	u32 n;

	if (!find_place(sdt, &p))
		return;
	for (n = 0; n < GTP_SDT_NOTES && p.bytes >= NOTE_HEAD; n++) {
		u64 owner, desc, all;

		if (!sdt->read(sdt->ctx, note, NOTE_HEAD, p.at))
			return;
		owner = gtp_get_le(note, 4);
		desc = gtp_get_le(note + 4, 4);
		/* Both lengths have 32 bits, so no sum overflows. */
		all = NOTE_HEAD + ((owner + 3) & ~3ULL) + ((desc + 3) & ~3ULL);
		if (NOTE_HEAD + ((owner + 3) & ~3ULL) + desc > p.bytes)
			return;
		if (owner == 8 && desc >= 24 && sdt->read(sdt->ctx, note, NOTE, p.at))
			take(sdt, note, p.base);
		if (all > p.bytes)
			return;
		p.at += all;
		p.bytes -= all;
	}
}

int gtp_sdt_offset(const struct gtp_elf *elf, u64 semaphore, u64 *offset, struct gtp_why *why)
{
	for (u32 i = 0; i < elf->nsegments; i++) {
		const struct gtp_elf_segment *s = &elf->segment[i];

		if (!s->is_writable || s->is_code || s->bytes < 2 ||
		    semaphore - s->addr > s->bytes - 2)
			continue;
		*offset = semaphore - s->addr + s->offset;
		/* The kernel accepts only an even offset that is not 0. */
		if (*offset && !(*offset % 2))
			return 0;
	}
	gtp_why(why, "the marker's note names a semaphore where its file has no data");
	return -EINVAL;
}

bool gtp_sdt_second(const u8 *code, u32 len)
{
	static const u8 nops[] = { 0x90, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 };

	return len >= sizeof(nops) && !memcmp(code, nops, sizeof(nops));
}
