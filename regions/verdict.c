// SPDX-License-Identifier: GPL-2.0-only
/* The rules: ours by what is known of the bytes, and the kernel's as its sources have it. */
#include "regions/verdict.h"

static const struct {
	const char *word;
	const char *text;
} verdicts[] = {
#define X(name, word, text) { word, text },
	GTP_VERDICTS(X)
#undef X
};

static const struct {
	const char *word;
	const char *text;
} evidences[] = {
#define X(name, word, text) { word, text },
	GTP_EVIDENCES(X)
#undef X
};

static const char *const kernel_rules[] = {
#define X(name, text) text,
	GTP_KERNEL_RULES(X)
#undef X
};

const char *gtp_verdict_word(enum gtp_verdict_id id)
{
	return verdicts[id].word;
}

const char *gtp_verdict_text(enum gtp_verdict_id id)
{
	return verdicts[id].text;
}

const char *gtp_evidence_word(enum gtp_evidence e)
{
	return evidences[e].word;
}

const char *gtp_evidence_text(enum gtp_evidence e)
{
	return evidences[e].text;
}

const char *gtp_kernel_text(enum gtp_kernel_id id)
{
	return kernel_rules[id];
}

static u8 kind_at(const struct gtp_span *span, u32 at)
{
	return span->insn[at] & GTP_DECODED_KIND;
}

static u32 function_end(const struct gtp_span *span, const struct gtp_function *f)
{
	return (u32)(f->addr - span->addr) + f->size;
}

/* Why no probe at all can be set there; GTP_VERDICT_PROBE when one can. */
static enum gtp_verdict_id no_probe(const struct gtp_span *span, const struct gtp_function *f,
				    u32 at)
{
	if (span->kind != GTP_SPAN_TEXT)
		return GTP_VERDICT_INIT;
	if (!span->len[at])
		return GTP_VERDICT_NOT_START;
	if (kind_at(span, at) == GTP_DECODED_BAD)
		return GTP_VERDICT_BAD;
	if (kind_at(span, at) == GTP_DECODED_INT3)
		return GTP_VERDICT_INT3;
	if (f->flags & GTP_FN_ENTRY)
		return GTP_VERDICT_ENTRY;
	if (f->flags & GTP_FN_NOINSTR)
		return GTP_VERDICT_NOINSTR;
	if (f->flags & GTP_FN_NOKPROBE)
		return GTP_VERDICT_NOKPROBE;
	if (span->site[at] & GTP_SITE_BUG)
		return GTP_VERDICT_BUG;
	if (span->site[at] & GTP_SITE_JUMP_LABEL)
		return GTP_VERDICT_JUMP_LABEL;
	if (span->site[at] & GTP_SITE_STATIC_CALL)
		return GTP_VERDICT_STATIC_CALL;
	if (span->site[at] & GTP_SITE_FTRACE)
		return GTP_VERDICT_FTRACE;
	return GTP_VERDICT_PROBE;
}

u32 gtp_verdict_leaders(const struct gtp_span *span, u32 at, u32 *first)
{
	u32 bits = 0, i;

	*first = 0;
	for (i = at + 1; i < at + GTP_JUMP_BYTES && i < span->size; i++) {
		if (span->leader[i] && !bits)
			*first = i;
		bits |= span->leader[i];
	}
	return bits;
}

/* The site bits of @n bytes; *@first is where the first of them is. */
static u32 sites(const struct gtp_span *span, u32 at, u32 n, u32 wanted, u32 *first)
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
	return kind == GTP_DECODED_RET || kind == GTP_DECODED_JMP || kind == GTP_DECODED_IJMP;
}

static bool is_padding(u8 kind)
{
	return kind == GTP_DECODED_INT3 || kind == GTP_DECODED_NOP;
}

/*
 * Where a CPU needs no retpolines, boot makes such a call one of two bytes, which returns so much
 * the earlier: into the jump.
 */
