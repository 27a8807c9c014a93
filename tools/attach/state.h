/* SPDX-License-Identifier: GPL-2.0-only */
/* The agent in a process: its state, for agent.c and enter.c. */
#ifndef _GTP_ATTACH_STATE_H
#define _GTP_ATTACH_STATE_H

#include "session/trace.h"
#include "user/host/code.h"
#include "user/host/parts.h"
#include "user/host/places.h"
#include "user/inject/inject.h"

/**
 * struct agent - the agent in a process
 * @process: the process
 * @space: memory for the session, which the process shares from the first tstart on
 * @trace: the session, in @space
 * @in: NULL until the first tstart
 * @stuck: true if a thread may still be in a pad or in the agent, so that nothing may be freed
 * @shared, @agent_at: the agent's data; @agent_at is an address in the process
 * @code: its code
 * @files: the files of code that have tracepoints
 * @patch: the jumps of the run, by the numbers of their pads
 * @patches: the number of entries in use
 * @going: the jumps that are being set or removed
 */
struct agent {
	struct gtp_process *process;
	struct gtp_space space;
	struct gtp_trace *trace;
	struct gtp_inject *in;
	bool stuck;
	struct gtp_agent_shared *shared;
	u64 agent_at;
	struct gtp_agent_code code;
	struct gtp_code_files files;
	struct gtp_patch **patch, **going;
	u32 patches;
};

#endif /* _GTP_ATTACH_STATE_H */
