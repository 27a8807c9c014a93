// SPDX-License-Identifier: GPL-2.0-only
/*
 * Apply the rules for jumps: our rule, which uses all facts about the bytes, and the kernel's own
 * rule for optimised kprobes.
 */
#include "tools/regions/verdict.h"

struct naming {
	const char *word;
	const char *text;
};

static const struct naming verdicts[] = {
#define X(name, word, text) { word, text },
	RGN_VERDICTS(X)
#undef X
};

static const struct naming evidences[] = {
#define X(name, word, text) { word, text },
	RGN_EVIDENCES(X)
#undef X
};

static const char *const kernel_rules[] = {
#define X(name, text) text,
	RGN_KERNEL_RULES(X)
#undef X
};

const char *rgn_verdict_word(enum rgn_verdict_id id)
{
	return verdicts[id].word;
}

const char *rgn_verdict_text(enum rgn_verdict_id id)
{
	return verdicts[id].text;
}

const char *rgn_evidence_word(enum rgn_evidence e)
{
	return evidences[e].word;
}

const char *rgn_evidence_text(enum rgn_evidence e)
{
	return evidences[e].text;
}

const char *rgn_kernel_text(enum rgn_kernel_id id)
{
	return kernel_rules[id];
}

static u8 kind_at(const struct rgn_span *span, u32 at)
{
	return span->insn[at] & RGN_DECODED_KIND;
}

/*
 * True for padding in a program; always false in a kernel, where symbols do not show where a
 * function's code ends.
 */
static bool pads_function(const struct rgn_span *span, const struct rgn_function *f, u32 at)
{
	if (f->flags & RGN_FN_UNBOUND)
		return kind_at(span, at) == RGN_DECODED_NOP;
	return f->flags & RGN_FN_BOUND && at >= rgn_function_start(span, f) + f->body;
}

/* Return the reason why no probe can be set at @at; RGN_VERDICT_PROBE if a probe can be set. */
static enum rgn_verdict_id no_probe(const struct rgn_span *span, const struct rgn_function *f,
				    u32 at)
{
	if (span->kind == RGN_SPAN_PLT)
		return RGN_VERDICT_PLT;
	if (span->kind != RGN_SPAN_TEXT)
		return RGN_VERDICT_INIT;
	if (!span->len[at])
		return RGN_VERDICT_NOT_START;
	if (kind_at(span, at) == RGN_DECODED_BAD)
		return RGN_VERDICT_BAD;
	if (kind_at(span, at) == RGN_DECODED_INT3)
		return RGN_VERDICT_INT3;
	if (pads_function(span, f, at))
		return RGN_VERDICT_NOT_CODE;
	if (f->flags & RGN_FN_ENTRY)
		return RGN_VERDICT_ENTRY;
	if (f->flags & RGN_FN_NOINSTR)
		return RGN_VERDICT_NOINSTR;
	if (f->flags & RGN_FN_NOKPROBE)
		return RGN_VERDICT_NOKPROBE;
	if (span->site[at] & RGN_SITE_BUG)
		return RGN_VERDICT_BUG;
	if (span->site[at] & RGN_SITE_JUMP_LABEL)
		return RGN_VERDICT_JUMP_LABEL;
	if (span->site[at] & RGN_SITE_STATIC_CALL)
		return RGN_VERDICT_STATIC_CALL;
	if (span->site[at] & RGN_SITE_FTRACE)
		return RGN_VERDICT_FTRACE;
	return RGN_VERDICT_PROBE;
}

u32 rgn_verdict_leaders(const struct rgn_span *span, u32 at, u32 *first)
{
	u32 bits = 0, i;

	*first = 0;
	for (i = at + 1; i < at + GTP_REGION_JUMP && i < span->size; i++) {
		if (span->leader[i] && !bits)
			*first = i;
		bits |= span->leader[i];
	}
	return bits;
}

/* Return the @wanted site bits of @n bytes; *@first receives the offset of the first such byte. */
static u32 sites(const struct rgn_span *span, u32 at, u32 n, u32 wanted, u32 *first)
{
	u32 bits = 0, i;

	for (i = at; i < at + n && i < span->size; i++) {
		if (span->site[i] & wanted && !bits)
			*first = i;
		bits |= span->site[i] & wanted;
	}
	return bits;
}

static bool ends_flow(u8 kind)
{
	return kind == RGN_DECODED_RET || kind == RGN_DECODED_JMP || kind == RGN_DECODED_IJMP;
}

