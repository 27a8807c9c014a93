// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides whether a jump may replace live code: decodes its function, and consults the file's
 * table.
 */
#include "regions/region.h"

enum { ENDBR = 4, FTRACE_SITE = 5, NOWHERE = U32_MAX };

/**
 * struct walk - a walk over all instructions of the function
 * @ask: the question; the following offsets are relative to its function
 * @r: the result for the caller
 * @leaders: the span's list of leaders: instructions at which control may arrive from elsewhere
 * @sites: the span's list of places that are patched at run time
 * @faults: the span's list of instructions with an exception fixup
 * @off: the offset of the current instruction
 * @insn: the current instruction
 * @before: the kind of the previous instruction
 * @ftrace: the offset of the function tracer's call or nop, or NOWHERE
 * @site: the first place at or after the address that is patched at run time, or NOWHERE
 * @dead: true if control does not reach @insn from the previous instruction
 * @arrived: true if a jump leads into the region
 * @indirect: true if the function has an indirect jump, whose targets a decode does not show
 * @live: arithmetic flags that no instruction from the address to @insn has overwritten; valid
 *	while @flags_open is true
 * @flags_open: true while it is not known whether the flags in @live are read or overwritten first
 */
struct walk {
	const struct gtp_region_ask *ask;
	struct gtp_region *r;
	struct gtp_table_list leaders;
	struct gtp_table_list sites;
	struct gtp_table_list faults;
	u32 off;
	struct gtp_insn insn;
	u8 before;
	u32 ftrace;
	u32 site;
	bool dead;
	bool arrived;
	bool indirect;
	u16 live;
	bool flags_open;
};

/* Return the list's first entry at or after @from, or NOWHERE. Both are offsets in the function. */
static u32 next_in(const struct walk *w, const struct gtp_table_list *list, u32 from)
{
	u32 found;

	if (!gtp_table_next(list, w->ask->fn_offset + from, &found))
		return NOWHERE;
	return found - w->ask->fn_offset;
}

static const u8 *bytes_at(const struct walk *w)
{
	return w->ask->fn + w->off;
}

static bool at_endbr(const struct walk *w)
{
	static const u8 endbr[ENDBR] = { 0xf3, 0x0f, 0x1e, 0xfa };

	return w->insn.len == ENDBR && !memcmp(bytes_at(w), endbr, ENDBR);
}

static bool is_nop(const struct walk *w)
{
	const u8 *p = bytes_at(w), *end = p + w->insn.len;

	while (p < end && (*p == 0x66 || *p == 0x2e))
		p++;
	if (end - p == 1)
		return *p == 0x90;
	return end - p >= 3 && p[0] == 0x0f && p[1] == 0x1f;
}

static bool is_padding(const struct walk *w)
{
	return w->insn.kind == GTP_INSN_INT3 || is_nop(w);
}

static bool is_call(u8 kind)
{
	return kind == GTP_INSN_CALL || kind == GTP_INSN_CALL_REG;
}

static bool ends_flow(u8 kind)
{
	return kind == GTP_INSN_RET || kind == GTP_INSN_JMP || kind == GTP_INSN_JMP_REG;
}

/*
 * Record the ftrace site: a 5-byte nop or call at the start of the function, perhaps after an endbr
 * or the nop by which the kernel has replaced an unneeded endbr.
 */
static void note_ftrace(struct walk *w)
{
	if (!w->off && w->insn.len == ENDBR && (at_endbr(w) || is_nop(w)))
		return;
	if (w->off && w->off != ENDBR)
		return;
	if (w->ftrace == NOWHERE && w->insn.len == FTRACE_SITE &&
	    (is_nop(w) || w->insn.kind == GTP_INSN_CALL))
		w->ftrace = w->off;
}

/*
 * Return the first offset that no branch or call in the function may target. The forbidden offsets
 * end with the last byte of the jump that would be written.
 */
static u32 first_forbidden(const struct gtp_region_ask *ask)
{
	return ask->at + !ask->only_falls;
}

static void note_flow(struct walk *w)
{
	u32 at = w->ask->at;
	s64 target = (s64)w->off + w->insn.len + w->insn.rel;

	switch (w->insn.kind) {
	case GTP_INSN_CALL:
	case GTP_INSN_JMP:
	case GTP_INSN_JCC:
	case GTP_INSN_LOOP:
		w->arrived |= target >= first_forbidden(w->ask) &&
			      target < (s64)at + GTP_REGION_JUMP;
		break;
	case GTP_INSN_JMP_REG:
		w->indirect = true;
		break;
	default:
		break;
	}
}

/*
 * Record whether the instructions from the address on overwrite all flags before one is read. Stop
 * at the first branch.
 */
