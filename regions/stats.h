/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts over a whole image: the I, K, B table and why addresses are refused. */
#ifndef _GTP_STATS_H
#define _GTP_STATS_H

#include "regions/verdict.h"

/*
 * struct gtp_share - one rule's sum, and the sum of every function's share of its probe-able
 * addresses
 */
struct gtp_share {
	u64 sum;
	double means;
};

struct gtp_stats {
	u64 insns;     /* I */
	u64 probeable; /* P */
	u64 functions; /* with code that can be probed */
	/* the kernel's rule: control flow alone, with its copier, with one that relocates */
	struct gtp_share k_region, k_copy, k_any;
	struct gtp_share k65_copy; /* with its copier, as kernels from 6.5 on ask */
	struct gtp_share b_region, b_copy, b_any; /* ours */
	u64 verdicts[GTP_VERDICT_N];
	u64 kernel[GTP_KERNEL_N];
	u64 gain[GTP_KERNEL_N]; /* accepted here, for its copier; its rule refuses for this */
	u64 evidence[GTP_EVIDENCE_N];
	u64 deny, deny65;        /* accepted by the kernel, entered in the middle */
	u64 deny_boot;           /* of @deny: by boot code and alternatives alone */
	u64 deny_bits[16];       /* of @deny, by enum gtp_leader bit */
	u64 leaders, hidden;     /* inside functions; of those what their decode does not show */
	u64 hidden_bits[16];
};

void gtp_stats_count(const struct gtp_text *text, struct gtp_stats *stats);
/* gtp_stats_module - ask the module's own code about every address too, and print its share */
void gtp_stats_module(const struct gtp_text *text, const struct gtp_stats *stats);
void gtp_stats_print(const struct gtp_text *text, const struct gtp_stats *stats);

#endif /* _GTP_STATS_H */
