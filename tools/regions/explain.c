// SPDX-License-Identifier: GPL-2.0-only
/* Print everything that the analysis has found about an address. */
#include <err.h>
#include <stdlib.h>
#include "tools/regions/explain.h"
#include "tools/regions/module.h"
#include "tools/run/text.h"

#define NAME_SIZE 256

const char *rgn_explain_name(const struct rgn_text *text, u64 addr, char *buf, size_t size)
{
	const struct rgn_span *span = rgn_text_span(text, addr);
	const struct rgn_function *f;

	if (!span) {
		snprintf(buf, size, "%#llx", addr);
		return buf;
	}
	f = rgn_text_function(span, addr);
	snprintf(buf, size, "%s+0x%llx", f->name, addr - f->addr);
	return buf;
}

static u64 parse_number(const char *s, const char *whole, int base)
{
	char *end;
	u64 v;

	errno = 0;
	v = strtoull(s, &end, base);
	if (errno || end == s || *end || *s == '-')
		text_errx(2, "%s: '%s' cannot be read as a number", whole, s);
	return v;
}

/*
 * Return the address @offset bytes after the start of a function. A function without a symbol has
 * the name fn_ADDRESS. If several functions have this name, list their addresses and exit.
 */
static u64 function_address(const struct rgn_text *text, const char *name, u64 offset)
{
	const struct rgn_image *image = text->image;
	u64 found[8];
	u32 n = 0, i, k;

	for (i = 0; i < image->symbols_n; i++) {
		const struct rgn_symbol *sym = &image->symbols[i];

		if (!sym->section || strcmp(sym->name, name) || !rgn_text_span(text, sym->addr))
			continue;
		for (k = 0; k < n && found[k] != sym->addr; k++)
			;
		if (k == n && n < ARRAY_SIZE(found))
			found[n++] = sym->addr;
	}
	if (!n && !strncmp(name, "fn_", 3))
		return parse_number(name + 3, name, 16) + offset;
	if (!n)
		text_errx(1, "%s: no function is called %s", image->path, name);
	if (n == 1)
		return found[0] + offset;
	text_printf(stderr, "%s is the name of several functions, give an address:", name);
	for (i = 0; i < n; i++)
		text_printf(stderr, " %#llx", found[i] + offset);
	text_printf(stderr, "\n");
	exit(1);
}

u64 rgn_explain_place(const struct rgn_text *text, const char *where, u64 slide)
{
	const char *plus = strrchr(where, '+');
	char name[NAME_SIZE];

	if (where[0] >= '0' && where[0] <= '9')
		return parse_number(where, where, 0) - slide;
	if (!plus)
		return function_address(text, where, 0);
	if ((size_t)(plus - where) >= sizeof(name))
		text_errx(2, "%s: the name is too long", where);
	memcpy(name, where, (size_t)(plus - where));
	name[plus - where] = '\0';
	return function_address(text, name, parse_number(plus + 1, where, 0));
}

u64 rgn_explain_slide(const struct rgn_text *text, const char *what)
{
	const char *equal = strchr(what, '=');
	const struct rgn_section *s;
	const struct rgn_symbol *sym;
	char name[NAME_SIZE];

	if (!equal || (size_t)(equal - what) >= sizeof(name))
		text_errx(2, "--at %s: wants NAME=ADDRESS", what);
	memcpy(name, what, (size_t)(equal - what));
	name[equal - what] = '\0';
	s = rgn_image_section(text->image, name);
	if (s)
		return parse_number(equal + 1, what, 0) - s->addr;
	sym = rgn_image_symbol(text->image, name);
	if (!sym)
		text_errx(1, "--at: %s has neither a symbol nor a section %s", text->image->path,
			  name);
	return parse_number(equal + 1, what, 0) - sym->addr;
}

static void print_leaders(u32 bits)
{
	u32 bit;

	for (bit = 1; bit < 0x10000; bit <<= 1) {
		if (bits & bit)
			text_printf(stdout, "%s%s", bits & (bit - 1) ? "; " : "",
				    rgn_leader_text(bit));
	}
	text_printf(stdout, "\n");
}

static void print_cause(const struct rgn_text *text, const struct rgn_verdict *v)
{
	char name[NAME_SIZE];

	if (!v->where)
		return;
	text_printf(stdout, "  %s: ", rgn_explain_name(text, v->where, name, sizeof(name)));
	if (v->id == RGN_VERDICT_LEADER)
		print_leaders(v->bits);
	else
		text_printf(stdout, "%s\n", v->bits ? rgn_site_text(v->bits) : "this instruction");
}

static void print_kernel(const struct rgn_text *text, const struct rgn_span *span,
			 const struct rgn_function *f, u64 addr)
{
	u32 at = (u32)(addr - span->addr);
	enum rgn_kernel_id old = rgn_verdict_kernel(span, f, at, true);
	enum rgn_kernel_id new = rgn_verdict_kernel(span, f, at, false);

	text_printf(stdout, "  the kernel's own rule: %s", rgn_kernel_text(old));
	if (old != new)
		text_printf(stdout, "; from 6.5 on: %s", rgn_kernel_text(new));
	text_printf(stdout, "\n");
	if (rgn_verdict_denied(text, addr))
		text_printf(stdout,
			    "  denied: an optimised kprobe there can be entered in the middle\n");
}

