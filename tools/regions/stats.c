// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count the verdicts of our rule over all code, and print them beside those of the kernel's rule.
 */
#include "tools/regions/module.h"
#include "tools/regions/stats.h"
#include "tools/run/text.h"

/* The numbers of addresses of one function that the rules accept, see struct rgn_stats. */
struct counts {
	u64 n, k_region, k_copy, k_any, k65_copy, b_region, b_copy, b_any;
};

static void count_bits(u64 *counters, u32 bits)
{
	u32 i;

	for (i = 0; i < 16; i++)
		counters[i] += bits >> i & 1;
}

static void count_deny(struct rgn_stats *s, u32 hidden, bool k61)
{
	s->deny65++;
	if (!k61)
		return;
	s->deny++;
	/*
	 * In a running kernel, boot code and unused alternatives are gone, so no jump comes from
	 * them.
	 */
	if (!(hidden & ~(u32)(RGN_LEADER_BOOT | RGN_LEADER_ALT)))
		s->deny_boot++;
	count_bits(s->deny_bits, hidden);
}

static bool region_only(enum rgn_kernel_id k)
{
	return k == RGN_KERNEL_COPY || k == RGN_KERNEL_SITE || k == RGN_KERNEL_ACCEPT;
}

static void count_address(const struct rgn_text *text, const struct rgn_span *span,
			  const struct rgn_function *f, u32 at, struct rgn_stats *s,
			  struct counts *c)
{
	enum rgn_kernel_id k, k65;
	struct rgn_verdict v;
	u32 first, leaders;
	bool boost;

	rgn_verdict_get(text, span->addr + at, &v);
	s->verdicts[v.id]++;
	if (v.id < RGN_VERDICT_PROBE)
		return;
	s->probeable++;
	s->evidence[v.evidence]++;
	c->n++;
	k = rgn_verdict_kernel(span, f, at, true);
	k65 = rgn_verdict_kernel(span, f, at, false);
	boost = v.id == RGN_VERDICT_JUMP && rgn_verdict_boost(span, f, at);
	s->kernel[k]++;
	c->k_region += region_only(k);
	c->k_copy += k == RGN_KERNEL_ACCEPT;
	c->k65_copy += k65 == RGN_KERNEL_ACCEPT;
	c->k_any += region_only(k) && v.id >= RGN_VERDICT_ACCEPT;
	c->b_region += v.id > RGN_VERDICT_INDIRECT;
	c->b_copy += boost;
	c->b_any += v.id >= RGN_VERDICT_ACCEPT;
	if (boost)
		s->gain[k]++;
	leaders = rgn_verdict_leaders(span, at, &first);
	if (k65 == RGN_KERNEL_ACCEPT && leaders & ~(u32)RGN_LEADER_SEEN)
		count_deny(s, leaders & ~(u32)RGN_LEADER_SEEN, k == RGN_KERNEL_ACCEPT);
}

static void add(struct rgn_share *share, u64 n, u64 of)
{
	share->sum += n;
	share->means += (double)n / (double)of;
}

/*
 * Return the end of a function's code. The following padding is not part of the function, although
 * the kernel's symbol table includes it.
 */
static u32 body_end(const struct rgn_span *span, const struct rgn_function *f)
{
	return rgn_function_start(span, f) + (f->body ? f->body : f->size);
}

static void count_function(const struct rgn_text *text, const struct rgn_span *span,
			   const struct rgn_function *f, struct rgn_stats *s)
{
	u32 start = rgn_function_start(span, f), end = body_end(span, f), at;
	struct counts c = { 0 };

	for (at = start; at < end; at++) {
		u16 leader = span->leader[at];

		if (at > start && leader) {
			s->leaders++;
			if (!(leader & RGN_LEADER_SEEN)) {
				s->hidden++;
				count_bits(s->hidden_bits, leader);
			}
		}
		if (!span->len[at])
			continue;
		/*
		 * A function from an assembler label has no size, so let it end at the int3
		 * padding.
		 */
		if (!f->body && (span->insn[at] & RGN_DECODED_KIND) == RGN_DECODED_INT3)
			continue;
		s->insns++;
		count_address(text, span, f, at, s, &c);
	}
	if (!c.n)
		return;
	s->functions++;
	s->unbound += !!(f->flags & RGN_FN_UNBOUND);
	if (f->flags & RGN_FN_IJMP && f->flags & RGN_FN_BOUND) {
		s->jumping++;
		s->unproven[f->unproven] += !(f->flags & RGN_FN_PROVEN);
	}
	add(&s->k_region, c.k_region, c.n);
	add(&s->k_copy, c.k_copy, c.n);
	add(&s->k_any, c.k_any, c.n);
	add(&s->k65_copy, c.k65_copy, c.n);
	add(&s->b_region, c.b_region, c.n);
	add(&s->b_copy, c.b_copy, c.n);
	add(&s->b_any, c.b_any, c.n);
}

