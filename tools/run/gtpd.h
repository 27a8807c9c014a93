/* SPDX-License-Identifier: GPL-2.0-only */
/* The file that `gtp compile` writes and `gtp-run` reads: its format and a bounded reader. */
#ifndef _RUN_GTPD_H
#define _RUN_GTPD_H

#include "base/base.h"

/*
 * All numbers are little-endian.
 *
 *   0  8 bytes   GTPD_MAGIC, its last byte the version
 *   8  u32       size of the file
 *  12  u32       CRC-32 (the one of zip and Ethernet) of all bytes from 16 on
 *  16  records   u32 kind, u32 length, then that number of bytes
 *
 * The file has a part for each kernel. A part begins with a record GTPD_KERNEL and ends before the
 * next GTPD_KERNEL. The kinds of records:
 *
 *  KERNEL   u64 link address of _text, u64 link address of _end, u8 length of the build-id, the
 *           build-id, the release
 *  PACKET   u16 number of relocations, the relocations in the order of their offsets, the packet.
 *           A relocation: u16 offset in the packet, u8 number of digits, u8 kind
 *  NAME     a line of the trace file's tail, "name ...": what a variable was made from
 *  KEY      the name of a variable that is set to $kstack
 *  TABLE    a table of regions (regions/table.h)
 *
 * A relocation describes a number in hex, to which gtp-run adds the distance of the kernel from its
 * link address.
 */
#define GTPD_MAGIC "GTPDEF\0\1"

enum {
	GTPD_HEAD = 16,
	GTPD_RECORD = 8,
	GTPD_RELOCATION = 4,
	GTPD_ID_MAX = 32,
	GTPD_MAX = 256 << 20,	 /* bytes in a file */
	GTPD_PACKET_MAX = 16384, /* the longest packet that /proc/gtp accepts */
};

enum gtpd_kind { GTPD_KERNEL = 1, GTPD_PACKET, GTPD_NAME, GTPD_KEY, GTPD_TABLE };

/**
 * enum gtpd_relocation_kind - the form of the number to relocate
 * @GTPD_NUMBER: in hex digits
 * @GTPD_OPERAND: in hex digits; the top bit, which may be the sign, must not change
 * @GTPD_TEXT: as hex digits in a text that is itself encoded in hex: two characters for each digit
 */
enum gtpd_relocation_kind { GTPD_NUMBER, GTPD_OPERAND, GTPD_TEXT, GTPD_RELOCATION_KINDS };

/* struct gtpd - a file that gtpd_open() has checked; the caller owns @bytes */
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
 * gtpd_open() - check a whole session file
 * @g: receives the file, which refers to @bytes; unchanged on error
 * @bytes: the file
 * @size: the size of the file
 * @error: set on error
 *
 * Checks everything once, so that the following functions need no checks. Allows only packets that
 * define a run. Return: 0, or -EINVAL.
 */
int gtpd_open(struct gtpd *g, const void *bytes, size_t size, struct gtpd_error *error);

/*
 * gtpd_next - set @r to the next record, or to the first if @r->bytes is NULL; return false after
 * the last
 */
bool gtpd_next(const struct gtpd *g, struct gtpd_record *r);

/*
 * gtpd_next_part - set @p to the next part, or to the first if @p->id is NULL; return false after
 * the last
 */
bool gtpd_next_part(const struct gtpd *g, struct gtpd_part *p);

/*
 * gtpd_next_of - set @r to the next record of @kind in part @p, or to the first if @r->bytes is
 * NULL; return false after the last
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
