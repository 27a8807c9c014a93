/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Count the instructions of a whole image (I), and the addresses that the kernel's rule (K) and our
 * rule (B) accept.
 */
#ifndef _RGN_STATS_H
#define _RGN_STATS_H

#include "tools/regions/verdict.h"

/**
 * struct rgn_share - how many addresses one rule accepts
 * @sum: the number of accepted addresses
 * @means: for each function the accepted share of its addresses that can be probed, added up over
 *	all functions
 */
struct rgn_share {
	u64 sum;
	double means;
};

struct rgn_stats {
	u64 insns;     /* number of instructions (I) */
	u64 probeable; /* addresses that can be probed (P) */
	u64 functions; /* functions with code that can be probed */
	/*
	 * k_region: addresses that the kernel's rule accepts by control flow alone. k_copy: those
	 * at which the kernel can also copy the instructions. k_any: those at which code that
	 * adjusts relative operands can copy the instructions.
	 */
	struct rgn_share k_region, k_copy, k_any;
	struct rgn_share k65_copy;		  /* k_copy for kernels since 6.5 */
	struct rgn_share b_region, b_copy, b_any; /* the same for our rule */
	u64 verdicts[RGN_VERDICT_N];
	u64 kernel[RGN_KERNEL_N];
	u64 gain[RGN_KERNEL_N]; /* accepted by our rule only, by the kernel's reason */
	u64 evidence[RGN_EVIDENCE_N];
	u64 deny, deny65;    /* accepted by the kernel, although control may enter in the middle */
	u64 deny_boot;	     /* part of @deny: only boot code and alternatives enter there */
	u64 deny_bits[16];   /* counts of @deny, by enum rgn_leader bit */
	u64 leaders, hidden; /* in functions; those that decoding does not show */
	u64 hidden_bits[16];
	u64 unbound;		      /* part of @functions: a program's code without bounds */
	u64 jumping;		      /* functions of a program with jumps through registers */
	u64 unproven[RGN_UNPROVEN_N]; /* part of @jumping, by the reason for no proof */
};

void rgn_stats_count(const struct rgn_text *text, struct rgn_stats *stats);
/*
 * rgn_stats_module - ask the module's code about every address, and print the share that it accepts
 */
void rgn_stats_module(const struct rgn_text *text, const struct rgn_stats *stats);
void rgn_stats_print(const struct rgn_text *text, const struct rgn_stats *stats);

#endif /* _RGN_STATS_H */
