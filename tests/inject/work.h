/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code that is patched while it runs, and that notices when it computes something else than before.
 */
#ifndef _INJECT_WORK_H
#define _INJECT_WORK_H

enum { WORK_INPUTS = 64 };

/* work_learn - compute all results, before anybody changes the code */
void work_learn(void);

/* work_round - compute the results of one input again; return how many differ */
unsigned int work_round(unsigned int input);

/* work_red_zone - a function that keeps its values below the stack pointer, in hand-written code */
unsigned long work_red_zone(unsigned long value);

#endif /* _INJECT_WORK_H */
