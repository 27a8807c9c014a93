// SPDX-License-Identifier: GPL-2.0-only
/* Compile a file's .eh_frame to rows of rules. */
#include <dwarf.h>
#include <err.h>
#include <stdlib.h>
#include "tools/regions/cfa.h"
#include "tools/unwind/rows.h"

enum {
	WORD = sizeof(u64),
	NONE = 0, /* the number of the rule GTP_CFI_NONE */
	UNKNOWN = 1,
	WORDS_MAX = GTP_CFI_LOST - 1,
	UC_SP = 160,
	UC_IP = 168,
};

/* --- expressions --- */

/* Read "@reg + an offset" at the start of an expression. */
static bool is_base(struct rgn_reader *r, u64 reg, s64 *offset)
{
	if (rgn_read(r, 1) != DW_OP_breg0 + reg)
		return false;
	*offset = (s64)rgn_read_leb(r, true);
	return !r->failed;
}

static bool is_done(const struct rgn_reader *r)
{
	return !r->failed && !rgn_read_left(r);
}

/* True if the expression is an address: @reg + *@offset. */
static bool is_address(struct rgn_reader expr, u64 reg, s64 *offset)
{
	return is_base(&expr, reg, offset) && is_done(&expr);
}

/* True if the expression is the word at @reg + *@offset, plus *@more words. */
static bool is_word(struct rgn_reader expr, u64 reg, s64 *offset, u8 *more)
{
	u64 by = 0;

	if (!is_base(&expr, reg, offset) || rgn_read(&expr, 1) != DW_OP_deref)
		return false;
	if (rgn_read_left(&expr)) {
		if (rgn_read(&expr, 1) != DW_OP_plus_uconst)
			return false;
		by = rgn_read_leb(&expr, false);
	}
	*more = (u8)(by / WORD);
	return is_done(&expr) && !(by % WORD) && by / WORD <= 255;
}

/*
 * True if the expression is the one that linkers write for the PLT: its entries of 16 bytes push a
 * word, and the instructions from byte *@from on are after that.
 */
static bool is_plt(struct rgn_reader expr, s64 *from)
{
	static const u8 rest[] = { DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus };
	s64 base, pc;
	u32 i;

	if (!is_base(&expr, RGN_DWARF_SP, &base) || base != WORD ||
	    !is_base(&expr, RGN_DWARF_RA, &pc) || pc || rgn_read(&expr, 1) != DW_OP_lit15 ||
	    rgn_read(&expr, 1) != DW_OP_and)
		return false;
	*from = (s64)rgn_read(&expr, 1) - DW_OP_lit0;
	for (i = 0; i < ARRAY_SIZE(rest); i++)
		if (rgn_read(&expr, 1) != rest[i])
			return false;
	return is_done(&expr) && *from > 0 && *from <= 15;
}

/* --- from a row of .eh_frame to a rule --- */

/* True if the registers are where the kernel puts them before it calls a signal handler. */
static bool is_signal(const struct rgn_cfa_row *row)
{
	const struct rgn_cfa_saved *ra = &row->saved[RGN_CFA_RA];
	s64 sp, ip;
	u8 more;

	return row->by_expr && is_word(row->expr, RGN_DWARF_SP, &sp, &more) && sp == UC_SP &&
	       !more && ra->how == RGN_CFA_EXPR && is_address(ra->expr, RGN_DWARF_SP, &ip) &&
	       ip == UC_IP;
}

/* Return how many words below the base a register is saved, or how else it is known. */
static u8 words(s64 below)
{
	return below % WORD || below < WORD || below / WORD > WORDS_MAX ? GTP_CFI_LOST :
									  (u8)(below / WORD);
}

static u8 where(const struct gtp_cfi_rule *rule, const struct rgn_cfa_saved *saved)
{
	s64 offset;

	if (saved->how == RGN_CFA_SAME)
		return GTP_CFI_SAME;
	if (rule->kind == GTP_CFI_AT_BP && saved->how == RGN_CFA_EXPR &&
	    is_address(saved->expr, RGN_DWARF_BP, &offset))
		return words(WORD - offset);
	if (rule->kind != GTP_CFI_AT_BP && saved->how == RGN_CFA_AT)
		return words(-saved->offset);
	return GTP_CFI_LOST;
}

