/* SPDX-License-Identifier: GPL-2.0-only */
/* Readings of the clocks, by which frames of several machines can be put into one order. */
#ifndef _RUN_CLOCKS_H
#define _RUN_CLOCKS_H

#include "base/base.h"

/**
 * clocks_tell - answer lines on standard input
 * @n: the number of lines to answer; an earlier end of the input ends this, too
 *
 * Each answer is a line: the time of day and the monotonic clock, in ns. The latter is the
 * frames' $clock.
 */
void clocks_tell(u32 n);

#endif /* _RUN_CLOCKS_H */
