/* SPDX-License-Identifier: GPL-2.0-only */
/* The frames between the agent in a guest and the hub on the host: see README.md. */
#ifndef GTP_AGENT_H
#define GTP_AGENT_H

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "base/base_user.h"

/* A frame's head, little endian; `length' bytes follow it. Up: to the host; down: to the guest. */
struct frame {
	u32 stream, kind, length;
};

enum kind {
	HELLO, /* up: the agent is there; stream 0 */
	PING,  /* both */
	EXIT,  /* down: end with this status (u32) */
	RUN,   /* down: start a process: a byte (1: stderr is stdout), and words, each with a NUL */
	FILES, /* down: begin a stream of file requests; each is a DATA, and a DATA answers it */
	LINE,  /* down: connect a line to /proc/gtp */
	DATA,  /* both: bytes */
	ERR,   /* up: bytes of a process's stderr */
	END,   /* down: no more bytes; up: the wait status, or a line's errno (i32) */
	KILL,  /* down: send a signal (u32) to a process's group */
	GONE,  /* down: the stream is not used any more */
	OPENED /* up: a line's errno (i32) */
};

/* A request about files; a path or bytes follow. Its answer: struct answer, and bytes. */
struct request {
	u32 op;
	s32 fd, flags;
	u32 count;
	s64 offset;
};

struct answer {
	s64 result; /* the result, or -errno */
};

enum op { F_OPEN, F_CLOSE, F_READ, F_WRITE, F_MKDIR, F_RMDIR, F_LIST, F_STAT, F_CLOCK, F_PID };

enum { MOST = 1 << 20, CHUNK = 1 << 15, STREAMS = 128 };

/**
 * struct stream - one conversation with the host, about a process, files or a line
 * @id: the number by which the hub knows the stream
 * @kind: RUN, FILES or LINE; 0: this struct is free
 * @to: receives data from the host: a process's stdin, or a thread's inbox
 * @inbox: for a thread, the other end of @to
 * @from: a process's stdout and stderr, or -1
 * @fds: where its three descriptors are in the list of those to wait for
 * @pending: @length bytes for @to that it has not accepted yet
 * @closing: no more data will come: @to is closed once it has all
 * @dead: the process has ended, with @status
 * @gone: the stream is not used any more; the main thread sets this
 * @ended: the thread has ended, and must be joined
 */
struct stream {
	u32 id, kind;
	int to, inbox, from[2], fds;
	char *pending;
	size_t length;
	bool closing, dead;
	int status;
	pid_t pid;
	pthread_t thread;
	bool gone, ended;
};

extern int port_fd;

bool port_open(void);
void port_await_host(void);
bool port_read(void *to, size_t n);
bool port_has_more(void);
void say(u32 stream, u32 kind, const void *bytes, size_t length);
void die(const char *what);
void wake(void);
void *files(void *stream);

#endif
