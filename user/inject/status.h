/* SPDX-License-Identifier: GPL-2.0-only */
/* The states of threads, and the reasons why they may not be traced, in words. */
#ifndef _GTP_STATUS_H
#define _GTP_STATUS_H

#include "user/process/process.h"

/*
 * gtp_status_field - return the number after @name ("\nNAME:") in a thread's status file, or the
 * first letter of a word; -1 if there is none
 */
long gtp_status_field(const struct gtp_process *p, u32 tid, const char *name);

/* gtp_status_is_over - true if a thread has ended, also if nobody has taken its end yet */
bool gtp_status_is_over(const struct gtp_process *p, u32 tid);

/* gtp_status_refuse - say why the kernel refuses to let us trace a thread; return -@err */
int gtp_status_refuse(const struct gtp_process *p, u32 tid, int err, struct gtp_why *why);

#endif /* _GTP_STATUS_H */
