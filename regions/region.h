/* SPDX-License-Identifier: GPL-2.0-only */
/* Decides whether a jump may replace the code at an address. */
#ifndef _GTP_REGION_H
#define _GTP_REGION_H

#include "regions/insn.h"
#include "regions/table.h"

enum {
	GTP_REGION_JUMP = 5, /* jmp rel32 */
	GTP_REGION_MAX = GTP_REGION_JUMP - 1 + GTP_INSN_MAX,
};

/* X(name, word, text): the refusals. The text is shown to the user as "no jump: TEXT". */
#define GTP_REGION_REFUSALS(X)                                                                     \
	X(NO_TABLE, "no-table", "no table of regions tells of that code")                          \
	X(UNKNOWN_CODE, "unknown-code", "the function has an instruction unknown to gdbtp")        \
	X(BOUNDS, "no-bounds", "the table does not tell where the function begins and ends")       \
	X(NOT_START, "not-start", "no instruction starts there")                                   \
	X(END, "end", "the function ends within the 5 bytes")                                      \
	X(LEADER, "leader", "control may arrive within the 5 bytes")                               \
	X(SITE, "site", "the bytes reach a place that is patched while the kernel runs")           \
	X(FAULT, "fault", "an instruction among them has an exception fixup")                      \
	X(RETURN, "return", "a call among them would return into the 5 bytes")                     \
	X(COPY, "copy", "an instruction among them works only where it is")                        \
	X(INDIRECT, "indirect", "the function jumps through a table, and nothing tells where to")  \
	X(OTHERS, "others", "someone else's breakpoint or jump is there or in front of it")

enum gtp_region_verdict {
	GTP_REGION_OK,
#define X(name, word, text) GTP_REGION_##name,
	GTP_REGION_REFUSALS(X)
#undef X
};

/**
 * struct gtp_region - the instructions that a jump displaces
 * @len: the number of bytes, from GTP_REGION_JUMP to GTP_REGION_MAX
 * @n: the number of displaced instructions; padding after a return or jump is counted only in @len
 * @insn: the displaced instructions, in order
 * @bytes: the live bytes of the region
 * @flags_dead: true if all arithmetic flags are overwritten before one is read, so that the pad
 *	need not save them
 * @falls_out: true if control can continue after the last instruction
 */
struct gtp_region {
	u8 len;
	u8 n;
	bool flags_dead;
	bool falls_out;
	struct gtp_insn insn[GTP_REGION_JUMP];
	u8 bytes[GTP_REGION_MAX];
};

/**
 * struct gtp_region_ask - the question for gtp_region_find()
 * @fn: the live bytes of the whole function; its bounds come from the kernel's symbols or a
 *	program's table
 * @fn_size: the number of these bytes
 * @at: the offset of the address in the function
 * @table: the table of the file that the function was loaded from
 * @span: the number of the span of the table that contains the function
 * @fn_offset: the offset of the function in that span
 * @only_falls: true if control must not jump to the address itself, but only reach it from the
 *	previous instruction
 */
struct gtp_region_ask {
	const u8 *fn;
	u32 fn_size;
	u32 at;
	const struct gtp_table *table;
	u32 span;
	u32 fn_offset;
	bool only_falls;
};

/**
 * gtp_region_find() - decide whether a jump may replace the code at an address
 * @ask: the question
 * @r: filled in when the answer is GTP_REGION_OK
 *
 * Decodes the live function from its start to its end. The address must be the start of an
 * instruction, and no direct jump of the function may lead into the region. Facts that require the
 * whole file (leaders, patched places, exception fixups) come from the table. So do the bounds of a
 * program's functions, and the targets of their indirect jumps.
 *
 * If the caller itself has put jumps into the function, @ask->fn must contain the original bytes.
 *
 * Context: any; time is linear in @fn_size.
 * Return: GTP_REGION_OK, or the reason for a refusal.
 */
enum gtp_region_verdict gtp_region_find(const struct gtp_region_ask *ask, struct gtp_region *r);

/* gtp_region_text, gtp_region_word - return a refusal in words, and as one word */
const char *gtp_region_text(enum gtp_region_verdict v);
const char *gtp_region_word(enum gtp_region_verdict v);

#endif /* _GTP_REGION_H */