static void note_flags(struct walk *w)
{
	bool straight = w->insn.kind == GTP_INSN_PLAIN || w->insn.kind == GTP_INSN_RIP;

	if (w->off == w->ask->at) {
		w->live = GTP_FLAGS_ARITH;
		w->flags_open = true;
	}
	if (!straight || w->insn.flags_in & w->live || w->off >= w->site)
		w->flags_open = false;
	if (!w->flags_open)
		return;
	w->live &= (u16)~w->insn.flags_out;
	if (w->live)
		return;
	w->r->flags_dead = true;
	w->flags_open = false;
}

/*
 * True if the table has a leader or a patched place at the current instruction, so that it is code.
 * A nop there is not padding: it may be a jump label's, or the ftrace site of a weak function
 * without a symbol, which the linker has left in the text.
 */
static bool is_reached(const struct walk *w)
{
	return next_in(w, &w->leaders, w->off) == w->off || next_in(w, &w->sites, w->off) == w->off;
}

/*
 * True if the decoder may have lost the instruction boundaries. A breakpoint or jump of another
 * tracer overwrites the first bytes of instructions, and the remaining bytes may decode as
 * anything. Compilers put only padding between a jump or return and the next leader. Other code
 * there shows that the boundaries before the end of the region cannot be trusted.
 */
static bool astray(struct walk *w)
{
	if (w->off == w->ask->at && is_nop(w))
		w->dead = false; /* the address to probe is in padding */
	if (w->dead && w->insn.kind != GTP_INSN_INT3 && is_reached(w))
		w->dead = false;
	return w->dead && !is_padding(w);
}

/* True if the instruction is an int3 that is not padding, or any int3 at the address to probe. */
static bool breakpoint(struct walk *w)
{
	if (w->insn.kind != GTP_INSN_INT3)
		return false;
	if (!w->dead && !is_call(w->before) && w->before != GTP_INSN_TRAP)
		return true;
	/* An int3 after a call is padding: the callee does not return. */
	w->dead = true;
	return w->off == w->ask->at;
}

/*
 * True if the instruction has a 3e prefix that the kernel may rewrite. On a machine with one CPU
 * the kernel changes lock prefixes (f0) to 3e, and back to f0 when a second CPU comes up. The table
 * does not list them, because in the file they are all f0.
 */
static bool was_lock(const struct walk *w)
{
	const u8 *p = bytes_at(w), *end = p + w->insn.len;

	if (w->insn.kind == GTP_INSN_JMP_REG || w->insn.kind == GTP_INSN_CALL_REG)
		return false; /* 3e is notrack: the target needs no endbr */
	while (p < end && (*p == 0x66 || *p == 0x2e || *p == 0xf2 || *p == 0xf3))
		p++;
	return p < end && *p == 0x3e;
}

/* True for a jump at a place that the kernel patches: a jump label, which may become a nop. */
static bool may_be_nop(const struct walk *w)
{
	return w->insn.kind == GTP_INSN_JMP && next_in(w, &w->sites, w->off) == w->off;
}

/* Add one instruction to the region. */
static enum gtp_region_verdict displace(struct walk *w)
{
	struct gtp_region *r = w->r;
	u32 end = w->off + w->insn.len - w->ask->at;
	u8 kind = w->insn.kind;

	if (w->off == w->ask->at && w->before == GTP_INSN_FIXED)
		return GTP_REGION_COPY;
	r->len = (u8)end;
	if (w->dead)
		return GTP_REGION_OK;
	if (kind == GTP_INSN_TRAP || kind == GTP_INSN_FIXED || at_endbr(w) || was_lock(w))
		return GTP_REGION_COPY;
	/* A task that sleeps in the callee would return into the middle of the new jump. */
	if (is_call(kind) && end < GTP_REGION_JUMP)
		return GTP_REGION_RETURN;
	r->insn[r->n++] = w->insn;
	r->falls_out = !ends_flow(kind);
	return GTP_REGION_OK;
}

/* Handle the current instruction, which is before the region, in it, or right after it. */
static enum gtp_region_verdict step(struct walk *w)
{
	enum gtp_region_verdict v = GTP_REGION_OK;
	u32 at = w->ask->at;

	if (w->off > at && !w->r->len)
		return GTP_REGION_NOT_START;
	if (astray(w))
		return GTP_REGION_OTHERS;
	if (w->off >= at + GTP_REGION_JUMP)
		return GTP_REGION_OK;
	if (breakpoint(w))
		return GTP_REGION_OTHERS;
	note_ftrace(w);
	if (w->off >= at)
		v = displace(w);
	if (ends_flow(w->insn.kind))
		w->dead = !may_be_nop(w);
	w->before = w->insn.kind;
	return v;
}

static enum gtp_region_verdict walk(struct walk *w)
{
	const struct gtp_region_ask *ask = w->ask;
	enum gtp_region_verdict v = GTP_REGION_OK;