void rgn_stats_count(const struct rgn_text *text, struct rgn_stats *stats)
{
	u32 i, j;

	memset(stats, 0, sizeof(*stats));
	for (i = 0; i < text->spans_n; i++) {
		const struct rgn_span *span = &text->spans[i];

		if (span->kind != RGN_SPAN_TEXT)
			continue;
		for (j = 0; j < span->functions_n; j++)
			count_function(text, span, &span->functions[j], stats);
	}
}

static double percent(u64 n, u64 of)
{
	return of ? 100.0 * (double)n / (double)of : 0;
}

static void print_share(const struct rgn_stats *s, const char *what, const struct rgn_share *k,
			const struct rgn_share *b)
{
	double n = s->functions ? (double)s->functions : 1;

	text_printf(stdout, "  %-26s %9llu %6.2f %%   %9llu %6.2f %%   %+6.2f   %6.2f -> %.2f\n",
		    what, k->sum, percent(k->sum, s->probeable), b->sum,
		    percent(b->sum, s->probeable),
		    percent(b->sum, s->probeable) - percent(k->sum, s->probeable),
		    100 * k->means / n, 100 * b->means / n);
}

static void print_leaders(const char *title, const u64 *counters)
{
	u32 i;

	text_printf(stdout, "%s\n", title);
	for (i = 0; i < 16; i++) {
		if (counters[i])
			text_printf(stdout, "  %9llu  %s\n", counters[i], rgn_leader_text(1U << i));
	}
}

static void print_refusals(const struct rgn_stats *s)
{
	u32 i;

	text_printf(stdout, "the kernel's rule (before 6.5), by its own reasons\n");
	for (i = 0; i < RGN_KERNEL_N; i++) {
		if (s->kernel[i])
			text_printf(stdout, "  %9llu  %s\n", s->kernel[i], rgn_kernel_text(i));
	}
	text_printf(stdout, "our rule\n");
	for (i = 0; i < RGN_VERDICT_N; i++) {
		if (s->verdicts[i])
			text_printf(stdout, "  %9llu  %-11s %s\n", s->verdicts[i],
				    rgn_verdict_word(i), rgn_verdict_text(i));
	}
	text_printf(stdout,
		    "gained with the kernel's own copier: what its rule had against them\n");
	for (i = 0; i + 1 < RGN_KERNEL_N; i++) {
		if (s->gain[i])
			text_printf(stdout, "  %9llu  %s\n", s->gain[i], rgn_kernel_text(i));
	}
	text_printf(stdout, "evidence of the probe-able addresses\n");
	for (i = 0; i < RGN_EVIDENCE_N; i++) {
		if (s->evidence[i])
			text_printf(stdout, "  %9llu  %s  %s\n", s->evidence[i],
				    rgn_evidence_word(i), rgn_evidence_text(i));
	}
}

/* Print the counts of a program's functions: bounds, jumps through registers, proofs. */
static void print_functions(const struct rgn_stats *s)
{
	u64 unproven = 0;
	u32 i;

	for (i = 0; i < RGN_UNPROVEN_N; i++)
		unproven += s->unproven[i];
	text_printf(
		stdout,
		"functions: %llu with bounds, and %llu pieces of code without; %llu jump through ",
		s->functions - s->unbound, s->unbound, s->jumping);
	text_printf(stdout, "registers, in %llu of these it is known where to\n",
		    s->jumping - unproven);
	for (i = 0; i < RGN_UNPROVEN_N; i++) {
		if (s->unproven[i])
			text_printf(stdout, "  %9llu  %s\n", s->unproven[i],
				    i ? rgn_unproven_text(i) : "other jumps cannot be trusted");
	}
}

