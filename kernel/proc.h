/* SPDX-License-Identifier: GPL-2.0-only */
/* The module's files in /proc, and the check of the permission to open them. */
#ifndef _GTP_PROC_H
#define _GTP_PROC_H

/*
 * gtp_proc_allowed - return 0 if the current task may open our files, -EPERM, or the error of
 * lockdown
 */
int gtp_proc_allowed(void);

/*
 * Register and remove the files, at module init and exit; return 0 or -errno. An exit waits for
 * calls in progress.
 */
int gtp_proc_gtp_init(void);
void gtp_proc_gtp_exit(void);
int gtp_proc_gtpframe_init(void);
void gtp_proc_gtpframe_exit(void);
int gtp_proc_pipe_init(void);
void gtp_proc_pipe_exit(void);
int gtp_proc_gtpregions_init(void);
void gtp_proc_gtpregions_exit(void);

#endif /* _GTP_PROC_H */
