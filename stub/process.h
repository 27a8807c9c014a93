/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions that a connection to GDB needs from its host if the target is a process. */
#ifndef _GTP_STUB_PROCESS_H
#define _GTP_STUB_PROCESS_H

#include "base/why.h"

/* enum gtp_object - the texts about a process that GDB reads in pieces (qXfer) */
enum gtp_object {
	GTP_OBJECT_AUXV,
	GTP_OBJECT_EXEC_FILE,
	GTP_OBJECT_LIBRARIES,
	GTP_OBJECT_THREADS,
};

/**
 * struct gtp_live - the registers of a thread that can be known while the process runs
 * @pc: where the thread waits in a system call; the program's entry point if it does not wait
 * @sp: the stack pointer of a thread that waits in a system call
 * @has_sp: true if @sp is known
 */
struct gtp_live {
	u64 pc;
	u64 sp;
	bool has_sp;
};

/* struct gtp_file_stat - the part of an open file's status that GDB reads */
struct gtp_file_stat {
	u64 size;
	u64 mtime;
	u32 mode;
	u32 nlink;
};

/**
 * struct gtp_process_ops - the process that is the target, and its files; may sleep
 * @pid: return the id of the process
 * @is_gone: true if the process has ended, or has executed another program; @why then says so
 * @has_thread: true if the process has this thread now
 * @live: store the known registers of a thread
 * @is_library_event: true if GDB sets a breakpoint at @addr only to notice loaded libraries. The
 *                    host reports loaded libraries itself, so the breakpoint is accepted but not
 *                    inserted
 * @object: store at most @len bytes of a text, starting at offset @from; return their number, which
 *          is less than @len only at the end, or -errno with @why. A read from offset 0 generates
 *          the text again
 * @open: open a file for reading, as the process sees it; return a number for it, or -errno
 * @stat, @close: read an open file's status, close it; return 0 or -errno
 * @pread: read from an open file; return the number of bytes, or -errno
 * @readlink: store a link's text; return its length, or -errno
 */
struct gtp_process_ops {
	u32 (*pid)(void *ctx);
	bool (*is_gone)(void *ctx, struct gtp_why *why);
	bool (*has_thread)(void *ctx, u32 tid);
	void (*live)(void *ctx, u32 tid, struct gtp_live *live);
	bool (*is_library_event)(void *ctx, u64 addr);
	s64 (*object)(void *ctx, enum gtp_object which, u64 from, void *dst, u32 len,
		      struct gtp_why *why);
	int (*open)(void *ctx, const char *path);
	int (*stat)(void *ctx, u32 fd, struct gtp_file_stat *st);
	int (*close)(void *ctx, u32 fd);
	s64 (*pread)(void *ctx, u32 fd, u64 from, void *dst, u32 len);
	s64 (*readlink)(void *ctx, const char *path, char *dst, u32 len);
};

#endif /* _GTP_STUB_PROCESS_H */
