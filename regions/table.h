/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of regions, a file that gdbtp-regions writes and the module reads: format and reader.
 */
#ifndef _GTP_TABLE_H
#define _GTP_TABLE_H

#include "base/base.h"

/*
 * All numbers are little-endian.
 *
 *   0  8 bytes   GTP_TABLE_MAGIC
 *   8  u32       size of the file
 *  12  u32       CRC-32 (the one of zip and Ethernet) of all bytes from 16 on
 *  16  u8        length of the build-id, then the build-id in 31 bytes, zeros after it
 *  48  u32       number of spans
 *  52  u32       number of lists
 *  56  spans     GTP_TABLE_SPAN bytes each: name in 32 bytes, u64 link address (0 in a module), u32
 *                size, u32 flags
 *  ..  lists     GTP_TABLE_LIST bytes each: u32 span, u32 kind, u32 entries, u32 offset in the
 *                file, u32 bytes
 *  ..  lists' contents
 *
 * The entries of a list are offsets within its span, in ascending order. They are stored in blocks
 * of GTP_TABLE_BLOCK entries. The list's contents begin with an index: for each block a pair of
 * u32, the block's first entry, and the place of the block's bytes, counted from the list's offset.
 * A block's bytes have its other entries as differences to the previous entry. A difference has 7
 * bits in each byte, the low bits first; the top bit is set in all bytes except the last. A reader
 * skips lists of an unknown kind.
 */
#define GTP_TABLE_MAGIC "GTPRGN\0\1"

enum {
	GTP_TABLE_HEAD = 56,
	GTP_TABLE_SPAN = 48,
	GTP_TABLE_LIST = 20,
	GTP_TABLE_BLOCK = 64,
	GTP_TABLE_NAME = 32,
	GTP_TABLE_ID = 31,
	GTP_TABLE_MAX = 64 << 20, /* bytes in a file */
};

/* Flags of a span of the table. */
enum {
	GTP_TABLE_COMPLETE = 1, /* each address of its code that the file stores is a leader */
	GTP_TABLE_PROGRAM = 2,	/* code of a program or library: there are lists of functions */
};

/* X(name, kind, text): the kinds of lists */
#define GTP_TABLE_KINDS(X)                                                                         \
	X(HIDDEN, 1, "leaders that a decode of their function does not show")                      \
	X(DENY, 2, "places that the kernel's rule may accept though something enters them")        \
	X(FAULT, 3, "instructions that have an exception fixup")                                   \
	X(SITE, 4, "what is patched while the kernel runs")                                        \
	X(LEADER, 5, "all leaders, starts of functions too")                                       \
	X(WRAP, 6, "functions that return, and have no argument on the stack")                     \
	X(FUNCTION, 7, "functions of a program with bounds, and a decode to be trusted")           \
	X(LAST, 8, "the last byte of each of these, with the padding after it")                    \
	X(PROVEN, 9, "those whose jumps through registers all lead to leaders")

enum gtp_table_kind {
#define X(name, kind, text) GTP_TABLE_##name = (kind),
	GTP_TABLE_KINDS(X)
#undef X
};

/* struct gtp_table - a table that gtp_table_open() has checked; the caller owns @bytes */
struct gtp_table {
	const u8 *bytes;
	u32 size;
	u32 spans_n;
	u32 lists_n;
};

struct gtp_table_span {
	const char *name; /* terminated */
	u64 addr;
	u32 size;
	u32 flags;
};

struct gtp_table_list {
	const u8 *bytes;
	u32 size;
	u32 span;
	u32 kind;
	u32 n;
};

/**
 * gtp_table_open() - check a whole table
 * @t: receives the table, which is valid as long as @bytes; unchanged on error
 * @bytes: the contents of the table's file
 * @size: the size of the table's file
 * @why: on an error, receives a description of the fault
 *
 * Checks everything once, so that look-ups need no checks. Context: any; time is linear in @size.
 *
 * Return: 0, or -EINVAL.
 */
int gtp_table_open(struct gtp_table *t, const void *bytes, size_t size, const char **why);

/* gtp_table_build_id - find the build-id of the file that the table describes; return its length */
u32 gtp_table_build_id(const struct gtp_table *t, const u8 **id);

/* gtp_table_span, gtp_table_list - read span or list number @i, below spans_n or lists_n */
void gtp_table_span(const struct gtp_table *t, u32 i, struct gtp_table_span *span);
void gtp_table_list(const struct gtp_table *t, u32 i, struct gtp_table_list *list);

/* gtp_table_find - find the list of @kind for span number @span; return false if there is none */
bool gtp_table_find(const struct gtp_table *t, u32 span, enum gtp_table_kind kind,
		    struct gtp_table_list *list);

/**
 * gtp_table_next() - find the first entry at or after @from
 * @list: the list, from gtp_table_list() or gtp_table_find()
 * @from: an offset in the span to which the list belongs
 * @found: receives the entry
 *
 * Reads the index and one or two blocks. Context: any.
 *
 * Return: false if there is no such entry.
 */
bool gtp_table_next(const struct gtp_table_list *list, u32 from, u32 *found);

/* gtp_table_crc - return the CRC-32 of @n bytes */
u32 gtp_table_crc(const u8 *bytes, size_t n);

#endif /* _GTP_TABLE_H */
