/* SPDX-License-Identifier: GPL-2.0-only */
/* Readings of this machine's clocks, for ordering the frames of several machines. */
#ifndef _RUN_CLOCKS_H
#define _RUN_CLOCKS_H

#include "base/base.h"

/**
 * clocks_tell - answer lines on standard input
 * @n: the number of lines to answer; fewer if the input ends earlier
 *
 * Each answer is a line with the time of day and the monotonic clock, in ns. $clock in frames is a
 * reading of the monotonic clock.
 */
void clocks_tell(u32 n);

#endif /* _RUN_CLOCKS_H */
