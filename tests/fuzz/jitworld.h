/* SPDX-License-Identifier: GPL-2.0-only */
/* The environment in userspace in which interpreter and compiler are compared. */
#ifndef _GTP_JITWORLD_H
#define _GTP_JITWORLD_H

#include "tests/fuzz/jitdiff.h"

/*
 * jitworld - return the environment, whose memory has pages that fault; the first call makes it.
 * Its callbacks report a difference in full and abort. @g gets the addresses of the memory.
 */
const struct jitdiff_world *jitworld(struct axgen *g);

#endif /* _GTP_JITWORLD_H */