	for (w->off = 0; v == GTP_REGION_OK && w->off < ask->fn_size; w->off += w->insn.len) {
		if (gtp_insn_decode(&w->insn, bytes_at(w), ask->fn_size - w->off))
			return GTP_REGION_UNKNOWN_CODE;
		note_flow(w);
		if (w->off <= ask->at + (w->r->len ? w->r->len : GTP_REGION_JUMP))
			v = step(w);
		if (w->off == ask->at || w->flags_open)
			note_flags(w);
	}
	return v == GTP_REGION_OK && !w->r->len ? GTP_REGION_NOT_START : v;
}

/* Check the @len bytes at the address against the table and the jumps that were found. */
static enum gtp_region_verdict look_up(const struct walk *w, u32 len)
{
	u32 at = w->ask->at;

	if (w->arrived)
		return GTP_REGION_LEADER;
	if (w->site < at + len)
		return GTP_REGION_SITE;
	if (w->ftrace != NOWHERE && at < w->ftrace + FTRACE_SITE && at + len > w->ftrace)
		return GTP_REGION_SITE;
	if (next_in(w, &w->faults, at) < at + len)
		return GTP_REGION_FAULT;
	return GTP_REGION_OK;
}

/* Return the first entry at or after @from in the list of @kind, or NOWHERE. */
static u32 entry_of(const struct gtp_region_ask *ask, enum gtp_table_kind kind, u32 from)
{
	struct gtp_table_list list;
	u32 found;

	if (!gtp_table_find(ask->table, ask->span, kind, &list) ||
	    !gtp_table_next(&list, from, &found))
		return NOWHERE;
	return found;
}

/*
 * True if the function's bounds are known. In a program the caller's bounds must equal those in the
 * table, because symbols may be missing, and code without known bounds may contain data.
 */
static bool bounds_known(const struct gtp_region_ask *ask, const struct gtp_table_span *span)
{
	u32 start = ask->fn_offset;

	return !(span->flags & GTP_TABLE_PROGRAM) ||
	       (entry_of(ask, GTP_TABLE_FUNCTION, start) == start &&
		entry_of(ask, GTP_TABLE_LAST, start) == start + ask->fn_size - 1);
}

/*
 * True if the table has all targets of the function's indirect jumps. For a program that is
 * recorded function by function.
 */
static bool jumps_known(const struct gtp_region_ask *ask, const struct gtp_table_span *span)
{
	if (span->flags & GTP_TABLE_PROGRAM)
		return entry_of(ask, GTP_TABLE_PROVEN, ask->fn_offset) == ask->fn_offset;
	return span->flags & GTP_TABLE_COMPLETE;
}

/* Open the span's lists; return false if one is missing or the function is not within the span. */
static bool open_lists(struct walk *w, struct gtp_table_span *span)
{
	const struct gtp_region_ask *ask = w->ask;

	if (ask->span >= ask->table->spans_n)
		return false;
	gtp_table_span(ask->table, ask->span, span);
	if (ask->fn_offset > span->size || ask->fn_size > span->size - ask->fn_offset)
		return false;
	return gtp_table_find(ask->table, ask->span, GTP_TABLE_LEADER, &w->leaders) &&
	       gtp_table_find(ask->table, ask->span, GTP_TABLE_SITE, &w->sites) &&
	       gtp_table_find(ask->table, ask->span, GTP_TABLE_FAULT, &w->faults);
}

enum gtp_region_verdict gtp_region_find(const struct gtp_region_ask *ask, struct gtp_region *r)
{
	struct walk w = { .ask = ask, .r = r, .ftrace = NOWHERE };
	struct gtp_table_span span;
	enum gtp_region_verdict v;

	memset(r, 0, sizeof(*r));
	if (ask->at >= ask->fn_size)
		return GTP_REGION_NOT_START;
	if (ask->fn_size - ask->at < GTP_REGION_JUMP)
		return GTP_REGION_END;
	if (!open_lists(&w, &span))
		return GTP_REGION_NO_TABLE;
	if (!bounds_known(ask, &span))
		return GTP_REGION_BOUNDS;
	if (next_in(&w, &w.leaders, first_forbidden(ask)) < ask->at + GTP_REGION_JUMP)
		return GTP_REGION_LEADER;
	w.site = next_in(&w, &w.sites, ask->at);
	v = walk(&w);
	if (v == GTP_REGION_OK)
		v = look_up(&w, r->len);
	if (v == GTP_REGION_OK && w.indirect && !jumps_known(ask, &span))
		v = GTP_REGION_INDIRECT;
	if (v == GTP_REGION_OK)
		memcpy(r->bytes, ask->fn + ask->at, r->len);
	return v;
}

static const struct {
	const char *word;
	const char *text;
} refusals[] = { { "jump", "a jump may replace it" },
#define X(name, word, text) { word, text },
		 GTP_REGION_REFUSALS(X)
#undef X
};

const char *gtp_region_text(enum gtp_region_verdict v)
{
	return refusals[v].text;
}

const char *gtp_region_word(enum gtp_region_verdict v)
{
	return refusals[v].word;
}
