/* SPDX-License-Identifier: GPL-2.0-only */
/* When another module is unloaded, disarms the probes in it while its text still exists. */
#ifndef _GTP_UNLOAD_H
#define _GTP_UNLOAD_H

/*
 * gtp_unload_init - register the notifier, before any backend learns about modules.
 * gtp_unload_exit - unregister it, after the last jump is removed
 */
int gtp_unload_init(void);
void gtp_unload_exit(void);

#endif /* _GTP_UNLOAD_H */
