/* SPDX-License-Identifier: GPL-2.0-only */
/* Another process, seen from outside through /proc: it is never stopped and never changed. */
#ifndef _GTP_PROCESS_H
#define _GTP_PROCESS_H

#include <dirent.h>
#include <stdio.h>

#include "base/why.h"
#include "stub/process.h"

enum {
	GTP_PROCESS_AUXV_MAX = 4096,
	GTP_PROCESS_PATH_MAX = 4096,
};

/**
 * struct gtp_process - a process that is inspected
 * @pid: the PID of the process
 * @pidfd: a descriptor that is readable when the process has ended
 * @dir: a descriptor of /proc/PID, which still refers to this process after its PID was reused
 * @mem: a descriptor of its memory. After an execve it still belongs to the old program
 * @root: a descriptor of its root directory
 * @auxv, @auxv_bytes: the process's auxiliary vector, which changes at an execve
 * @entry, @phdr, @phnum, @base: the program's entry point, its program headers and their number,
 *			       the address of the dynamic linker
 */
struct gtp_process {
	u32 pid;
	int pidfd;
	int dir;
	int mem;
	int root;
	u8 auxv[GTP_PROCESS_AUXV_MAX];
	u32 auxv_bytes;
	u64 entry;
	u64 phdr;
	u64 phnum;
	u64 base;
};

/*
 * gtp_process_open - open a process by its PID; return 0, or -errno with @why and nothing to undo
 */
int gtp_process_open(struct gtp_process *p, u32 pid, struct gtp_why *why);

void gtp_process_close(struct gtp_process *p);

/*
 * gtp_process_read - read @len bytes of a process's memory; return 0, or -EFAULT if any of them
 * cannot be read
 */
int gtp_process_read(const struct gtp_process *p, void *dst, u64 addr, u32 len);

/*
 * gtp_process_read_string - read a string of less than @size bytes, NUL-terminated; return 0, or
 * -EFAULT if it cannot be read or is longer
 */
int gtp_process_read_string(const struct gtp_process *p, char *dst, u64 addr, u32 size);

/*
 * gtp_process_is_gone - true if a process has ended or executes another program; @why receives the
 * reason
 */
bool gtp_process_is_gone(const struct gtp_process *p, struct gtp_why *why);

/* gtp_process_has_thread - true if @tid is a thread of the process */
bool gtp_process_has_thread(const struct gtp_process *p, u32 tid);

/* gtp_process_live - get the registers of a thread that are known without stopping the thread */
void gtp_process_live(const struct gtp_process *p, u32 tid, struct gtp_live *live);

/*
 * gtp_process_exe - store the path of a process's program in @path, GTP_PROCESS_PATH_MAX bytes,
 * terminated; if the file was removed, the path that it had. Return 0 or -errno
 */
int gtp_process_exe(const struct gtp_process *p, char *path);

/*
 * gtp_process_read_from - read memory through @mem, a descriptor of /proc/PID/mem; return 0, or
 * -EFAULT if any of it cannot be read
 */
int gtp_process_read_from(int mem, void *dst, u64 addr, u64 len);

/* gtp_process_file - read a small file of /proc/PID, terminated; return its length, or -errno */
int gtp_process_file(const struct gtp_process *p, const char *name, char *buf, size_t size);

/*
 * gtp_process_field - return the number after @name ("\nNAME:") in a status file of /proc/PID, or
 * the first letter of a word; -1 if there is none
 */
long gtp_process_field(const struct gtp_process *p, const char *file, const char *name);

/* gtp_process_stream - open a file of /proc/PID; return NULL, and set errno, if that fails */
FILE *gtp_process_stream(const struct gtp_process *p, const char *name);

/* gtp_process_threads - open the list of the threads; return NULL if that fails */
DIR *gtp_process_threads(const struct gtp_process *p);

#endif /* _GTP_PROCESS_H */
