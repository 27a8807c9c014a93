/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine panics during a run, or a task dies inside a hit. */
#ifndef _GTP_DYING_H
#define _GTP_DYING_H

/*
 * gtp_dying_init - register for panics and oopses; return 0 or -errno. The trace session must exist
 */
int gtp_dying_init(void);

/* gtp_dying_exit - unregister, and wait for a notifier in progress */
void gtp_dying_exit(void);

#endif /* _GTP_DYING_H */
