/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decide whether a 5-byte jump may replace the code at an address: the verdict of our rule with its
 * reason, and the verdict of the kernel's rule.
 */
#ifndef _RGN_VERDICT_H
#define _RGN_VERDICT_H

#include "regions/region.h"
#include "tools/regions/text.h"

/*
 * X(name, word, text): the verdicts. The first group allows no probe at all, the second group
 * allows a breakpoint but no jump, and the last group allows a jump.
 */
/* clang-format off */
#define RGN_VERDICTS(X) \
	X(NOT_CODE,    "not-code",    "no code is there") \
	X(INIT,        "init",        "freed after boot, or runs where it is copied to") \
	X(PLT,         "plt",         "a stub that the linker made for calls of another file") \
	X(NOT_START,   "not-start",   "no instruction starts there") \
	X(BAD,         "bad",         "the bytes are no instruction") \
	X(INT3,        "int3",        "a breakpoint: padding, or a barrier against speculation") \
	X(ENTRY,       "entry",       "the kernel's entry code takes no probe") \
	X(NOINSTR,     "noinstr",     "the function may not be instrumented") \
	X(NOKPROBE,    "nokprobe",    "the kernel's probe blacklist has the function") \
	X(BUG,         "bug",         "the trap of a BUG or WARN") \
	X(JUMP_LABEL,  "jump-label",  "a jump label, rewritten while the kernel runs") \
	X(STATIC_CALL, "static-call", "a static call, rewritten while the kernel runs") \
	X(FTRACE,      "ftrace",      "the function tracer's site: probes there go through it") \
	X(NO_BOUNDS,   "no-bounds",   "nothing tells where its function begins and ends") \
	X(END,         "end",         "the function ends within the 5 bytes") \
	X(BAD_NEAR,    "bad-near",    "bytes near it are no instruction") \
	X(LEADER,      "leader",      "control may arrive within the 5 bytes") \
	X(INDIRECT,    "indirect",    "it jumps through a table, and nothing tells where to") \
	X(SITE,        "site",        "the bytes reach a place patched while the kernel runs") \
	X(FAULT,       "fault",       "an instruction among them has an exception fixup") \
	X(RETURN,      "return",      "a call among them would return into the 5 bytes") \
	X(COPY,        "copy",        "an instruction among them works only where it is") \
	X(BOOT_SITE,   "boot-site",   "the bytes reach a place patched at boot, unknown here") \
	X(RELOCATE,    "relocate",    "a jump may, if the copy of what it replaces is relocated") \
	X(JUMP,        "jump",        "a jump may, and a plain copy of what it replaces will do")
/* clang-format on */

enum rgn_verdict_id {
#define X(name, word, text) RGN_VERDICT_##name,
	RGN_VERDICTS(X)
#undef X
		RGN_VERDICT_N,
	RGN_VERDICT_PROBE = RGN_VERDICT_NO_BOUNDS, /* the first verdict that allows a breakpoint */
	RGN_VERDICT_ACCEPT = RGN_VERDICT_RELOCATE, /* the first verdict that allows a jump */
};

/* X(name, word, text): the kinds of evidence for a verdict; the best that a function has is used */
/* clang-format off */
#define RGN_EVIDENCES(X) \
	X(DIRECT, "D", "direct jumps, the kernel's tables and constants") \
	X(TABLES, "T", "jump tables and tail calls, proven, and all of the above") \
	X(ROWS,   "W", "the line table's basic blocks, complete for this function") \
	X(RELOCS, "R", "relocations: every address of code that is stored is known")
/* clang-format on */

enum rgn_evidence {
#define X(name, word, text) RGN_EVIDENCE_##name,
	RGN_EVIDENCES(X)
#undef X
		RGN_EVIDENCE_N,
};

/*
 * X(name, text): the results of the kernel's rule for optimised kprobes, in the order in which the
 * kernel checks them
 */
/* clang-format off */
#define RGN_KERNEL_RULES(X) \
	X(END,      "function end") \
	X(FAULT,    "ex_table in the function") \
	X(BAD,      "no instruction in the function") \
	X(INDIRECT, "indirect jump in the function") \
	X(RETHUNK,  "return thunk in the function") \
	X(INSIDE,   "jump to +1..+4") \
	X(BEHIND,   "jump to +5 only") \
	X(COPY,     "not boostable") \
	X(SITE,     "reserved site") \
	X(ACCEPT,   "accepted")
/* clang-format on */

enum rgn_kernel_id {
#define X(name, text) RGN_KERNEL_##name,
	RGN_KERNEL_RULES(X)
#undef X
		RGN_KERNEL_N,
};

/**
 * struct rgn_verdict - the verdict for one address
 * @id: whether a jump is allowed at the address, and why
 * @evidence: the evidence for @id
 * @len: the size of all instructions that a jump would displace; 0 if they were not checked
 * @where: the address of the first leader, site or instruction that is an obstacle
 * @bits: the enum rgn_leader or enum rgn_site bits at @where
 */
struct rgn_verdict {
	enum rgn_verdict_id id;
	enum rgn_evidence evidence;
	u32 len;
	u64 where;
	u32 bits;
};

void rgn_verdict_get(const struct rgn_text *text, u64 addr, struct rgn_verdict *v);

/*
 * rgn_verdict_boost - true if the kernel's kprobes can move all instructions that a jump at @at
 * displaces
 */
bool rgn_verdict_boost(const struct rgn_span *span, const struct rgn_function *f, u32 at);

/*
 * rgn_verdict_leaders - return the leader bits of the bytes that a jump at @at overwrites, without
 * the first byte
 */
u32 rgn_verdict_leaders(const struct rgn_span *span, u32 at, u32 *first);

/*
 * rgn_verdict_denied - return 0, unless a kernel's rule may accept the address although control may
 * arrive inside the replaced bytes; then return the leader bits that the kernel's rule does not see
 */
u32 rgn_verdict_denied(const struct rgn_text *text, u64 addr);

/**
 * rgn_verdict_kernel() - return the verdict of the kernel's rule for an address that can be probed
 * @span: the span that contains the address
 * @f: the function that contains the address
 * @at: the offset of the address in @span
 * @indirect: true to refuse functions with indirect jumps, as kernels before 6.5 do
 */
enum rgn_kernel_id rgn_verdict_kernel(const struct rgn_span *span, const struct rgn_function *f,
				      u32 at, bool indirect);

const char *rgn_verdict_word(enum rgn_verdict_id id);
const char *rgn_verdict_text(enum rgn_verdict_id id);
const char *rgn_evidence_word(enum rgn_evidence e);
const char *rgn_evidence_text(enum rgn_evidence e);
const char *rgn_kernel_text(enum rgn_kernel_id id);

#endif /* _RGN_VERDICT_H */
