// SPDX-License-Identifier: GPL-2.0-only
/* Divide code into functions: in a kernel by symbols, in a program by symbols and .eh_frame. */
#include <stdlib.h>
#include "tools/regions/eh_frame.h"
#include "tools/regions/functions.h"

/* The size of the name of a function without a symbol, "fn_" and its address. */
enum { NAME = 24 };

/* How the bounds of a program's function were found; stored in its flags until they are final. */
enum { BY_SYMBOL = 1, BY_FDE = 2, CROSSED = 4 };

static bool starts_function(const struct rgn_symbol *sym)
{
	if (sym->type != STT_FUNC && sym->type != STT_NOTYPE && sym->type != STT_GNU_IFUNC &&
	    sym->type != STT_OBJECT)
		return false;
	/* kallsyms omits these names, too. A __pfx_ symbol marks the padding before a function. */
	return sym->name[0] && sym->name[0] != '$' && strncmp(sym->name, ".L", 2) &&
	       strncmp(sym->name, "__pfx_", 6) && strncmp(sym->name, "__cfi_", 6);
}

/*
 * Order symbols by address; at the same address functions come before labels, and longer functions
 * before shorter ones.
 */
static int function_order(const void *a, const void *b)
{
	const struct rgn_function *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->flags != y->flags)
		return x->flags > y->flags ? -1 : 1;
	if (x->body != y->body)
		return x->body > y->body ? -1 : 1;
	return strcmp(x->name ? x->name : "", y->name ? y->name : "");
}

static void function_add(struct rgn_span *span, const char *name, u64 addr, u64 body, u16 flags)
{
	struct rgn_function *f = &span->functions[span->functions_n++];
	u64 left = span->addr + span->size - addr;

	f->name = name;
	f->addr = addr;
	f->body = (u32)(body < left ? body : left);
	f->flags = flags;
}

/* Keep one function for each address, and let each function extend to the start of the next. */
static void close_symbols(struct rgn_span *span)
{
	struct rgn_function *f = span->functions;
	u32 i, n = 0;

	qsort(f, span->functions_n, sizeof(*f), function_order);
	for (i = 0; i < span->functions_n; i++) {
		if (n && f[n - 1].addr == f[i].addr)
			continue;
		f[n] = f[i];
		f[n].flags = 0;
		n++;
	}
	span->functions_n = n;
	for (i = 0; i < n; i++) {
		u64 end = i + 1 < n ? f[i + 1].addr : span->addr + span->size;

		f[i].size = (u32)(end - f[i].addr);
		if (f[i].body > f[i].size)
			f[i].body = f[i].size;
		span->leader[f[i].addr - span->addr] |= RGN_LEADER_ENTRY;
	}
}

/* Find the functions of a kernel or module: each extends from its symbol to the next symbol. */
static void init_kernel(struct rgn_text *text)
{
	const struct rgn_image *image = text->image;
	struct rgn_span *span = NULL;
	u32 *counts = rgn_alloc(text->spans_n, sizeof(*counts)), i;

	for (i = 0; i < image->symbols_n; i++) {
		const struct rgn_symbol *sym = &image->symbols[i];

		if (sym->section && starts_function(sym)) {
			span = rgn_text_span(text, sym->addr);
			if (span)
				counts[span - text->spans]++;
		}
	}
	for (i = 0; i < text->spans_n; i++) {
		span = &text->spans[i];
		span->functions = rgn_alloc(counts[i] + 1, sizeof(*span->functions));
		/* Code before the first symbol gets the section's name. */
		function_add(span, span->name, span->addr, 0, 0);
	}
	free(counts);
	for (i = 0; i < image->symbols_n; i++) {
		const struct rgn_symbol *sym = &image->symbols[i];

		if (!sym->section || !starts_function(sym))
			continue;
		span = rgn_text_span(text, sym->addr);
		if (span)
			function_add(span, sym->name, sym->addr, sym->size, sym->type == STT_FUNC);
	}
	for (i = 0; i < text->spans_n; i++)
		close_symbols(&text->spans[i]);
}

static void count_piece(const struct rgn_text *text, u64 addr, u32 *counts)
{
	const struct rgn_span *span = rgn_text_span(text, addr);

	if (span)
		counts[span - text->spans]++;
}

/* Allocate the functions of each span of a program: at most one for each FDE and symbol. */
static void make_room(struct rgn_text *text)
{
	u32 *counts = rgn_alloc(text->spans_n, sizeof(*counts)), i;

	for (i = 0; i < text->image->symbols_n; i++)
		count_piece(text, text->image->symbols[i].addr, counts);
	for (i = 0; i < text->fdes_n; i++)
		count_piece(text, text->fdes[i].start, counts);
	for (i = 0; i < text->spans_n; i++)
		text->spans[i].functions = rgn_alloc(counts[i], sizeof(struct rgn_function));
	free(counts);
}

static void add_fdes(struct rgn_text *text)
{
	u32 i;

	for (i = 0; i < text->fdes_n; i++) {
		const struct rgn_fde *fde = &text->fdes[i];
		struct rgn_span *span = rgn_text_span(text, fde->start);

		if (span && !fde->signal && fde->size <= span->addr + span->size - fde->start)
			function_add(span, NULL, fde->start, fde->size, BY_FDE);
	}
}