static bool is_padding(u8 kind)
{
	return kind == RGN_DECODED_INT3 || kind == RGN_DECODED_NOP;
}

/*
 * True for a call of a retpoline. On a CPU that needs no retpolines, boot changes it to an indirect
 * call of two bytes, which returns to an earlier address, perhaps into the jump.
 */
static bool may_become_short(const struct rgn_span *span, u32 i, u32 at)
{
	return kind_at(span, i) == RGN_DECODED_CALL && span->site[i] & RGN_SITE_THUNK &&
	       i + 2 < at + GTP_REGION_JUMP;
}

/*
 * Walk the instructions that a jump displaces. @v receives their length, and the first instruction
 * that cannot be moved. After a return or a jump only padding may follow, which does not run and
 * needs no copy. If other code follows, control enters it from an unknown place, so refuse it.
 */
static enum rgn_verdict_id displaced(const struct rgn_span *span, u32 at, u32 end,
				     struct rgn_verdict *v)
{
	enum rgn_verdict_id id = RGN_VERDICT_JUMP;
	bool dead = false;
	u32 i = at;

	while (i < at + GTP_REGION_JUMP) {
		u8 kind = i < end ? kind_at(span, i) : RGN_DECODED_BAD;

		v->where = span->addr + i;
		if (kind == RGN_DECODED_BAD || !span->len[i])
			return RGN_VERDICT_BAD_NEAR;
		if (span->site[i] & RGN_SITE_FAULT)
			return RGN_VERDICT_FAULT;
		if (dead && !is_padding(kind))
			return RGN_VERDICT_COPY;
		if (!dead && !(span->insn[i] & RGN_DECODED_COPY))
			return RGN_VERDICT_COPY;
		if (may_become_short(span, i, at))
			return RGN_VERDICT_BOOT_SITE;
		if (!(span->insn[i] & RGN_DECODED_BOOST))
			id = RGN_VERDICT_RELOCATE;
		dead |= ends_flow(kind);
		i += span->len[i];
		/* A task that sleeps in the callee would return into the middle of the jump. */
		if (i < at + GTP_REGION_JUMP &&
		    (kind == RGN_DECODED_CALL || kind == RGN_DECODED_ICALL))
			return RGN_VERDICT_RETURN;
	}
	v->len = i - at;
	v->where = 0;
	return id;
}

/*
 * True if the function has an indirect jump whose targets are unknown: neither relocations nor rows
 * of the line table nor a proof show them.
 */
static bool unknown_jumps(const struct rgn_text *text, const struct rgn_function *f,
			  enum rgn_evidence evidence)
{
	bool indirect = f->flags & RGN_FN_IJMP;

	/*
	 * A kernel with retpolines is built without jump tables, so a jump to a retpoline is a tail
	 * call.
	 */
	if (!text->image->kernel)
		indirect = f->flags & (RGN_FN_IJMP | RGN_FN_LANDING);
	return indirect && evidence == RGN_EVIDENCE_DIRECT;
}

static enum rgn_evidence evidence_of(const struct rgn_text *text, const struct rgn_function *f)
{
	/*
	 * The jump tables of a program contain differences of two addresses, for which there may be
	 * no relocations. The kernel has no such tables.
	 */
	if (text->relocations && text->image->kernel)
		return RGN_EVIDENCE_RELOCS;
	if (f->flags & RGN_FN_ROWS)
		return RGN_EVIDENCE_ROWS;
	return f->flags & RGN_FN_PROVEN ? RGN_EVIDENCE_TABLES : RGN_EVIDENCE_DIRECT;
}

