/* SPDX-License-Identifier: GPL-2.0-only */
/* Parses the kernel's debugfs files about kprobes: the list of kprobes, and the blacklist. */
#ifndef _GTP_DEBUGFS_TEXT_H
#define _GTP_DEBUGFS_TEXT_H

#include "base/base.h"

enum { GTP_DEBUGFS_LINE = 256 };

/* struct gtp_debugfs_text - a text that arrives in pieces; zeroed before the first piece */
struct gtp_debugfs_text {
	char line[GTP_DEBUGFS_LINE];
	u32 len;
};

/**
 * gtp_debugfs_feed() - parse the next bytes of a text
 * @l: the text so far
 * @bytes: the bytes, split anywhere
 * @n: the number of bytes
 * @line: called with each nonempty line, NUL-terminated, without the newline, cut to the available
 *        room; a nonzero result ends the parsing
 * @ctx: passed to @line
 *
 * Context: any. Return: 0, or the result of @line.
 */
int gtp_debugfs_feed(struct gtp_debugfs_text *l, const char *bytes, size_t n,
		     int (*line)(void *ctx, const char *line, u32 len), void *ctx);

/*
 * gtp_debugfs_probe - return the address of a kprobe from "ADDRESS k NAME+OFFSET ..."; 0 if the
 * kernel hides it or the line has another form
 */
u64 gtp_debugfs_probe(const char *line, u32 len);

/* struct gtp_debugfs_range - a range of the blacklist: code that must not be probed */
struct gtp_debugfs_range {
	u64 start, end;
	u32 name; /* gtp_debugfs_hash() of the symbol's name */
};

/*
 * gtp_debugfs_range - parse "0xSTART-0xEND\tNAME"; return false if the addresses are hidden or the
 * line has another form
 */
bool gtp_debugfs_range(const char *line, u32 len, struct gtp_debugfs_range *range);

/* gtp_debugfs_hash - return the hash of a symbol's name up to the first dot or blank */
u32 gtp_debugfs_hash(const char *name);

#endif /* _GTP_DEBUGFS_TEXT_H */
