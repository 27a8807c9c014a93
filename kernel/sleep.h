/* SPDX-License-Identifier: GPL-2.0-only */
/* Keeps a run's clock right when the machine sleeps and wakes up. */
#ifndef _GTP_SLEEP_H
#define _GTP_SLEEP_H

/* gtp_sleep_init, gtp_sleep_exit - start and stop watching for sleep, at module init and exit */
void gtp_sleep_init(void);
void gtp_sleep_exit(void);

#endif /* _GTP_SLEEP_H */
