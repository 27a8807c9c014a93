/* SPDX-License-Identifier: GPL-2.0-only */
/* A condition on the contents of a frame, as the bytecode that GDB compiles for the kernel's hits.
 */
#ifndef _DRAIN_CONDITION_H
#define _DRAIN_CONDITION_H

#include "agentexpr/ax.h"

/**
 * struct condition - the condition at one address of a tracepoint
 * @tracepoint, @address: the number of the tracepoint, and one of its addresses
 * @known: a mask of the registers that frames of this address contain, one bit for each of GDB's
 *	register numbers
 * @has_code: true if there is a condition; without one, no frame of this address ends the recording
 * @verified: the verified bytecode of the condition
 */
struct condition {
	u32 tracepoint;
	u64 address, known;
	bool has_code;
	struct ax_verified verified;
};

enum condition_says { CONDITION_NO, CONDITION_YES, CONDITION_UNKNOWN };

/* condition_parse - parse "TRACEPOINT ADDRESS REGISTERS CODE"; return false for any other text */
bool condition_parse(struct condition *c, const char *text);

/* condition_pc - return the pc in a frame's registers; 0 if it has none */
u64 condition_pc(const u8 *frame, size_t len, u32 register_bytes);

/**
 * condition_says() - evaluate a condition for one frame
 * @c: the condition
 * @frame, @len: a frame's blocks
 * @register_bytes: the size of a frame's registers
 *
 * Return: the result; UNKNOWN if the frame does not have a value that the condition needs, or the
 * condition divides by 0.
 */
enum condition_says condition_says(const struct condition *c, const u8 *frame, size_t len,
				   u32 register_bytes);

#endif /* _DRAIN_CONDITION_H */
