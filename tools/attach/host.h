/* SPDX-License-Identifier: GPL-2.0-only */
/* The host of a stub whose target is a process; for the kernel the host is kernel/. */
#ifndef _GTP_ATTACH_HOST_H
#define _GTP_ATTACH_HOST_H

#include "agent.h"
#include "stub/stub.h"
#include "user/process/files.h"
#include "user/process/objects.h"

/**
 * struct host - one process, and the connection to the GDB that inspects it
 * @agent: points to @in_process; first, because callbacks of the session rely on it
 * @process: the process
 * @files: the files that GDB has opened
 * @object: copies of the texts that GDB reads, made when GDB began to read them
 * @read: the bytes that were read last
 * @late: true if the user has been informed that a page could not be read in time
 * @libraries: the checksum of the list of libraries that GDB has read, or was last asked to read
 * @look_ms: the time at which to check the list of libraries again
 * @agent_ms: the time at which to call agent_look() again
 * @cut: for each text, true if the user has been informed that GDB gets only a part of it
 * @in_process: the trace session, and the agent in the process
 * @stub: the connection to GDB
 * @broken: true if GDB no longer reads from its pipe
 */
struct host {
	struct agent *agent;
	struct gtp_process process;
	struct gtp_process_files files;
	struct gtp_text object[GTP_OBJECT_THREADS + 1];
	struct gtp_text read;
	bool late;
	u64 libraries;
	u64 look_ms;
	u64 agent_ms;
	bool cut[GTP_OBJECT_THREADS + 1];
	struct agent in_process;
	struct gtp_stub stub;
	bool broken;
};

/* host_init - attach to a process; return 0, or -errno with @why and nothing to undo */
int host_init(struct host *h, u32 pid, struct gtp_why *why);

/* host_looks - true if host_look() is to be called again and again */
bool host_looks(const struct host *h);

/*
 * host_look - while GDB waits in a continue, check whether the process has ended or loaded a
 * library; while the agent is in the process, see agent_look()
 */
void host_look(struct host *h);

void host_exit(struct host *h);

#endif /* _GTP_ATTACH_HOST_H */