static bool may_become_short(const struct gtp_span *span, u32 i, u32 at)
{
	return kind_at(span, i) == GTP_DECODED_CALL && span->site[i] & GTP_SITE_THUNK &&
	       i + 2 < at + GTP_JUMP_BYTES;
}

/*
 * Walk the instructions that a jump displaces. @v gets their length, and the first that cannot be
 * moved. Behind a return or jump there is only padding: nothing runs it, so nothing needs its copy.
 * Were it other code, something would have to lead there that is not known here.
 */
static enum gtp_verdict_id displaced(const struct gtp_span *span, u32 at, u32 end,
				     struct gtp_verdict *v)
{
	enum gtp_verdict_id id = GTP_VERDICT_JUMP;
	bool dead = false;
	u32 i = at;

	while (i < at + GTP_JUMP_BYTES) {
		u8 kind = i < end ? kind_at(span, i) : GTP_DECODED_BAD;

		v->where = span->addr + i;
		if (kind == GTP_DECODED_BAD || !span->len[i])
			return GTP_VERDICT_BAD_NEAR;
		if (span->site[i] & GTP_SITE_FAULT)
			return GTP_VERDICT_FAULT;
		if (dead && !is_padding(kind))
			return GTP_VERDICT_COPY;
		if (!dead && !(span->insn[i] & GTP_DECODED_COPY))
			return GTP_VERDICT_COPY;
		if (may_become_short(span, i, at))
			return GTP_VERDICT_BOOT_SITE;
		if (!(span->insn[i] & GTP_DECODED_BOOST))
			id = GTP_VERDICT_RELOCATE;
		dead |= ends_flow(kind);
		i += span->len[i];
		/* A task may sleep in the call while the jump is written. */
		if (i < at + GTP_JUMP_BYTES &&
		    (kind == GTP_DECODED_CALL || kind == GTP_DECODED_ICALL))
			return GTP_VERDICT_RETURN;
	}
	v->len = i - at;
	v->where = 0;
	return id;
}

/* A table of jumps that nothing tells of: relocations and line table rows would. */
static bool unknown_jumps(const struct gtp_text *text, const struct gtp_function *f,
			  enum gtp_evidence evidence)
{
	bool indirect = f->flags & GTP_FN_IJMP;

	/*
	 * A kernel with retpolines is built without jump tables: what jumps to one is a tail call.
	 */
	if (!text->image->kernel)
		indirect = f->flags & (GTP_FN_IJMP | GTP_FN_LANDING);
	return indirect && evidence == GTP_EVIDENCE_DIRECT;
}

static enum gtp_evidence evidence_of(const struct gtp_text *text, const struct gtp_function *f)
{
	/*
	 * A program's tables hold distances between two places of code, whose relocations name
	 * neither the one nor the other for sure. The kernel has no such tables.
	 */
	if (text->relocations && text->image->kernel)
		return GTP_EVIDENCE_RELOCS;
	return f->flags & GTP_FN_ROWS ? GTP_EVIDENCE_ROWS : GTP_EVIDENCE_DIRECT;
}

static void judge(const struct gtp_text *text, const struct gtp_span *span,
		  const struct gtp_function *f, u32 at, struct gtp_verdict *v)
{
	u32 end = function_end(span, f), first = 0;
	enum gtp_verdict_id id;

	if (end - at < GTP_JUMP_BYTES) {
		v->id = GTP_VERDICT_END;
		return;
	}
	v->bits = gtp_verdict_leaders(span, at, &first);
	if (v->bits) {
		v->id = GTP_VERDICT_LEADER;
		v->where = span->addr + first;
		return;
	}
	if (unknown_jumps(text, f, v->evidence)) {
		v->id = GTP_VERDICT_INDIRECT;
		return;
	}
	id = displaced(span, at, end, v);
	v->id = id;
	if (id < GTP_VERDICT_ACCEPT)
		return;
	if (f->flags & GTP_FN_BAD) {
		v->id = GTP_VERDICT_BAD_NEAR;
		return;
	}
	v->bits = sites(span, at, v->len, GTP_SITE_RUNTIME, &first);
	if (v->bits) {
		v->id = GTP_VERDICT_SITE;
		v->where = span->addr + first;
		return;
	}
	v->bits = sites(span, at, v->len, GTP_SITE_BOOT, &first);
	if (v->bits) {
		v->id = GTP_VERDICT_BOOT_SITE;
		v->where = span->addr + first;
	}
}

