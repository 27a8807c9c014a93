/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts over a whole image: instructions (I), the kernel's rule (K), our rule (B), reasons. */
#ifndef _RGN_STATS_H
#define _RGN_STATS_H

#include "tools/regions/verdict.h"

/*
 * struct rgn_share - one rule's sum, and the sum of every function's share of its probe-able
 * addresses
 */
struct rgn_share {
	u64 sum;
	double means;
};

struct rgn_stats {
	u64 insns;     /* I */
	u64 probeable; /* P */
	u64 functions; /* functions with code that can be probed */
	/* the kernel's rule: control flow alone, with its copier, with one that relocates */
	struct rgn_share k_region, k_copy, k_any;
	struct rgn_share k65_copy;		  /* with its copier, as kernels since 6.5 ask */
	struct rgn_share b_region, b_copy, b_any; /* ours */
	u64 verdicts[RGN_VERDICT_N];
	u64 kernel[RGN_KERNEL_N];
	u64 gain[RGN_KERNEL_N]; /* accepted here, with its copier, by its rule's reason */
	u64 evidence[RGN_EVIDENCE_N];
	u64 deny, deny65;    /* accepted by the kernel, entered in the middle */
	u64 deny_boot;	     /* part of @deny: only boot code and alternatives enter */
	u64 deny_bits[16];   /* counts of @deny, by enum rgn_leader bit */
	u64 leaders, hidden; /* inside functions; of those what their decode does not show */
	u64 hidden_bits[16];
	u64 unbound;		      /* part of @functions: code without bounds, of a program */
	u64 jumping;		      /* functions that jump through registers */
	u64 unproven[RGN_UNPROVEN_N]; /* part of @jumping, by the reason that is unproven */
};

void rgn_stats_count(const struct rgn_text *text, struct rgn_stats *stats);
/* rgn_stats_module - ask the module's own code about every address too, and print its share */
void rgn_stats_module(const struct rgn_text *text, const struct rgn_stats *stats);
void rgn_stats_print(const struct rgn_text *text, const struct rgn_stats *stats);

#endif /* _RGN_STATS_H */