/* Print the decision of the module's code (gtp_region_find()) for the bytes of the file. */
static void print_module(const struct rgn_text *text, const struct rgn_span *span,
			 const struct rgn_function *f, u64 addr)
{
	enum gtp_region_verdict v;
	struct gtp_region r;
	struct rgn_module m;

	rgn_module_init(&m, text);
	v = rgn_module_ask(&m, span, f, (u32)(addr - span->addr), false, &r);
	text_printf(stdout, "  the module, were these bytes the live ones: %s", gtp_region_text(v));
	if (v == GTP_REGION_OK)
		text_printf(stdout, "; %u bytes, %u instructions%s", r.len, r.n,
			    r.flags_dead ? ", flags need not be saved" : "");
	text_printf(stdout, "\n");
	rgn_module_free(&m);
}

static void print_insns(const struct rgn_span *span, const struct rgn_function *f, u32 at)
{
	u32 end = rgn_function_end(span, f), stop = at + GTP_REGION_JUMP, len, i;
	char text[128], hex[3 * 16], place[24];

	for (; at < stop && at < end && span->len[at]; at += len) {
		rgn_decode_text(text, sizeof(text), span->bytes + at, end - at, span->addr + at);
		len = span->len[at];
		for (i = 0; i < len && i < 15; i++)
			snprintf(hex + 3 * i, 4, "%02x ", span->bytes[at + i]);
		snprintf(place, sizeof(place), "+0x%llx", span->addr + at - f->addr);
		text_printf(stdout, "    %c %-8s %-30s %s\n", span->leader[at] ? '>' : ' ', place,
			    hex, text);
	}
}

void rgn_explain_address(const struct rgn_text *text, u64 addr)
{
	const struct rgn_span *span = rgn_text_span(text, addr);
	const struct rgn_function *f;
	struct rgn_verdict v;
	char name[NAME_SIZE];

	rgn_verdict_get(text, addr, &v);
	text_printf(stdout, "%s (%#llx): %s: %s\n",
		    rgn_explain_name(text, addr, name, sizeof(name)), addr,
		    v.id >= RGN_VERDICT_ACCEPT ? "yes" :
		    v.id >= RGN_VERDICT_PROBE  ? "breakpoint only" :
						 "no probe",
		    rgn_verdict_text(v.id));
	if (!span)
		return;
	f = rgn_text_function(span, addr);
	print_cause(text, &v);
	if (v.id == RGN_VERDICT_INDIRECT && !text->image->kernel && f->unproven)
		text_printf(stdout, "  %s\n", rgn_unproven_text(f->unproven));
	if (v.id < RGN_VERDICT_PROBE)
		return;
	text_printf(stdout, "  evidence: %s, %s\n", rgn_evidence_word(v.evidence),
		    rgn_evidence_text(v.evidence));
	if (text->image->kernel)
		print_kernel(text, span, f, addr);
	if (text->image->kernel && span->kind == RGN_SPAN_TEXT)
		print_module(text, span, f, addr);
	print_insns(span, f, (u32)(addr - span->addr));
}

static void each_insn(const struct rgn_text *text, const struct rgn_function *only,
		      void (*each)(const struct rgn_text *text, const struct rgn_span *span,
				   const struct rgn_function *f, u32 at))
{
	u32 i, j, at;

	for (i = 0; i < text->spans_n; i++) {
		const struct rgn_span *span = &text->spans[i];

		for (j = 0; span->kind == RGN_SPAN_TEXT && j < span->functions_n; j++) {
			const struct rgn_function *f = &span->functions[j];
			u32 end = rgn_function_end(span, f);

			if (only && only != f)
				continue;
			for (at = rgn_function_start(span, f); at < end; at++) {
				if (span->len[at])
					each(text, span, f, at);
			}
		}
	}
}

static void deny(const struct rgn_text *text, const struct rgn_span *span,
		 const struct rgn_function *f, u32 at)
{
	u32 bits = rgn_verdict_denied(text, span->addr + at), first;

	if (!bits)
		return;
	rgn_verdict_leaders(span, at, &first);
	text_printf(stdout, "%#llx %s+0x%llx, entered at +0x%llx by ", span->addr + at, f->name,
		    span->addr + at - f->addr, span->addr + first - f->addr);
	print_leaders(bits);
}

void rgn_explain_deny(const struct rgn_text *text)
{
	each_insn(text, NULL, deny);
}

static void dump(const struct rgn_text *text, const struct rgn_span *span,
		 const struct rgn_function *f, u32 at)
{
	enum rgn_kernel_id k = rgn_verdict_kernel(span, f, at, true);
	u64 addr = span->addr + at;
	struct rgn_verdict v;

	rgn_verdict_get(text, addr, &v);
	text_printf(stdout, "%#llx %s+0x%llx %u %u %s %s %#x %#x\n", addr, f->name, addr - f->addr,
		    span->len[at], v.len, rgn_verdict_word(v.id),
		    k == RGN_KERNEL_ACCEPT ? "accepted" : "refused", span->leader[at],
		    span->site[at]);
}

void rgn_explain_dump(const struct rgn_text *text, const struct rgn_function *only)
{
	each_insn(text, only, dump);
}