static u8 kind_by_register(u64 reg)
{
	switch (reg) {
	case RGN_DWARF_SP:
		return GTP_CFI_SP;
	case RGN_DWARF_BP:
		return GTP_CFI_BP;
	case RGN_DWARF_BX:
		return GTP_CFI_BX;
	default:
		return GTP_CFI_UNKNOWN;
	}
}

static u8 kind_by_expression(struct rgn_reader expr, s64 *offset, u8 *more)
{
	if (is_word(expr, RGN_DWARF_SP, offset, more))
		return GTP_CFI_AT_SP;
	if (is_word(expr, RGN_DWARF_BP, offset, more))
		return GTP_CFI_AT_BP;
	*more = 0;
	return is_plt(expr, offset) ? GTP_CFI_PLT : GTP_CFI_UNKNOWN;
}

static struct gtp_cfi_rule find_cfa(const struct rgn_cfa_row *row)
{
	struct gtp_cfi_rule rule = { .kind = GTP_CFI_UNKNOWN };
	s64 offset = row->offset;

	if (row->by_expr)
		rule.kind = kind_by_expression(row->expr, &offset, &rule.more);
	else if (row->known)
		rule.kind = kind_by_register(row->reg);
	rule.offset = (s32)offset;
	if (rule.offset != offset)
		rule.kind = GTP_CFI_UNKNOWN;
	return rule;
}

static struct gtp_cfi_rule rule_of(const struct rgn_fde *fde, const struct rgn_cfa_row *row)
{
	const struct rgn_cfa_saved *ra = &row->saved[RGN_CFA_RA];
	struct gtp_cfi_rule rule = find_cfa(row), simple = { .kind = GTP_CFI_UNKNOWN };

	if (fde->ra != RGN_DWARF_RA)
		return simple;
	if (ra->how == RGN_CFA_NOWHERE)
		simple.kind = GTP_CFI_END;
	else if (fde->signal && is_signal(row))
		simple.kind = GTP_CFI_SIGNAL;
	if (simple.kind != GTP_CFI_UNKNOWN || rule.kind == GTP_CFI_UNKNOWN || fde->signal ||
	    ra->how != RGN_CFA_AT || ra->offset != -WORD ||
	    row->saved[RGN_CFA_SP].how != RGN_CFA_SAME)
		return simple;
	rule.bp = where(&rule, &row->saved[RGN_CFA_BP]);
	rule.bx = where(&rule, &row->saved[RGN_CFA_BX]);
	return rule;
}

/* --- collecting rows --- */

/* Return the number of a rule. If there are too many different ones, the rule is not known. */
static u32 number_of(struct unw_rows *rows, struct gtp_cfi_rule rule)
{
	u64 key;
	u32 at;

	static_assert(sizeof(rule) == sizeof(key), "a rule is one word");
	memcpy(&key, &rule, sizeof(key));
	at = (u32)(key * 0x9e3779b97f4a7c15 >> 40) % ARRAY_SIZE(rows->slot);
	for (; rows->slot[at]; at = (at + 1) % ARRAY_SIZE(rows->slot))
		if (!memcmp(&rows->rule[rows->slot[at] - 1], &rule, sizeof(rule)))
			return rows->slot[at] - 1;
	if (rows->rules == GTP_CFI_RULES)
		return UNKNOWN;
	rows->rule[rows->rules] = rule;
	rows->slot[at] = ++rows->rules;
	return rows->rules - 1;
}

static void append(struct unw_rows *rows, u64 at, u64 end, u32 rule)
{
	if (rows->n == rows->room) {
		rows->room = rows->room ? 2 * rows->room : 4096;
		rows->row = realloc(rows->row, rows->room * sizeof(*rows->row));
		if (!rows->row)
			err(2, "no memory");
	}
	rows->row[rows->n++] = (struct unw_row){ at, end, rule };
}

