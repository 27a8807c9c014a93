/* SPDX-License-Identifier: GPL-2.0-only */
/* Parse the argument of --for. */
#ifndef _RUN_DURATION_H
#define _RUN_DURATION_H

#include <argp.h>
#include "base/base.h"

/*
 * duration - convert a time (5s, 500ms, 2m, 1h or plain seconds) to ms; exit with a usage error for
 * any other text
 */
u64 duration(struct argp_state *state, const char *text);

#endif /* _RUN_DURATION_H */
