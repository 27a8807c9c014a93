/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes the texts about a process that GDB reads in pieces. */
#ifndef _GTP_OBJECTS_H
#define _GTP_OBJECTS_H

#include "user/process/process.h"

/*
 * struct gtp_text - a text that grows; @failed: there was no memory for it; @cut: the process has
 * more than the text may hold
 */
struct gtp_text {
	char *bytes;
	size_t len;
	size_t size;
	bool failed;
	bool cut;
};

/*
 * gtp_objects_make - make the text that @which names; @text is emptied first. Return 0, or -errno
 * with @why
 */
int gtp_objects_make(const struct gtp_process *p, enum gtp_object which, struct gtp_text *text,
		     struct gtp_why *why);

#endif /* _GTP_OBJECTS_H */
