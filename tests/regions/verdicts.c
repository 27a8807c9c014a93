// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the decisions of the module and of gdbtp-regions (the tool) whether a jump may be made,
 * at every instruction of the files, and at some bytes inside instructions.
 *
 * Usage: verdicts [--cpu plain|its|rethunk] [--show N] [--live TEXT] FILE...
 *
 * The module sees one function's bytes and the table; the tool sees all of the file, through
 * another decoder. If the module accepts a jump, the tool must accept it too, or know that boot
 * rewrites the code there (the module sees the result); and both must displace the same bytes.
 *
 * TEXT is a copy of .text from the memory of a running kernel. If it is given, the module decides
 * on this copy, and may differ from the tool where boot has rewritten code.
 */
#include <err.h>
#include <stdlib.h>
#include "tools/regions/leaders.h"
#include "tools/regions/module.h"
#include "tools/regions/verdict.h"

enum { REGIONS = GTP_REGION_OTHERS + 1 };

struct counts {
	u64 probeable;
	u64 both;
	u64 boot; /* places that only the module accepts, because boot rewrites them */
	u64 wrong;
	u64 lost[REGIONS]; /* places that only the tool accepts, without padding; by reason */
	u64 shown[REGIONS];
};

static u32 show;
static const char *live;

static void complain(struct counts *c, const struct rgn_span *span, const struct rgn_function *f,
		     u32 at, const char *what)
{
	if (c->wrong++ < 20)
		printf("# %s+0x%llx: %s\n", f->name, span->addr + at - f->addr, what);
}

static bool probeable(const struct rgn_verdict *v)
{
	return v->id >= RGN_VERDICT_PROBE;
}

/* False in the padding after a function. The kernel's symbols count padding as part of it. */
static bool in_body(const struct rgn_span *span, const struct rgn_function *f, u32 at)
{
	if (f->body)
		return span->addr + at < f->addr + f->body;
	return (span->insn[at] & RGN_DECODED_KIND) != RGN_DECODED_INT3;
}

/* True if boot may have rewritten instructions that a jump at @at would displace. */
static bool rewritten(const struct rgn_span *span, u32 at)
{
	u32 i;

	for (i = at; live && i < at + GTP_REGION_MAX && i < span->size; i++) {
		if (span->site[i] & (RGN_SITE_BOOT | RGN_SITE_THUNK))
			return true;
	}
	return false;
}

static void compare(const struct rgn_module *m, const struct rgn_span *span,
		    const struct rgn_function *f, u32 at, struct counts *c)
{
	struct gtp_region r;
	enum gtp_region_verdict ours = rgn_module_ask(m, span, f, at, false, &r);
	struct rgn_verdict v;

	rgn_verdict_get(m->text, span->addr + at, &v);
	if (v.id >= RGN_VERDICT_ACCEPT && ours == GTP_REGION_OK && v.len != r.len &&
	    !rewritten(span, at))
		complain(c, span, f, at, "another length");
	if (in_body(span, f, at))
		c->probeable += probeable(&v);
	else if (v.id >= RGN_VERDICT_ACCEPT)
		return;
	if (ours != GTP_REGION_OK) {
		c->lost[ours] += v.id >= RGN_VERDICT_ACCEPT;
		if (v.id >= RGN_VERDICT_ACCEPT && c->shown[ours]++ < show)
			printf("# %s: %s+0x%llx\n", gtp_region_word(ours), f->name,
			       span->addr + at - f->addr);
		return;
	}
	if (v.id == RGN_VERDICT_BOOT_SITE || (v.id < RGN_VERDICT_ACCEPT && rewritten(span, at)))
		c->boot++;
	else if (v.id >= RGN_VERDICT_ACCEPT)
		c->both++;
	else if (probeable(&v) || v.id == RGN_VERDICT_NOT_START || v.id == RGN_VERDICT_FTRACE ||
		 v.id == RGN_VERDICT_JUMP_LABEL || v.id == RGN_VERDICT_STATIC_CALL ||
		 v.id == RGN_VERDICT_BUG)
		complain(c, span, f, at, rgn_verdict_word(v.id));
}

static void compare_text(const struct rgn_module *m, struct counts *c)
{
	u32 i, j, at;

	for (i = 0; i < m->text->spans_n; i++) {
		const struct rgn_span *span = &m->text->spans[i];

		for (j = 0; span->kind == RGN_SPAN_TEXT && j < span->functions_n; j++) {
			const struct rgn_function *f = &span->functions[j];
			u32 end = rgn_function_end(span, f);

			/* Only the zeros between sections are so large, and they are not code. */
			if (f->size > 1 << 16)
				continue;
			for (at = rgn_function_start(span, f); at < end; at++) {
				if (span->len[at] || at % 16 == 0)
					compare(m, span, f, at, c);
			}
		}
	}
}

static void print_counts(const char *path, const struct counts *c)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	u32 i;

	printf("# %s: %llu of %llu probe-able addresses take a jump: %.2f %%", name,
	       c->both + c->boot, c->probeable,
	       c->probeable ? 100.0 * (double)(c->both + c->boot) / (double)c->probeable : 0);
	printf(" (%llu of them after boot has had its way)\n", c->boot);
	for (i = 0; i < REGIONS; i++) {
		if (c->lost[i])
			printf("#   %llu the tool would take: %s\n", c->lost[i],
			       gtp_region_text(i));
	}
	printf("%s - %s: what the module takes the tool takes\n",
	       c->wrong || !c->both ? "not ok" : "ok", name);
}

/* Let the module see the live bytes. The tool has already decoded the bytes of the file. */
static void take_live(const struct rgn_text *text)
{
	FILE *in = fopen(live, "rb");
	u32 i;

	for (i = 0; in && i < text->spans_n; i++) {
		struct rgn_span *span = &text->spans[i];

		if (strcmp(span->name, ".text"))
			continue;
		if (fread(span->bytes, 1, span->size, in) != span->size)
			errx(2, "%s: shorter than .text", live);
		fclose(in);
		return;
	}
	err(2, "%s", live);
}

static bool compare_file(const char *path, enum rgn_cpu cpu)
{
	struct counts c = { 0 };
	struct rgn_image image;
	struct rgn_module m;
	struct rgn_text text;

	rgn_image_open(&image, path, NULL);
	rgn_leaders_find(&text, &image, &image, cpu);
	rgn_module_init(&m, &text);
	if (live)
		take_live(&text);
	compare_text(&m, &c);
	print_counts(path, &c);
	rgn_module_free(&m);
	rgn_text_free(&text);
	rgn_image_close(&image);
	return !c.wrong && c.both;
}

int main(int argc, char **argv)
{
	enum rgn_cpu cpu = RGN_CPU_PLAIN;
	int i, failed = 0;

	for (i = 1; i + 1 < argc && argv[i][0] == '-'; i += 2) {
		if (!strcmp(argv[i], "--cpu") && rgn_cpu_find(&cpu, argv[i + 1]))
			continue;
		if (!strcmp(argv[i], "--live"))
			live = argv[i + 1];
		else if (!strcmp(argv[i], "--show"))
			show = (u32)strtoul(argv[i + 1], NULL, 0);
		else
			errx(2, "usage: verdicts [--cpu NAME] [--show N] [--live TEXT] FILE...");
	}
	for (; i < argc; i++)
		failed |= !compare_file(argv[i], cpu);
	return failed;
}
