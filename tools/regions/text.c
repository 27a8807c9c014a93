// SPDX-License-Identifier: GPL-2.0-only
/* Read the code of an image into spans, and decode it to find instructions and direct jumps. */
#include <err.h>
#include <stdlib.h>
#include "tools/regions/text.h"

/*
 * The largest size of a code section, so that offsets fit in 32 bits; real sections are a hundred
 * times smaller.
 */
#define SPAN_MAX 0x40000000ULL

struct word {
	u32 bit;
	const char *text;
};

static const struct word leaders[] = {
#define X(name, bit, text) { (bit), text },
	RGN_LEADERS(X)
#undef X
		{ 0, NULL },
};

static const struct word sites[] = {
#define X(name, bit, text) { (bit), text },
	RGN_SITES(X)
#undef X
		{ 0, NULL },
};

static const char *word_for(const struct word *w, u32 bits)
{
	while (w->bit && !(w->bit & bits))
		w++;
	return w->bit ? w->text : "nothing";
}

const char *rgn_leader_text(u32 bits)
{
	return word_for(leaders, bits);
}

const char *rgn_site_text(u32 bits)
{
	return word_for(sites, bits);
}

const char *rgn_unproven_text(enum rgn_unproven why)
{
	static const char *const texts[] = {
#define X(name, text) text,
		RGN_UNPROVENS(X)
#undef X
	};

	return texts[why];
}

static const struct {
	const char *word;
	const char *text;
} cpus[] = {
#define X(name, word, text) { word, text },
	RGN_CPUS(X)
#undef X
};

bool rgn_cpu_find(enum rgn_cpu *cpu, const char *word)
{
	u32 i;

	for (i = 0; i < RGN_CPU_N; i++) {
		if (!strcmp(cpus[i].word, word)) {
			*cpu = i;
			return true;
		}
	}
	return false;
}

const char *rgn_cpu_text(enum rgn_cpu cpu)
{
	return cpus[cpu].text;
}

static enum rgn_span_kind span_kind(const struct rgn_image *image, const char *name)
{
	if (!strcmp(name, ".altinstr_replacement"))
		return RGN_SPAN_REPLACEMENT;
	if (!strcmp(name, ".altinstr_aux"))
		return RGN_SPAN_AUX;
	if (!image->kernel && (!strncmp(name, ".plt", 4) || !strcmp(name, ".iplt")))
		return RGN_SPAN_PLT;
	if (image->kernel && (!strncmp(name, ".init.", 6) || !strncmp(name, ".exit.", 6)))
		return RGN_SPAN_INIT;
	return RGN_SPAN_TEXT;
}

static void span_init(struct rgn_text *text, struct rgn_span *span, const struct rgn_section *s)
{
	if (s->size > SPAN_MAX)
		errx(2, "%s: section %s is larger than 1 GB", text->image->path, s->name);
	span->section = s;
	span->name = s->name;
	span->addr = s->addr;
	span->size = (u32)s->size;
	span->kind = span_kind(text->image, s->name);
	span->bytes = rgn_alloc(s->size, 1);
	memcpy(span->bytes, s->bytes, s->size);
	span->len = rgn_alloc(s->size, 1);
	span->insn = rgn_alloc(s->size, 1);
	span->leader = rgn_alloc(s->size, sizeof(*span->leader));
	span->site = rgn_alloc(s->size, 1);
}

