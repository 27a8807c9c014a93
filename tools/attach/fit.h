/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds out whether tracepoints could harm a process, before anything in it is changed. */
#ifndef _GTP_ATTACH_FIT_H
#define _GTP_ATTACH_FIT_H

#include "user/inject/inject.h"

/*
 * fit_process - check a process from outside, while it runs. Return 0, or -EOPNOTSUPP with the
 * reason in @why
 */
int fit_process(const struct gtp_process *p, struct gtp_why *why);

/* fit_threads - check the threads of a process, in a batch. Return 0, or -errno with @why */
int fit_threads(const struct gtp_process *p, const struct gtp_inject *in, struct gtp_why *why);

/* fit_has_filter - true if a thread of the process has a seccomp filter, or cannot be seen */
bool fit_has_filter(const struct gtp_process *p);

#endif /* _GTP_ATTACH_FIT_H */
