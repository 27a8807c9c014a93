/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes conditions for random pads: random expressions, and common forms. */
#ifndef _GTP_PADCOND_H
#define _GTP_PADCOND_H

#include "tests/fuzz/axgen.h"
#include "tests/fuzz/padworld.h"

/*
 * padcond_make - make a condition, which a pad with the registers @in often can evaluate; it names
 * memory and variables of padworld()
 */
void padcond_make(struct axgen *g, const struct padworld_regs *in);

#endif /* _GTP_PADCOND_H */