static void add_symbols(struct rgn_text *text)
{
	u32 i;

	for (i = 0; i < text->image->symbols_n; i++) {
		const struct rgn_symbol *sym = &text->image->symbols[i];
		struct rgn_span *span;

		if (!sym->section || !sym->size || !starts_function(sym) || sym->type == STT_OBJECT)
			continue;
		span = rgn_text_span(text, sym->addr);
		if (span)
			function_add(span, sym->name, sym->addr, sym->size, BY_SYMBOL);
	}
}

static u64 piece_end(const struct rgn_function *f)
{
	return f->addr + f->body;
}

/*
 * Join pieces of code that overlap. If the first piece contains the others, keep the first, and
 * mark the start of each other piece as an entry into it. Pieces that overlap only partly
 * contradict each other, so their bounds are unknown.
 */
static void join_pieces(struct rgn_span *span)
{
	struct rgn_function *f = span->functions, *last = NULL;
	u32 i, n = 0;

	qsort(f, span->functions_n, sizeof(*f), function_order);
	for (i = 0; i < span->functions_n; i++) {
		if (!last || f[i].addr >= piece_end(last)) {
			last = &f[n++];
			*last = f[i];
			continue;
		}
		span->leader[f[i].addr - span->addr] |= RGN_LEADER_ENTRY;
		if (f[i].addr == last->addr && !last->name)
			last->name = f[i].name;
		/*
		 * The size in a symbol may include padding after the function; the size in an FDE
		 * does not.
		 */
		if (piece_end(&f[i]) > piece_end(last) &&
		    (f[i].addr != last->addr || f[i].flags == BY_FDE)) {
			last->body = (u32)(piece_end(&f[i]) - last->addr);
			last->flags = CROSSED;
		}
	}
	span->functions_n = n;
}

static struct rgn_function *put_function(struct rgn_span *span, const char *name, u64 addr, u64 end,
					 u16 flags)
{
	struct rgn_function *f = &span->functions[span->functions_n++];

	f->name = name;
	f->addr = addr;
	f->size = (u32)(end - addr);
	f->body = flags & RGN_FN_BOUND ? f->size : 0;
	f->flags = flags;
	span->leader[addr - span->addr] |= RGN_LEADER_ENTRY;
	return f;
}

/*
 * True if the bytes are padding of a linker or compiler: nops, int3, and zeros after the last
 * function.
 */
static bool is_padding(const struct rgn_span *span, u64 addr, u64 end)
{
	struct rgn_decoded insn;

	if (end == span->addr + span->size) {
		while (end > addr && !span->bytes[end - 1 - span->addr])
			end--;
	}
	for (; addr < end; addr += insn.len) {
		rgn_decode(&insn, span->bytes + (addr - span->addr), end - addr, addr);
		if (insn.kind != RGN_DECODED_NOP && insn.kind != RGN_DECODED_INT3)
			return false;
	}
	return true;
}

/*
 * Turn the code before, between and after the pieces into functions without bounds. Padding becomes
 * part of the function before it, as in a kernel, because a jump may overwrite it.
 */
static void fill_gap(struct rgn_span *span, struct rgn_function *last, u64 addr, u64 end)
{
	if (addr >= end)
		return;
	if (last && last->flags & RGN_FN_BOUND && is_padding(span, addr, end))
		last->size += (u32)(end - addr);
	else
		put_function(span, NULL, addr, end, RGN_FN_UNBOUND);
}

static void fill_gaps(struct rgn_span *span)
{
	struct rgn_function *old = span->functions, *last = NULL;
	u32 i, n = span->functions_n;
	u64 at = span->addr;

	span->functions = rgn_alloc(2 * (size_t)n + 1, sizeof(*old));
	span->functions_n = 0;
	for (i = 0; i < n; i++) {
		fill_gap(span, last, at, old[i].addr);
		at = piece_end(&old[i]);
		last = put_function(span, old[i].name, old[i].addr, at,
				    old[i].flags == CROSSED ? RGN_FN_UNBOUND : RGN_FN_BOUND);
	}
	fill_gap(span, last, at, span->addr + span->size);
	free(old);
}

/* Use symbols without a size as names of functions, or as entries into functions. */
static void name_functions(struct rgn_text *text)
{
	u32 i, j, total = 0;
	char *name;

	for (i = 0; i < text->image->symbols_n; i++) {
		const struct rgn_symbol *sym = &text->image->symbols[i];
		struct rgn_span *span = rgn_text_span(text, sym->addr);
		struct rgn_function *f;

		if (!sym->section || !span || !starts_function(sym))
			continue;
		span->leader[sym->addr - span->addr] |= RGN_LEADER_ENTRY;
		f = rgn_text_function(span, sym->addr);
		if (f->addr == sym->addr && !f->name)
			f->name = sym->name;
	}
	for (i = 0; i < text->spans_n; i++)
		total += text->spans[i].functions_n;
	name = rgn_alloc(total, NAME);
	text->names = name;
	for (i = 0; i < text->spans_n; i++) {
		struct rgn_span *span = &text->spans[i];

		for (j = 0; j < span->functions_n; j++) {
			if (span->functions[j].name)
				continue;
			snprintf(name, NAME, "fn_%llx", span->functions[j].addr);
			span->functions[j].name = name;
			name += NAME;
		}
	}
}

static void init_program(struct rgn_text *text)
{
	u32 i;

	make_room(text);
	add_fdes(text);
	add_symbols(text);
	for (i = 0; i < text->spans_n; i++) {
		join_pieces(&text->spans[i]);
		fill_gaps(&text->spans[i]);
	}
	name_functions(text);
}

void rgn_functions_init(struct rgn_text *text)
{
	if (text->image->kernel)
		init_kernel(text);
	else
		init_program(text);
}
