/* SPDX-License-Identifier: GPL-2.0-only */
/* Decides which instructions of a process a jump may replace, by gdbtp-regions' tables. */
#ifndef _GTP_HOST_PLACES_H
#define _GTP_HOST_PLACES_H

#include "base/why.h"
#include "regions/region.h"
#include "user/agent/agent.h"
#include "user/process/process.h"

enum { GTP_FILES_MAX = 64 };

/**
 * struct gtp_code_file - a file of code that a process has mapped
 * @path: its path, as the process sees it
 * @start, @end: the addresses of all of its mappings
 * @base: what to add to an address of the file
 * @table: its table, in @bytes
 */
struct gtp_code_file {
	char *path;
	u64 start, end;
	u64 base;
	u8 *bytes;
	struct gtp_table table;
};

/* struct gtp_code_files - the files in which places were asked for */
struct gtp_code_files {
	struct gtp_code_file file[GTP_FILES_MAX];
	u32 n;
};

/**
 * gtp_places_find() - find the region of an address
 * @files: the files that are known already; another one is added
 * @p: the process
 * @addr: the address
 * @r: receives the region
 * @why: receives the reason for a refusal
 *
 * Return: 0, or -errno.
 */
int gtp_places_find(struct gtp_code_files *files, const struct gtp_process *p, u64 addr,
		    struct gtp_region *r, struct gtp_why *why);

/* gtp_places_file - return the file that contains an address, or NULL with @why */
struct gtp_code_file *gtp_places_file(struct gtp_code_files *files, const struct gtp_process *p,
				      u64 addr, struct gtp_why *why);

/*
 * gtp_places_stay - find the mappings that hits may read at once, because they stay as long as the
 * program runs: the program's own, and the first thread's stack
 */
void gtp_places_stay(const struct gtp_process *p, struct gtp_agent_shared *shared);

void gtp_places_free(struct gtp_code_files *files);

#endif /* _GTP_HOST_PLACES_H */
