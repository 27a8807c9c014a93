/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the segments of a program or library from its file. */
#ifndef _GTP_ELF_H
#define _GTP_ELF_H

#include "base/base.h"
#include "base/why.h"

enum {
	GTP_ELF_HEAD = 64,	   /* size of the ELF header */
	GTP_ELF_ENTRY = 56,	   /* size of a program header */
	GTP_ELF_ENTRIES = 64,	   /* most program headers */
	GTP_ELF_SEGMENTS = 16,	   /* most loaded segments */
	GTP_ELF_NOTES = 4,	   /* most note segments; further ones are not read */
	GTP_ELF_NOTE_BYTES = 1024, /* most bytes that are read of a note segment */
	GTP_ELF_ID = 32,	   /* most bytes of a build-id */
};

/**
 * struct gtp_elf_segment - a segment of the file that is loaded
 * @addr: the segment's link-time address
 * @offset: the segment's offset in the file
 * @bytes: the segment's size in the file
 * @is_code: processes execute the segment
 * @is_writable: processes write to the segment, so that its contents differ from the file's
 */
struct gtp_elf_segment {
	u64 addr;
	u64 offset;
	u64 bytes;
	bool is_code;
	bool is_writable;
};

/**
 * struct gtp_elf - the contents of a file's ELF header and program headers
 * @table: the offset of the program header table in the file
 * @entries: the number of entries in that table
 * @nsegments: the number of entries in @segment
 * @segment: the loaded segments
 * @nnotes: the number of entries in @note
 * @note: the offsets and sizes of the note segments in the file
 * @id: the build-id
 * @id_bytes: the length of the build-id; 0: none was found
 */
struct gtp_elf {
	u64 table;
	u32 entries;
	u32 nsegments;
	struct gtp_elf_segment segment[GTP_ELF_SEGMENTS];
	u32 nnotes;
	struct {
		u64 offset;
		u32 bytes;
	} note[GTP_ELF_NOTES];
	u8 id[GTP_ELF_ID];
	u32 id_bytes;
};

/**
 * gtp_elf_head() - read a file's ELF header
 * @elf: receives @table and @entries; all else is cleared
 * @head: the bytes at the beginning of the file
 * @len: the number of bytes in @head: GTP_ELF_HEAD, or fewer if the file is shorter
 * @why: the refusal, as words that follow the file's name
 *
 * Return: 0; -ENOEXEC if it is not a 64-bit program or library for x86-64.
 */
int gtp_elf_head(struct gtp_elf *elf, const u8 *head, u32 len, struct gtp_why *why);

/**
 * gtp_elf_table() - read a file's program header table
 * @elf: filled in by gtp_elf_head(); receives the segments and the note segments
 * @table: @elf->entries times GTP_ELF_ENTRY bytes
 * @why: the refusal, as words that follow the file's name
 *
 * Return: 0; -ENOEXEC if the file has no code, or if its addresses do not fit into the space of
 * addresses that gdbtp gives a file.
 */
int gtp_elf_table(struct gtp_elf *elf, const u8 *table, struct gtp_why *why);

/* gtp_elf_notes - look for the build-id in the notes of one segment; store it in @elf */
void gtp_elf_notes(struct gtp_elf *elf, const u8 *notes, u32 len);

/* gtp_elf_code - return the segment of code that contains the link-time address, or NULL */
const struct gtp_elf_segment *gtp_elf_code(const struct gtp_elf *elf, u64 addr);

/**
 * gtp_elf_constant() - find the offset of bytes that are the same in the file and in all processes
 * @elf: the file
 * @addr: the link-time address of the first byte
 * @len: the number of bytes
 * @offset: receives their offset in the file; the file may end before them, and processes then read
 * zeroes
 *
 * Processes map whole pages. Return: false if not all of the bytes are in one segment that
 * processes do not write to.
 */
bool gtp_elf_constant(const struct gtp_elf *elf, u64 addr, u32 len, u64 *offset);

#endif /* _GTP_ELF_H */