static void judge(const struct rgn_text *text, const struct rgn_span *span,
		  const struct rgn_function *f, u32 at, struct rgn_verdict *v)
{
	u32 end = rgn_function_end(span, f), first = 0;
	enum rgn_verdict_id id;

	if (f->flags & RGN_FN_UNBOUND) {
		v->id = RGN_VERDICT_NO_BOUNDS;
		return;
	}
	if (end - at < GTP_REGION_JUMP) {
		v->id = RGN_VERDICT_END;
		return;
	}
	v->bits = rgn_verdict_leaders(span, at, &first);
	if (v->bits) {
		v->id = RGN_VERDICT_LEADER;
		v->where = span->addr + first;
		return;
	}
	if (unknown_jumps(text, f, v->evidence)) {
		v->id = RGN_VERDICT_INDIRECT;
		return;
	}
	id = displaced(span, at, end, v);
	v->id = id;
	if (id < RGN_VERDICT_ACCEPT)
		return;
	if (f->flags & (RGN_FN_BAD | RGN_FN_ASTRAY)) {
		v->id = RGN_VERDICT_BAD_NEAR;
		return;
	}
	v->bits = sites(span, at, v->len, RGN_SITE_RUNTIME, &first);
	if (v->bits) {
		v->id = RGN_VERDICT_SITE;
		v->where = span->addr + first;
		return;
	}
	v->bits = sites(span, at, v->len, RGN_SITE_BOOT, &first);
	if (v->bits) {
		v->id = RGN_VERDICT_BOOT_SITE;
		v->where = span->addr + first;
	}
}

void rgn_verdict_get(const struct rgn_text *text, u64 addr, struct rgn_verdict *v)
{
	const struct rgn_span *span = rgn_text_span(text, addr);
	const struct rgn_function *f;

	memset(v, 0, sizeof(*v));
	if (!span) {
		v->id = RGN_VERDICT_NOT_CODE;
		return;
	}
	f = rgn_text_function(span, addr);
	v->evidence = evidence_of(text, f);
	v->id = no_probe(span, f, (u32)(addr - span->addr));
	if (v->id == RGN_VERDICT_PROBE)
		judge(text, span, f, (u32)(addr - span->addr), v);
}

bool rgn_verdict_boost(const struct rgn_span *span, const struct rgn_function *f, u32 at)
{
	u32 end = rgn_function_end(span, f), i = at;

	while (i < at + GTP_REGION_JUMP) {
		if (i >= end || !span->len[i] || !(span->insn[i] & RGN_DECODED_BOOST) ||
		    span->site[i] & RGN_SITE_FAULT)
			return false;
		i += span->len[i];
	}
	return true;
}

u32 rgn_verdict_denied(const struct rgn_text *text, u64 addr)
{
	const struct rgn_span *span = rgn_text_span(text, addr);
	const struct rgn_function *f;
	struct rgn_verdict v;
	u32 at, first, bits;

	if (!span)
		return 0;
	at = (u32)(addr - span->addr);
	bits = rgn_verdict_leaders(span, at, &first);
	if (bits & RGN_LEADER_JUMP || !(bits & ~(u32)RGN_LEADER_SEEN))
		return 0;
	/*
	 * Every kernel checks the jumps inside the function, and whether its kprobes can move the
	 * instructions.
	 */
	f = rgn_text_function(span, addr);
	rgn_verdict_get(text, addr, &v);
	if (v.id < RGN_VERDICT_PROBE || !rgn_verdict_boost(span, f, at))
		return 0;
	return bits & ~(u32)RGN_LEADER_SEEN;
}

static u32 displaced_len(const struct rgn_span *span, u32 at)
{
	u32 i = at;

	while (i < at + GTP_REGION_JUMP)
		i += span->len[i];
	return i - at;
}

enum rgn_kernel_id rgn_verdict_kernel(const struct rgn_span *span, const struct rgn_function *f,
				      u32 at, bool indirect)
{
	u32 end = rgn_function_end(span, f), i, first;

	if (end - at < GTP_REGION_JUMP)
		return RGN_KERNEL_END;
	if (f->flags & RGN_FN_FAULT)
		return RGN_KERNEL_FAULT;
	if (f->flags & RGN_FN_BAD)
		return RGN_KERNEL_BAD;
	if (indirect && f->flags & (RGN_FN_IJMP | RGN_FN_THUNK))
		return RGN_KERNEL_INDIRECT;
	if (indirect && f->flags & RGN_FN_RETHUNK)
		return RGN_KERNEL_RETHUNK;
	for (i = at + 1; i < at + GTP_REGION_JUMP; i++) {
		if (span->leader[i] & RGN_LEADER_JUMP)
			return RGN_KERNEL_INSIDE;
	}
	if (i < end && span->leader[i] & RGN_LEADER_JUMP)
		return RGN_KERNEL_BEHIND;
	if (!rgn_verdict_boost(span, f, at))
		return RGN_KERNEL_COPY;
	if (sites(span, at, displaced_len(span, at), RGN_SITE_RUNTIME, &first))
		return RGN_KERNEL_SITE;
	return RGN_KERNEL_ACCEPT;
}