/* struct piece - an FDE whose rows are read; @done: the offset up to which there are rows */
struct piece {
	struct unw_rows *rows;
	const struct rgn_fde *fde;
	u64 done;
};

static void add_row(void *ctx, const struct rgn_cfa_row *row)
{
	struct piece *p = ctx;

	p->done = row->end + p->rows->shift;
	append(p->rows, row->at + p->rows->shift, p->done,
	       number_of(p->rows, rule_of(p->fde, row)));
}

static void add_fde(void *ctx, const struct rgn_fde *fde)
{
	struct unw_rows *rows = ctx;
	const struct unw_segment *code = unw_file_code(rows->file, fde->start, fde->size);
	struct piece piece = { rows, fde, 0 };
	u64 end;

	rows->fdes++;
	if (!code || code->offset + code->bytes > 1ULL << 32) {
		rows->skipped++;
		return;
	}
	rows->shift = code->offset - code->addr;
	piece.done = fde->start + rows->shift;
	if (rgn_cfa_rows(fde, add_row, &piece))
		return;
	rows->failed++;
	end = fde->start + fde->size + rows->shift;
	if (piece.done < end)
		append(rows, piece.done, end, UNKNOWN);
}

/* --- ordering rows --- */

static int order(const void *a, const void *b)
{
	const struct unw_row *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* Return the length of the instruction at @p if it only fills space between functions, or 0. */
static u32 filler(const u8 *p, u64 left)
{
	static const u8 sizes[] = { 3, 4, 7 }; /* by the kind of the address in the nop */
	u32 n = 0, bytes;

	while (n < left && n < 10 && (p[n] == 0x66 || p[n] == 0x2e))
		n++;
	if (n == left)
		return 0;
	if (p[n] == 0x90 || (!n && (p[n] == 0xcc || !p[n])))
		return n + 1;
	if (left - n < 3 || p[n] != 0x0f || p[n + 1] != 0x1f || p[n + 2] >> 6 == 3)
		return 0;
	bytes = sizes[p[n + 2] >> 6] + ((p[n + 2] & 7) == 4);
	return left - n < bytes ? 0 : n + bytes;
}

/* True if nothing but nops and zeros is between two functions: then no row is needed for it. */
static bool is_filled(const struct unw_file *file, u64 at, u64 end)
{
	u32 n = 1;

	for (; at < end && n; at += n)
		n = filler(file->bytes + at, end - at);
	return at == end && n;
}

/*
 * Put the rows in order. Cut off what overlaps, and leave out what is the same as before, so that
 * each row begins where the one before ends, or after a gap without a rule.
 */
static void settle(struct unw_rows *rows)
{
	u32 n = rows->n, i, to = 0;

	if (n)
		qsort(rows->row, n, sizeof(*rows->row), order);
	for (i = 0; i < n; i++) {
		struct unw_row row = rows->row[i], *last = to ? &rows->row[to - 1] : NULL;

		if (last && row.at < last->end)
			row.at = last->end;
		if (row.at >= row.end)
			continue;
		rows->code += row.end - row.at;
		rows->unknown += rows->rule[row.rule].kind == GTP_CFI_UNKNOWN ? row.end - row.at :
										0;
		if (last && is_filled(rows->file, last->end, row.at))
			last->end = row.at;
		if (last && last->end == row.at && last->rule == row.rule)
			last->end = row.end;
		else
			rows->row[to++] = row;
	}
	rows->n = to;
}

struct unw_rows *unw_rows_make(const struct unw_file *file)
{
	struct unw_rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		err(2, "no memory");
	rows->file = file;
	number_of(rows, (struct gtp_cfi_rule){ .kind = GTP_CFI_NONE });
	number_of(rows, (struct gtp_cfi_rule){ .kind = GTP_CFI_UNKNOWN });
	if (file->eh_frame.size)
		rgn_fde_each(&file->eh_frame, add_fde, rows);
	settle(rows);
	return rows;
}

void unw_rows_free(struct unw_rows *rows)
{
	free(rows->row);
	free(rows);
}
