/* SPDX-License-Identifier: GPL-2.0-only */
/* Things that victim.c can do and that are dangerous for a process with tracepoints. */
#ifndef _GTP_AGENT_ODD_H
#define _GTP_AGENT_ODD_H

#include <stdbool.h>

/* odd_obey - obey a line of input, see odd.c; return false if it is unknown */
bool odd_obey(const char *line);

#endif /* _GTP_AGENT_ODD_H */
