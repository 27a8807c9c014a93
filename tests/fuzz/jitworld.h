/* SPDX-License-Identifier: GPL-2.0-only */
/* A world in userspace to compare interpreter and compiler in. */
#ifndef _GTP_JITWORLD_H
#define _GTP_JITWORLD_H

#include "tests/fuzz/jitdiff.h"

/*
 * jitworld - memory that is really there and really faults; on the first call it is made. A
 * difference is reported in full and aborts. @g gets the address of memory.
 */
const struct jitdiff_world *jitworld(struct axgen *g);

#endif /* _GTP_JITWORLD_H */