void gtp_verdict_get(const struct gtp_text *text, u64 addr, struct gtp_verdict *v)
{
	const struct gtp_span *span = gtp_text_span(text, addr);
	const struct gtp_function *f;

	memset(v, 0, sizeof(*v));
	if (!span) {
		v->id = GTP_VERDICT_NOT_CODE;
		return;
	}
	f = gtp_text_function(span, addr);
	v->evidence = evidence_of(text, f);
	v->id = no_probe(span, f, (u32)(addr - span->addr));
	if (v->id == GTP_VERDICT_PROBE)
		judge(text, span, f, (u32)(addr - span->addr), v);
}

bool gtp_verdict_boost(const struct gtp_span *span, const struct gtp_function *f, u32 at)
{
	u32 end = function_end(span, f), i = at;

	while (i < at + GTP_JUMP_BYTES) {
		if (i >= end || !span->len[i] || !(span->insn[i] & GTP_DECODED_BOOST) ||
		    span->site[i] & GTP_SITE_FAULT)
			return false;
		i += span->len[i];
	}
	return true;
}

u32 gtp_verdict_denied(const struct gtp_text *text, u64 addr)
{
	const struct gtp_span *span = gtp_text_span(text, addr);
	const struct gtp_function *f;
	struct gtp_verdict v;
	u32 at, first, bits;

	if (!span)
		return 0;
	at = (u32)(addr - span->addr);
	bits = gtp_verdict_leaders(span, at, &first);
	if (bits & GTP_LEADER_JUMP || !(bits & ~(u32)GTP_LEADER_SEEN))
		return 0;
	/* All that every version has asked: jumps of the function itself, and the copier. */
	f = gtp_text_function(span, addr);
	gtp_verdict_get(text, addr, &v);
	if (v.id < GTP_VERDICT_PROBE || !gtp_verdict_boost(span, f, at))
		return 0;
	return bits & ~(u32)GTP_LEADER_SEEN;
}

static u32 displaced_len(const struct gtp_span *span, u32 at)
{
	u32 i = at;

	while (i < at + GTP_JUMP_BYTES)
		i += span->len[i];
	return i - at;
}

enum gtp_kernel_id gtp_verdict_kernel(const struct gtp_span *span, const struct gtp_function *f,
				      u32 at, bool indirect)
{
	u32 end = function_end(span, f), i, first;

	if (end - at < GTP_JUMP_BYTES)
		return GTP_KERNEL_END;
	if (f->flags & GTP_FN_FAULT)
		return GTP_KERNEL_FAULT;
	if (f->flags & GTP_FN_BAD)
		return GTP_KERNEL_BAD;
	if (indirect && f->flags & (GTP_FN_IJMP | GTP_FN_THUNK))
		return GTP_KERNEL_INDIRECT;
	if (indirect && f->flags & GTP_FN_RETHUNK)
		return GTP_KERNEL_RETHUNK;
	for (i = at + 1; i < at + GTP_JUMP_BYTES; i++) {
		if (span->leader[i] & GTP_LEADER_JUMP)
			return GTP_KERNEL_INSIDE;
	}
	if (i < end && span->leader[i] & GTP_LEADER_JUMP)
		return GTP_KERNEL_BEHIND;
	if (!gtp_verdict_boost(span, f, at))
		return GTP_KERNEL_COPY;
	if (sites(span, at, displaced_len(span, at), GTP_SITE_RUNTIME, &first))
		return GTP_KERNEL_SITE;
	return GTP_KERNEL_ACCEPT;
}
