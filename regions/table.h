/* SPDX-License-Identifier: GPL-2.0-only */
/* The file of regions that the tool writes and the module reads: format and bounded reader. */
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
 * A list holds offsets within its span, each larger than the one before. Its contents are an index
 * of one u32 pair for every GTP_TABLE_BLOCK entries (the block's first entry; where the block's
 * bytes start, counted from the list's offset), and for each block its further entries as
 * differences to the one before, 7 bits a byte, low ones first, the top bit set on all but the last
 * byte. A reader skips lists of an unknown kind.
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
	GTP_TABLE_COMPLETE = 1, /* every address of its code that is stored anywhere is a leader */
	GTP_TABLE_PROGRAM = 2,	/* of a program or library, so it has lists of functions */
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

/* struct gtp_table - a table that gtp_table_open() has checked; the caller owns its memory */
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
 * @t: receives the table, valid as long as @bytes is; untouched on error
 * @bytes: the contents of the table's file
 * @size: the size of the table's file
 * @why: on an error, receives a description of the fault
 *
 * Look-ups check nothing, because this checks everything once. Context: any; time is linear in
 * @size.
 *
 * Return: 0, or -EINVAL.
 */
int gtp_table_open(struct gtp_table *t, const void *bytes, size_t size, const char **why);

/* gtp_table_build_id - find the build-id of the code that the table is for; return its length */
u32 gtp_table_build_id(const struct gtp_table *t, const u8 **id);

/* gtp_table_span, gtp_table_list - read span or list number @i, below spans_n or lists_n */
void gtp_table_span(const struct gtp_table *t, u32 i, struct gtp_table_span *span);
void gtp_table_list(const struct gtp_table *t, u32 i, struct gtp_table_list *list);

/* gtp_table_find - find the list of that kind for that span; return false if there is none */
bool gtp_table_find(const struct gtp_table *t, u32 span, enum gtp_table_kind kind,
		    struct gtp_table_list *list);

/**
 * gtp_table_next() - find the first entry that is not below @from
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
