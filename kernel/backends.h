/* SPDX-License-Identifier: GPL-2.0-only */
/* The list of the backends: gtp_arm() asks them in this order. */
#ifndef _GTP_BACKENDS_H
#define _GTP_BACKENDS_H

#include "probe/backend.h"

extern const struct gtp_probe_backend *const gtp_backends[]; /* the list ends with NULL */

/* gtp_backends_init, gtp_backends_exit - module init and exit, without gtp_lock; 0 or -errno */
int gtp_backends_init(void);
void gtp_backends_exit(void);

/* gtp_backends_module_goes, gtp_backends_text_goes - call module_goes, text_goes of all backends */
void gtp_backends_module_goes(const struct module *mod);
void gtp_backends_text_goes(const struct module *mod, bool init);

#endif /* _GTP_BACKENDS_H */
