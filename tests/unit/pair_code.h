/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs the machine code of a start or an end of a pair (jit/ops_table.c), with a stop before each
 * access to the table.
 */
#ifndef _GTP_PAIR_CODE_H
#define _GTP_PAIR_CODE_H

#include "aggregate/pair.h"

/* Numbers of variables. */
enum { PAIR_CODE_KEPT = 300, PAIR_CODE_SINCE };

/* pair_code_begin - compile both snippets */
void pair_code_begin(void);

/*
 * pair_code_start - start @key at @time, with @kept as the kept value, if the pair keeps one; the
 * counters are those of CPU @cpu. Call pair_step() before each instruction that reads or writes the
 * table, except the counters. C has the same steps, and does all that the code leaves to it
 */
void pair_code_start(struct gtp_pair *p, u32 cpu, u64 key, u64 time, u64 kept);

/* pair_code_end - end @key in the same way; return false if C has found no start */
bool pair_code_end(struct gtp_pair *p, u32 cpu, u64 key, u64 time, u64 *since, u64 *kept);

/* pair_code_in_c - return how many starts and ends the code has left to C so far */
u32 pair_code_in_c(void);

#endif /* _GTP_PAIR_CODE_H */
