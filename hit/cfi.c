// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find callers of a program's functions by call frame information: the table, and steps by its
 * rules. gtp_cfi_open() checks the whole table, so look-ups need no checks.
 */
#include "hit/cfi.h"
#include "regions/table.h"

enum {
	AT_SIZE = 8,
	AT_CRC = 12,
	AT_ID = 16,
	AT_FIRST_PAGE = 48,
	AT_PAGES = 52,
	AT_ROWS = 56,
	AT_RULES = 60,
	WORD = sizeof(u64),
	PLT_ENTRY = 16,
	USER_BITS = 56, /* user addresses have no bits above */
	/* A remembered rule is offset << KNOWN_OFFSET | number of the rule << KNOWN_RULE | 1. */
	KNOWN_RULE = 1,
	KNOWN_OFFSET = 17,
	KNOWN_BITS_MIN = 4,
	KNOWN_BITS_MAX = 13,
};

static u32 get16(const u8 *p)
{
	u16 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static u32 get32(const u8 *p)
{
	u32 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* --- checking a table --- */

static u32 page_row(const struct gtp_cfi *t, u32 page)
{
	return get32(t->bytes + GTP_CFI_HEAD + 4 * (size_t)page);
}

static const u8 *row_at(const struct gtp_cfi *t, u32 i)
{
	return t->rows + (size_t)GTP_CFI_ROW * i;
}

static const char *check_head(struct gtp_cfi *t)
{
	u64 rules_at, rows_at;

	if (t->size < GTP_CFI_HEAD)
		return "it is shorter than its header";
	if (memcmp(t->bytes, GTP_CFI_MAGIC, 8))
		return "it is no table of call frames, or one of another version";
	if (get32(t->bytes + AT_SIZE) != t->size)
		return "its size is not the one in its header";
	if (get32(t->bytes + AT_CRC) != gtp_table_crc(t->bytes + AT_ID, t->size - AT_ID))
		return "its checksum is wrong";
	if (t->bytes[AT_ID] > GTP_CFI_ID)
		return "its build-id is too long";
	t->first_page = get32(t->bytes + AT_FIRST_PAGE);
	t->pages_n = get32(t->bytes + AT_PAGES);
	t->rows_n = get32(t->bytes + AT_ROWS);
	t->rules_n = get32(t->bytes + AT_RULES);
	if (!t->pages_n || t->pages_n > GTP_CFI_PAGES ||
	    t->first_page > GTP_CFI_PAGES - t->pages_n || t->rules_n > GTP_CFI_RULES)
		return "it has too many pages or rules, or none";
	rules_at = GTP_CFI_HEAD + 4 * ((u64)t->pages_n + 1);
	rows_at = rules_at + (u64)GTP_CFI_RULE * t->rules_n;
	if (rows_at + (u64)GTP_CFI_ROW * t->rows_n != t->size)
		return "its parts have another size than the whole";
	t->rules = t->bytes + rules_at;
	t->rows = t->bytes + rows_at;
	return NULL;
}

static const char *check_page(const struct gtp_cfi *t, u32 page)
{
	u32 first = page_row(t, page), end = page_row(t, page + 1), i;

	if (first >= end || end > t->rows_n)
		return "a page has no rows, or other rows than its own";
	if (get16(row_at(t, first)))
		return "a page has no row for its first byte";
	for (i = first; i < end; i++) {
		if (i > first && get16(row_at(t, i)) <= get16(row_at(t, i - 1)))
			return "its rows are not in order";
		if (get16(row_at(t, i) + 2) >= t->rules_n)
			return "a row has a rule that does not exist";
	}
	return NULL;
}

static const char *check_rules(const struct gtp_cfi *t)
{
	u32 i;

	for (i = 0; i < t->rules_n; i++)
		if (t->rules[(size_t)GTP_CFI_RULE * i] >= GTP_CFI_KINDS)
			return "it has a rule of an unknown kind";
	return NULL;
}

static const char *check(struct gtp_cfi *t)
{
	const char *why = check_head(t);
	u32 page;

	if (!why)
		why = check_rules(t);
	if (!why && (page_row(t, 0) || page_row(t, t->pages_n) != t->rows_n))
		why = "its pages do not have all of its rows";
	for (page = 0; !why && page < t->pages_n; page++)
		why = check_page(t, page);
	return why;
}

int gtp_cfi_open(struct gtp_cfi *t, const void *bytes, size_t size, const char **why)
{
	*t = (struct gtp_cfi){ .bytes = bytes, .size = (u32)size };
	*why = size > GTP_CFI_BYTES ? "it is too large" : check(t);
	return *why ? -EINVAL : 0;
}

u32 gtp_cfi_build_id(const struct gtp_cfi *t, const u8 **id)
{
	*id = t->bytes + AT_ID + 1;
	return t->bytes[AT_ID];
}

/* --- looking up a rule --- */

/* Return the number of the rule in the last of @n rows that is for @low or for a lower offset. */
static u32 search(const u8 *row, u32 n, u32 low)
{
	/* The first of the @n rows is for @low or for a lower offset. */
	while (n > 1) {
		u32 half = n / 2;

		if (get16(row + (size_t)GTP_CFI_ROW * half) <= low)
			row += (size_t)GTP_CFI_ROW * half;
		n -= half;
	}
	return get16(row + 2);
}

u32 gtp_cfi_known_bits(const struct gtp_cfi *t)
{
	u32 bits = KNOWN_BITS_MIN;

	/* A program's stacks have few different callers, compared with all its instructions. */
	while (bits < KNOWN_BITS_MAX && t->rows_n >> 3 > 1U << bits)
		bits++;
	return bits;
}

void gtp_cfi_remember(struct gtp_cfi *t, u64 *known, u32 bits)
{
	t->known = known;
	t->known_bits = bits;
}

static u32 search_page(const struct gtp_cfi *t, u32 page, u32 offset)
{
	u32 first = page_row(t, page);

	return search(row_at(t, first), page_row(t, page + 1) - first,
		      offset & ((1U << GTP_CFI_PAGE_SHIFT) - 1));
}

/* Return the number of the rule for an offset in a page of the table, and remember it. */
static u32 find_number(const struct gtp_cfi *t, u32 page, u32 offset)
{
	u64 *place, known;
	u32 number;

	if (!t->known)
		return search_page(t, page, offset);
	place = &t->known[offset * 0x9e3779b9U >> (32 - t->known_bits)];
	known = READ_ONCE(*place);
	if (likely(known & 1 && known >> KNOWN_OFFSET == offset))
		return (u32)(known >> KNOWN_RULE) & (GTP_CFI_RULES - 1);
	number = search_page(t, page, offset);
	WRITE_ONCE(*place, (u64)offset << KNOWN_OFFSET | (u64)number << KNOWN_RULE | 1);
	return number;
}

struct gtp_cfi_rule gtp_cfi_find(const struct gtp_cfi *t, u64 offset)
{
	u64 page = (offset >> GTP_CFI_PAGE_SHIFT) - t->first_page;
	const u8 *rule;

	if (page >= t->pages_n)
		return (struct gtp_cfi_rule){ .kind = GTP_CFI_NONE };
	rule = t->rules + (size_t)GTP_CFI_RULE * find_number(t, (u32)page, (u32)offset);
	return (struct gtp_cfi_rule){
		.kind = rule[0],
		.bp = rule[1],
		.bx = rule[2],
		.more = rule[3],
		.offset = (s32)get32(rule + 4),
	};
}

/* --- steps --- */

/*
 * Read memory of the program. Refuse kernel addresses, which a program may have put into its
 * registers: @read would accept them. Return 0 or -EFAULT.
 */
static int get(const struct gtp_cfi_memory *m, void *dst, u64 addr, u32 len)
{
	return addr >> USER_BITS ? -EFAULT : m->read(m->ctx, dst, addr, len);
}

/* Read the CFA from the word at @addr. */
static bool read_cfa(const struct gtp_cfi_rule *rule, const struct gtp_cfi_memory *m, u64 addr,
		     u64 *cfa)
{
	if (get(m, cfa, addr, sizeof(*cfa)))
		return false;
	*cfa += (u64)rule->more * WORD;
	return true;
}

static bool find_cfa(const struct gtp_cfi_rule *rule, const struct gtp_cfi_regs *r,
		     const struct gtp_cfi_memory *m, u64 *cfa)
{
	u64 by = (u64)(s64)rule->offset;

	switch (rule->kind) {
	case GTP_CFI_SP:
		*cfa = r->sp + by;
		return true;
	case GTP_CFI_BP:
		*cfa = r->bp + by;
		return !(r->lost & GTP_CFI_BP_LOST);
	case GTP_CFI_BX:
		*cfa = r->bx + by;
		return !(r->lost & GTP_CFI_BX_LOST);
	case GTP_CFI_AT_SP:
		return read_cfa(rule, m, r->sp + by, cfa);
	case GTP_CFI_AT_BP:
		return !(r->lost & GTP_CFI_BP_LOST) && read_cfa(rule, m, r->bp + by, cfa);
	case GTP_CFI_PLT:
		*cfa = r->sp + WORD + ((r->pc & (PLT_ENTRY - 1)) >= by ? WORD : 0);
		return true;
	default:
		return false;
	}
}

/* Find the caller's value of a register, which is saved @where words below @base. */
static void restore(struct gtp_cfi_regs *r, u64 *reg, u8 where, u64 base, u8 lost,
		    const struct gtp_cfi_memory *m)
{
	if (where == GTP_CFI_SAME)
		return;
	if (where == GTP_CFI_LOST || get(m, reg, base - (u64)where * WORD, sizeof(*reg)))
		r->lost |= lost;
	else
		r->lost &= (u8)~lost;
}

enum gtp_cfi_step gtp_cfi_step(const struct gtp_cfi_rule *rule, struct gtp_cfi_regs *r,
			       const struct gtp_cfi_memory *m)
{
	u64 cfa, base, pc;

	if (rule->kind == GTP_CFI_END)
		return GTP_CFI_OUTERMOST;
	if (rule->kind == GTP_CFI_SIGNAL)
		return gtp_cfi_after_signal(r, m);
	if (!find_cfa(rule, r, m, &cfa) || cfa % WORD || cfa < WORD || cfa - WORD < r->sp ||
	    get(m, &pc, cfa - WORD, sizeof(pc)))
		return GTP_CFI_NOWHERE;
	base = rule->kind == GTP_CFI_AT_BP ? r->bp + WORD : cfa;
	restore(r, &r->bx, rule->bx, base, GTP_CFI_BX_LOST, m);
	restore(r, &r->bp, rule->bp, base, GTP_CFI_BP_LOST, m);
	r->pc = pc;
	r->sp = cfa;
	r->is_return = true;
	return GTP_CFI_CALLER;
}

/* The kernel's struct ucontext has the registers as in struct sigcontext. */
enum { UC_BP = 120, UC_BX = 128, UC_SP = 160, UC_IP = 168, UC_WORDS = (UC_IP - UC_BP) / WORD + 1 };

static_assert(UC_IP + WORD == GTP_CFI_SIGNAL_BYTES, "the words that are read");

enum gtp_cfi_step gtp_cfi_after_signal(struct gtp_cfi_regs *r, const struct gtp_cfi_memory *m)
{
	u64 word[UC_WORDS];

	if (r->sp % WORD || r->sp >> USER_BITS || get(m, word, r->sp + UC_BP, sizeof(word)))
		return GTP_CFI_NOWHERE;
	*r = (struct gtp_cfi_regs){
		.pc = word[(UC_IP - UC_BP) / WORD],
		.sp = word[(UC_SP - UC_BP) / WORD],
		.bp = word[0],
		.bx = word[(UC_BX - UC_BP) / WORD],
	};
	return GTP_CFI_CALLER;
}