static int span_order(const void *a, const void *b)
{
	const struct rgn_span *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void spans_init(struct rgn_text *text)
{
	const struct rgn_image *image = text->image;
	u32 i;

	text->spans = rgn_alloc(image->sections_n, sizeof(*text->spans));
	for (i = 1; i < image->sections_n; i++) {
		const struct rgn_section *s = &image->sections[i];

		if (rgn_image_is_code(image, s) && s->bytes && s->size)
			span_init(text, &text->spans[text->spans_n++], s);
	}
	if (!text->spans_n)
		errx(2, "%s: holds no code (a file of debug data only? name it with --debug)",
		     image->path);
	qsort(text->spans, text->spans_n, sizeof(*text->spans), span_order);
}

struct rgn_span *rgn_text_span(const struct rgn_text *text, u64 addr)
{
	u32 i;

	for (i = 0; i < text->spans_n; i++) {
		struct rgn_span *s = &text->spans[i];

		if (addr - s->addr < s->size)
			return s;
	}
	return NULL;
}

struct rgn_function *rgn_text_function(const struct rgn_span *span, u64 addr)
{
	u32 low = 0, high = span->functions_n;

	while (high - low > 1) {
		u32 mid = low + (high - low) / 2;

		if (span->functions[mid].addr <= addr)
			low = mid;
		else
			high = mid;
	}
	return &span->functions[low];
}

void rgn_text_mark(struct rgn_text *text, u64 addr, enum rgn_leader why)
{
	struct rgn_span *span = rgn_text_span(text, addr);

	if (span)
		span->leader[addr - span->addr] |= why;
}

void rgn_text_site(struct rgn_text *text, u64 addr, u32 n, enum rgn_site what)
{
	struct rgn_span *span = rgn_text_span(text, addr);
	u64 i;

	if (!span)
		return;
	for (i = addr - span->addr; n && i < span->size; i++, n--)
		span->site[i] |= what;
}

bool rgn_text_is_thunk(const struct rgn_text *text, u64 addr, bool *returns)
{
	const char *name;

	*returns = false;
	if (text->thunks_end && addr >= text->thunks_start && addr <= text->thunks_end) {
		/*
		 * The thunks for registers come first; the return thunk and all later thunks are
		 * for returns.
		 */
		*returns = text->rethunk && addr >= text->rethunk;
		return true;
	}
	name = rgn_image_extern(text->image, addr);
	if (!name)
		return false;
	*returns = !strcmp(name, "__x86_return_thunk");
	return *returns || !strncmp(name, "__x86_indirect_", 15);
}

static void mark_jump(struct rgn_text *text, struct rgn_span *span, struct rgn_function *f,
		      const struct rgn_decoded *insn)
{
	bool inside = insn->target - f->addr < f->size, returns;
	bool call = insn->kind == RGN_DECODED_CALL;

	if (inside) {
		span->leader[insn->target - span->addr] |= call ? RGN_LEADER_CALL : RGN_LEADER_JUMP;
		return;
	}
	rgn_text_mark(text, insn->target,
		      span->kind == RGN_SPAN_AUX ? RGN_LEADER_BOOT : RGN_LEADER_OTHER);
	if (!call && rgn_text_is_thunk(text, insn->target, &returns))
		f->flags |= returns ? RGN_FN_RETHUNK : RGN_FN_THUNK;
}

static void note_insn(struct rgn_text *text, struct rgn_span *span, struct rgn_function *f,
		      const struct rgn_decoded *insn)
{
	u32 i;

	switch (insn->kind) {
	case RGN_DECODED_BAD:
		f->flags |= RGN_FN_BAD;
		break;
	case RGN_DECODED_CALL:
	case RGN_DECODED_JCC:
	case RGN_DECODED_JMP:
		mark_jump(text, span, f, insn);
		break;
	case RGN_DECODED_IJMP:
		f->flags |= RGN_FN_IJMP;
		break;
	default:
		break;
	}
	for (i = insn->rip || text->absolute ? 0 : insn->refs_n; i < insn->refs_n; i++) {
		if (i && !text->absolute)
			break;
		rgn_text_mark(text, insn->ref[i], RGN_LEADER_REF);
	}
}

/*
 * Decode code without known bounds. It may contain data, after which decoding in sequence loses the
 * instruction boundaries for a while and misses jumps. So decode an instruction at every byte. This
 * finds all jumps, and also bytes that only look like jumps.
 */
static void decode_everywhere(struct rgn_text *text, struct rgn_span *span, struct rgn_function *f)
{
	u32 at = rgn_function_start(span, f), end = rgn_function_end(span, f);
	struct rgn_decoded insn;

	for (; at < end; at++) {
		rgn_decode(&insn, span->bytes + at, end - at, span->addr + at);
		note_insn(text, span, f, &insn);
	}
}

static void decode_function(struct rgn_text *text, struct rgn_span *span, struct rgn_function *f)
{
	u32 at = rgn_function_start(span, f), end = rgn_function_end(span, f);
	struct rgn_decoded insn;

	while (at < end) {
		rgn_decode(&insn, span->bytes + at, end - at, span->addr + at);
		span->len[at] = insn.len;
		span->insn[at] = (u8)(insn.kind | (insn.boost ? RGN_DECODED_BOOST : 0) |
				      (insn.copy ? RGN_DECODED_COPY : 0));
		if (span->site[at] & RGN_SITE_FAULT)
			f->flags |= RGN_FN_FAULT;
		note_insn(text, span, f, &insn);
		at += insn.len;
	}
}

void rgn_text_decode(struct rgn_text *text)
{
	u32 i, j;

	for (i = 0; i < text->spans_n; i++) {
		struct rgn_span *span = &text->spans[i];

		/* The replacements of alternatives are decoded one by one, as their table says. */
		if (span->kind == RGN_SPAN_REPLACEMENT)
			continue;
		for (j = 0; j < span->functions_n; j++) {
			decode_function(text, span, &span->functions[j]);
			if (span->functions[j].flags & RGN_FN_UNBOUND)
				decode_everywhere(text, span, &span->functions[j]);
		}
	}
}

void rgn_text_init(struct rgn_text *text, const struct rgn_image *image, enum rgn_cpu cpu)
{
	const struct rgn_symbol *start = rgn_image_symbol(image, "__indirect_thunk_start");
	const struct rgn_symbol *end = rgn_image_symbol(image, "__indirect_thunk_end");
	const struct rgn_symbol *ret = rgn_image_symbol(image, "__x86_return_thunk");

	memset(text, 0, sizeof(*text));
	text->image = image;
	text->cpu = cpu;
	text->absolute = image->absolute;
	if (start && end) {
		text->thunks_start = start->addr;
		text->thunks_end = end->addr;
		text->rethunk = ret ? ret->addr : 0;
	}
	spans_init(text);
}

void rgn_text_free(struct rgn_text *text)
{
	u32 i;

	for (i = 0; i < text->spans_n; i++) {
		struct rgn_span *s = &text->spans[i];

		free(s->bytes);
		free(s->len);
		free(s->insn);
		free(s->leader);
		free(s->site);
		free(s->functions);
	}
	free(text->names);
	free(text->fdes);
	free(text->spans);
}
