// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the segments of a program or library from its file.
 *
 * The file holds whatever its owner has written there: every number in it is checked before it is
 * used, and no sum can overflow.
 */
#include "base/space.h"
#include "probe/user/elf.h"

enum {
	ET_EXEC = 2,
	ET_DYN = 3,
	EM_X86_64 = 62,
	PT_LOAD = 1,
	PT_NOTE = 4,
	PF_X = 1,
	PF_W = 2,
	NT_GNU_BUILD_ID = 3,
	PAGE = 4096,
};

static u16 get16(const u8 *p)
{
	return (u16)gtp_get_le(p, 2);
}

static u32 get32(const u8 *p)
{
	return (u32)gtp_get_le(p, 4);
}

static int refuse(struct gtp_why *why, const char *words)
{
	gtp_why(why, "%s", words);
	return -ENOEXEC;
}

int gtp_elf_head(struct gtp_elf *elf, const u8 *head, u32 len, struct gtp_why *why)
{
	u16 type, machine;

	*elf = (struct gtp_elf){ 0 };
	if (len < 4 || memcmp(head, "\177ELF", 4))
		return refuse(why, "is no ELF file: neither a program nor a library");
	if (len < GTP_ELF_HEAD)
		return refuse(why, "is cut off: its ELF head is not whole");
	type = get16(head + 16);
	machine = get16(head + 18);
	/* Class 2 stands for 64 bits, and data encoding 1 for little-endian. */
	if (head[4] != 2 || head[5] != 1 || machine != EM_X86_64)
		return refuse(why, "is not for x86-64 with 64 bits");
	if (type != ET_EXEC && type != ET_DYN)
		return refuse(why, "is an ELF file, but neither a program nor a library");
	elf->table = gtp_get_le(head + 32, 8);
	elf->entries = get16(head + 56);
	if (get16(head + 54) != GTP_ELF_ENTRY || !elf->entries || elf->entries > GTP_ELF_ENTRIES ||
	    elf->table > S64_MAX - GTP_ELF_ENTRIES * GTP_ELF_ENTRY)
		return refuse(why, "has no table of segments that could be read");
	return 0;
}

static bool fits(u64 start, u64 bytes)
{
	const u64 end = 1ULL << GTP_SPACE_SHIFT;

	return start < end && bytes <= end - start;
}

/*
 * Add a loaded segment. The kernel maps whole pages, so a segment must have the same offset within
 * a page in the file and in memory.
 */
static int add_segment(struct gtp_elf *elf, const u8 *entry, struct gtp_why *why)
{
	struct gtp_elf_segment *s = &elf->segment[elf->nsegments];
	u32 flags = get32(entry + 4);
	u64 memory = gtp_get_le(entry + 40, 8);

	if (elf->nsegments == GTP_ELF_SEGMENTS)
		return refuse(why, "has more loaded segments than programs have");
	*s = (struct gtp_elf_segment){
		.offset = gtp_get_le(entry + 8, 8),
		.addr = gtp_get_le(entry + 16, 8),
		.bytes = gtp_get_le(entry + 32, 8),
		.is_code = flags & PF_X,
		.is_writable = flags & PF_W,
	};
	if (!fits(s->addr, s->bytes) || !fits(s->addr, memory))
		return refuse(why, "was linked for addresses above 64 GiB, which cannot be traced");
	if (s->offset > S64_MAX - s->bytes || (s->offset - s->addr) % PAGE)
		return refuse(why, "has a segment that cannot be loaded");
	elf->nsegments++;
	return 0;
}

static void add_note(struct gtp_elf *elf, const u8 *entry)
{
	u64 offset = gtp_get_le(entry + 8, 8), bytes = gtp_get_le(entry + 32, 8);

	if (elf->nnotes == GTP_ELF_NOTES || offset > S64_MAX - GTP_ELF_NOTE_BYTES)
		return;
	elf->note[elf->nnotes].offset = offset;
	elf->note[elf->nnotes].bytes = bytes < GTP_ELF_NOTE_BYTES ? (u32)bytes : GTP_ELF_NOTE_BYTES;
	elf->nnotes++;
}

static bool has_code(const struct gtp_elf *elf)
{
	for (u32 i = 0; i < elf->nsegments; i++)
		if (elf->segment[i].is_code && elf->segment[i].bytes)
			return true;
	return false;
}

int gtp_elf_table(struct gtp_elf *elf, const u8 *table, struct gtp_why *why)
{
	for (u32 i = 0; i < elf->entries; i++) {
		const u8 *entry = table + (size_t)i * GTP_ELF_ENTRY;
		u32 type = get32(entry);
		int err = type == PT_LOAD ? add_segment(elf, entry, why) : 0;

		if (err)
			return err;
		if (type == PT_NOTE)
			add_note(elf, entry);
	}
	/* A file of debug information alone has program headers, but not the segments' bytes. */
	if (!has_code(elf))
		return refuse(why, "has no code: is it a file of debug information alone?");
	return 0;
}

void gtp_elf_notes(struct gtp_elf *elf, const u8 *notes, u32 len)
{
	u32 at = 0;

	/*
	 * Names and descriptions are padded to 4 bytes. A length above @len belongs to a damaged
	 * note.
	 */
	while (!elf->id_bytes && len - at >= 12) {
		const u8 *note = notes + at;
		u32 name = get32(note), desc = get32(note + 4), skip;

		if (name > len || desc > len)
			return;
		skip = 12 + ((name + 3) & ~3U);
		if (skip > len - at || desc > len - at - skip)
			return;
		if (get32(note + 8) == NT_GNU_BUILD_ID && name == 4 &&
		    !memcmp(note + 12, "GNU", 4) && desc && desc <= GTP_ELF_ID) {
			memcpy(elf->id, note + skip, desc);
			elf->id_bytes = desc;
		}
		skip += (desc + 3) & ~3U;
		if (skip > len - at)
			return;
		at += skip;
	}
}

const struct gtp_elf_segment *gtp_elf_code(const struct gtp_elf *elf, u64 addr)
{
	for (u32 i = 0; i < elf->nsegments; i++) {
		const struct gtp_elf_segment *s = &elf->segment[i];

		if (s->is_code && addr - s->addr < s->bytes)
			return s;
	}
	return NULL;
}

bool gtp_elf_constant(const struct gtp_elf *elf, u64 addr, u32 len, u64 *offset)
{
	for (u32 i = 0; i < elf->nsegments; i++) {
		const struct gtp_elf_segment *s = &elf->segment[i];
		u64 start = s->addr & ~(u64)(PAGE - 1);
		u64 bytes = (s->addr + s->bytes - start + PAGE - 1) & ~(u64)(PAGE - 1);

		if (s->is_writable || !s->bytes || addr - start >= bytes ||
		    len > bytes - (addr - start))
			continue;
		*offset = s->offset - (s->addr - start) + (addr - start);
		return true;
	}
	return false;
}
