/* SPDX-License-Identifier: GPL-2.0-only */
/* Ends the run if the machine panics, and marks a hit in which a task dies. */
#ifndef _GTP_DYING_H
#define _GTP_DYING_H

/*
 * gtp_dying_init - register for panics and oopses; return 0 or -errno. The trace session must exist
 */
int gtp_dying_init(void);

/* gtp_dying_exit - unregister the notifiers, and wait for one that is in progress */
void gtp_dying_exit(void);

#endif /* _GTP_DYING_H */
