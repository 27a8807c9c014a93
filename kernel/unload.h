/* SPDX-License-Identifier: GPL-2.0-only */
/* Other modules that go: what is probed in them is disarmed while their text is still there. */
#ifndef _GTP_UNLOAD_H
#define _GTP_UNLOAD_H

/* gtp_unload_init - before any backend learns of modules; gtp_unload_exit - after the last jump */
int gtp_unload_init(void);
void gtp_unload_exit(void);

#endif /* _GTP_UNLOAD_H */
