/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine dies during a run, or a task of it does inside of a hit. */
#ifndef _GTP_DYING_H
#define _GTP_DYING_H

/* gtp_dying_init - from here on both are noticed; 0 or -errno. The trace session is there */
int gtp_dying_init(void);

/* gtp_dying_exit - waits for a notifier in progress */
void gtp_dying_exit(void);

#endif /* _GTP_DYING_H */
