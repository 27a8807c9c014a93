/* SPDX-License-Identifier: GPL-2.0-only */
/* Print the contents of a compiled session for the user. */
#ifndef _RUN_INFO_H
#define _RUN_INFO_H

#include "gtpd.h"

/* info_name - return the kernel of a part as "RELEASE (build-id HEX)", in a static buffer */
const char *info_name(const struct gtpd_part *p);

/* info_print - print the kernels, tracepoints, conditions and actions of a session */
void info_print(const struct gtpd *g);

#endif /* _RUN_INFO_H */
