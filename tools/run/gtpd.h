/* SPDX-License-Identifier: GPL-2.0-only */
/* The file that `gtp compile` writes and `gtp-run` reads: format and bounded reader. */
#ifndef _RUN_GTPD_H
#define _RUN_GTPD_H

#include "base/base.h"

/*
 * All numbers are little-endian.
 *
 *   0  8 bytes   GTPD_MAGIC, its last byte the version
 *   8  u32       size of the file
 *  12  u32       CRC-32 (the one of zip and Ethernet) of all bytes from 16 on
 *  16  records   u32 kind, u32 length, as many bytes
 *
 * A part for each kernel begins with a record GTPD_KERNEL; the records up to the next one belong to
 * it:
 *
 *  KERNEL   u64 link address of _text, u64 link address of _end, u8 length of the build-id, the
 *           build-id, the release
 *  PACKET   u16 number of relocations, GTPD_RELOCATION bytes for each, the packet. They are in the
 *           order of the packet: u16 offset in it, u8 number of digits, u8 kind
 *  NAME     a line of the trace file's tail, "name ...": what a variable was made from
 *  KEY      the name of a variable that is set to $kstack
 *  TABLE    a table of regions (regions/table.h)
 *
 * A relocation is a number in hex, to which gtp-run adds the distance of the kernel from its link
 * address.
 */
#define GTPD_MAGIC "GTPDEF\0\1"

enum {
	GTPD_HEAD = 16,
	GTPD_RECORD = 8,
	GTPD_RELOCATION = 4,
	GTPD_ID_MAX = 32,
	GTPD_MAX = 256 << 20,	 /* bytes in a file */
	GTPD_PACKET_MAX = 16384, /* the longest packet that /proc/gtp takes */
};

enum gtpd_kind { GTPD_KERNEL = 1, GTPD_PACKET, GTPD_NAME, GTPD_KEY, GTPD_TABLE };

/**
 * enum gtpd_relocation_kind - how the number to relocate is written
 * @GTPD_NUMBER: in hex digits
 * @GTPD_OPERAND: in hex digits; the number's top bit, which may be its sign, has to stay
 * @GTPD_TEXT: as hex digits that are themselves characters in hex: two characters for each digit
 */
enum gtpd_relocation_kind { GTPD_NUMBER, GTPD_OPERAND, GTPD_TEXT, GTPD_RELOCATION_KINDS };

/* struct gtpd - a file that gtpd_open() has checked; the caller owns its memory */
struct gtpd {
	const u8 *bytes;
	u32 size;
};

/* struct gtpd_record - a record of the file */
struct gtpd_record {
	enum gtpd_kind kind;
	u32 at; /* offset of the record in the file */
	u32 len;
	const u8 *bytes;
};

/* struct gtpd_part - the records for one kernel; @release has no NUL at its end */
struct gtpd_part {
	u32 at; /* offset of its first record */
	u64 text, end;
	u32 id_len;
	const u8 *id;
	u32 release_len;
	const char *release;
};

/* struct gtpd_error - the first error in a file, and its place */
struct gtpd_error {
	const char *why;
	u32 at;
};

/**
 * gtpd_open() - check a whole file
 * @g: receives the file, valid as long as @bytes is; untouched on error
 * @bytes: the file
 * @size: the size of the file
 * @error: set on error
 *
 * Everything is checked once, here: the functions below check nothing. Only packets that define a
 * run are allowed. Return: 0, or -EINVAL.
 */
int gtpd_open(struct gtpd *g, const void *bytes, size_t size, struct gtpd_error *error);

/*
 * gtpd_next - go to the record after @r, the first one if @r->bytes is NULL; return false after the
 * last
 */
bool gtpd_next(const struct gtpd *g, struct gtpd_record *r);

/*
 * gtpd_next_part - go to the part after @p, the first one if @p->id is NULL; return false after the
 * last
 */
bool gtpd_next_part(const struct gtpd *g, struct gtpd_part *p);

/*
 * gtpd_next_of - go to the record after @r of this kind in @p, the first one if @r->bytes is NULL;
 * return false after the last
 */
bool gtpd_next_of(const struct gtpd *g, const struct gtpd_part *p, enum gtpd_kind kind,
		  struct gtpd_record *r);

/**
 * gtpd_packet() - relocate a packet
 * @r: a record GTPD_PACKET
 * @distance: the distance of the kernel from its link address
 * @to: receives the packet and a NUL, in GTPD_PACKET_MAX + 1 bytes
 *
 * Return: the length of the packet, or -ERANGE if a number does not fit any more.
 */
int gtpd_packet(const struct gtpd_record *r, u64 distance, char *to);

#endif /* _RUN_GTPD_H */