void rgn_stats_print(const struct rgn_text *text, const struct rgn_stats *s)
{
	text_printf(stdout, "CPU: %s\n", rgn_cpu_text(text->cpu));
	text_printf(stdout,
		    "I %llu instructions, P %llu of them can carry a probe, in %llu functions\n",
		    s->insns, s->probeable, s->functions);
	text_printf(stdout, "  %-26s %9s %8s   %9s %8s   %6s   %s\n", "", "K kernel", "of P",
		    "B here", "of P", "gain", "mean per function");
	print_share(s, "region only", &s->k_region, &s->b_region);
	print_share(s, "with the kernel's copier", &s->k_copy, &s->b_copy);
	print_share(s, "  K as from 6.5 on", &s->k65_copy, &s->b_copy);
	print_share(s, "with a relocating copier", &s->k_any, &s->b_any);
	print_refusals(s);
	if (!text->image->kernel)
		print_functions(s);
	text_printf(stdout,
		    "leaders inside functions: %llu, hidden from a decode of the function: %llu\n",
		    s->leaders, s->hidden);
	print_leaders("hidden leaders by evidence (one may have several)", s->hidden_bits);
	text_printf(stdout,
		    "denied: accepted by the kernel's rule, but entered in the middle: %llu ",
		    s->deny);
	text_printf(stdout, "(%llu of them by boot code alone); by the rule from 6.5 on: %llu\n",
		    s->deny_boot, s->deny65);
	print_leaders("  entered by", s->deny_bits);
}

/* Ignore larger functions, which are zeros at the end of a section. */
enum { FUNCTION_MAX = 1 << 16 };

static void ask_module(const struct rgn_module *m, const struct rgn_span *span,
		       const struct rgn_function *f, u64 *answers)
{
	u32 at = rgn_function_start(span, f), end = body_end(span, f);
	struct gtp_region region;
	struct rgn_verdict v;

	if (f->size > FUNCTION_MAX)
		return;
	for (; at < end; at++) {
		if (!span->len[at])
			continue;
		rgn_verdict_get(m->text, span->addr + at, &v);
		if (v.id >= RGN_VERDICT_PROBE)
			answers[rgn_module_ask(m, span, f, at, false, &region)]++;
	}
}

enum { ENDBR = 4, FTRACE_SITE = 5 };

/*
 * Ask the module's code about a function's entry. If the entry is an ftrace site, ask about the
 * address after the site, where a jump can serve for the entry, too.
 */
static void ask_entry(const struct rgn_module *m, const struct rgn_span *span,
		      const struct rgn_function *f, u64 *answers)
{
	u32 at = rgn_function_start(span, f);
	struct gtp_region region;

	if (f->size > FUNCTION_MAX)
		return;
	if (f->size > ENDBR && span->len[at] == ENDBR && span->site[at + ENDBR] & RGN_SITE_FTRACE)
		at += ENDBR;
	if (f->size > FTRACE_SITE && span->site[at] & RGN_SITE_FTRACE)
		answers[rgn_module_ask(m, span, f, at + FTRACE_SITE, true, &region)]++;
}

static void print_answers(const u64 *answers)
{
	u32 i;

	for (i = 0; i <= GTP_REGION_OTHERS; i++) {
		if (answers[i])
			text_printf(stdout, "  %9llu  %-12s %s\n", answers[i], gtp_region_word(i),
				    gtp_region_text(i));
	}
}

void rgn_stats_module(const struct rgn_text *text, const struct rgn_stats *stats)
{
	u64 answers[GTP_REGION_OTHERS + 1] = { 0 }, entries[GTP_REGION_OTHERS + 1] = { 0 };
	struct rgn_module m;
	u32 i, j;

	rgn_module_init(&m, text);
	for (i = 0; i < text->spans_n; i++) {
		const struct rgn_span *span = &text->spans[i];

		for (j = 0; span->kind == RGN_SPAN_TEXT && j < span->functions_n; j++) {
			ask_module(&m, span, &span->functions[j], answers);
			ask_entry(&m, span, &span->functions[j], entries);
		}
	}
	text_printf(stdout,
		    "the module, were these bytes the live ones: %llu take a jump, %.2f %% of P\n",
		    answers[GTP_REGION_OK], percent(answers[GTP_REGION_OK], stats->probeable));
	print_answers(answers);
	text_printf(stdout, "at entries, a jump after the function tracer's site\n");
	print_answers(entries);
	rgn_module_free(&m);
}
