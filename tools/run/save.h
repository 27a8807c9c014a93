/* SPDX-License-Identifier: GPL-2.0-only */
/* Write the stopped run to a trace file. */
#ifndef _RUN_SAVE_H
#define _RUN_SAVE_H

#include "client.h"
#include "gtpd.h"
#include "part.h"

/* struct save - a trace file that is being written; it replaces an old file when it is complete */
struct save {
	struct part part;
	FILE *file;
	const char *path;
	u64 size;
};

/* save_begin - open the file, before the run begins; only its owner can access it */
void save_begin(struct save *o, const char *path);

/*
 * save - write the stopped run of @c; return the file's size in bytes. The run was defined by part
 * @p of @g, relocated by @distance
 */
u64 save(struct save *o, struct client *c, const struct gtpd *g, const struct gtpd_part *p,
	 u64 distance);

#endif /* _RUN_SAVE_H */
