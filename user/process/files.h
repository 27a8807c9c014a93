/* SPDX-License-Identifier: GPL-2.0-only */
/* Opens files for GDB as a process sees them. */
#ifndef _GTP_PROCESS_FILES_H
#define _GTP_PROCESS_FILES_H

#include "user/process/process.h"

enum { GTP_PROCESS_FILES_MAX = 64 };

/* struct gtp_process_files - our descriptors, indexed by GDB's file numbers; -1: not in use */
struct gtp_process_files {
	int fd[GTP_PROCESS_FILES_MAX];
};

void gtp_process_files_init(struct gtp_process_files *f);
void gtp_process_files_close(struct gtp_process_files *f);

/* These implement the functions of struct gtp_process_ops for files. */
int gtp_process_files_open(struct gtp_process_files *f, const struct gtp_process *p,
			   const char *path);
int gtp_process_files_stat(const struct gtp_process_files *f, u32 n, struct gtp_file_stat *st);
int gtp_process_files_end(struct gtp_process_files *f, u32 n);
s64 gtp_process_files_read(const struct gtp_process_files *f, u32 n, u64 from, void *dst, u32 len);
s64 gtp_process_files_link(const struct gtp_process *p, const char *path, char *dst, u32 len);

#endif /* _GTP_PROCESS_FILES_H */
