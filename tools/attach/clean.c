// SPDX-License-Identifier: GPL-2.0-only
/* Removes the agent of a host that was killed from a process. */
#define _GNU_SOURCE
#include <err.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "clean.h"
#include "user/agent/agent.h"
#include "user/host/space.h"
#include "user/inject/inject.h"

enum { TRIES = 200, WAIT_NS = 1000000 };

static const char space_name[] = "/memfd:gtp (deleted)";

/* Find the memory that a host shares with the process. Return its address; 0: there is none. */
static u64 find_space(const struct gtp_process *p)
{
	FILE *maps = gtp_process_stream(p, "maps");
	u64 start, found = 0;
	char *line = NULL;
	size_t size = 0;

	while (!found && maps && getline(&line, &size, maps) > 0) {
		u32 path = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%llx-%*x %*s %*x %*s %*u %n", &start, &path) == 1 && path &&
		    !strcmp(line + path, space_name))
			found = start;
	}
	free(line);
	if (maps)
		fclose(maps);
	return found;
}

/* Read what the host has left. It must be in the memory itself, as this program's is. */
static struct gtp_agent_shared *read_shared(const struct gtp_process *p, u64 space)
{
	struct gtp_agent_shared *shared = malloc(sizeof(*shared));

	if (shared && !gtp_process_read(p, shared, space + GTP_SPACE_FIRST, sizeof(*shared)) &&
	    shared->magic == GTP_AGENT_MAGIC && shared->left.space == space)
		return shared;
	free(shared);
	return NULL;
}

/*
 * True if the hit of a thread is running, as far as the parts show. The host may have been killed
 * while it was allocating them: then no thread has one.
 */
static bool is_used(const struct gtp_process *p, const struct gtp_agent_shared *shared)
{
	for (u32 i = 0; shared->part && i < shared->nparts; i++) {
		struct gtp_agent_part part;
		u64 at;

		if (gtp_process_read(p, &at, (u64)(unsigned long)(shared->part + i), sizeof(at)))
			return true;
		if (!at)
			continue;
		if (gtp_process_read(p, &part, at, sizeof(part)) || part.on_stack ||
		    part.cpu.in_hit)
			return true;
	}
	return false;
}

static bool is_idle(const struct gtp_process *p, const struct gtp_agent_shared *shared)
{
	const struct timespec wait = { .tv_nsec = WAIT_NS };

	for (u32 i = 0; i < TRIES; i++) {
		if (!is_used(p, shared))
			return true;
		nanosleep(&wait, NULL);
	}
	return false;
}

static int adopt(struct gtp_inject *in, const struct gtp_agent_left *left)
{
	int rc = gtp_inject_adopt(in, GTP_INJECT_CODE, left->code, left->code_bytes);

	if (!rc)
		rc = gtp_inject_adopt(in, GTP_INJECT_WIPE, left->agent, left->agent_bytes);
	return rc ? rc : gtp_inject_adopt(in, GTP_INJECT_DATA, left->space, left->space_bytes);
}

/* Remove jumps and memory. The caller frees @patch. */
static int remove_all(struct gtp_process *p, const struct gtp_agent_shared *shared,
		      struct gtp_patch **patch, u32 n, struct gtp_why *why)
{
	struct gtp_inject *in;
	int rc = gtp_inject_open(p, &in, why);

	if (rc)
		return rc;
	rc = adopt(in, &shared->left);
	if (!rc)
		rc = gtp_inject_adopt_jumps(in, patch, n);
	if (!rc && n)
		rc = gtp_inject_unpatch(in, patch, n, why);
	if (!rc && !is_idle(p, shared)) {
		gtp_why(why,
			"a thread may still be in a tracepoint of a gtp attach that was killed");
		rc = -EBUSY;
	}
	if (!rc)
		return gtp_inject_close(in, why);
	gtp_inject_forget(in);
	return rc;
}

static int clean(struct gtp_process *p, const struct gtp_agent_shared *shared, struct gtp_why *why)
{
	struct gtp_patch *all = calloc(GTP_AGENT_NUMBERS, sizeof(*all));
	struct gtp_patch **patch = calloc(GTP_AGENT_NUMBERS, sizeof(*patch));
	u32 n = 0;
	int rc = -ENOMEM;

	for (u32 i = 0; all && patch && i < GTP_AGENT_NUMBERS; i++) {
		const struct gtp_agent_jump *jump = &shared->left.jump[i];

		if (!jump->at)
			continue;
		all[n] = (struct gtp_patch){ .at = jump->at, .pad = jump->pad };
		all[n].region.len = GTP_REGION_JUMP;
		memcpy(all[n].region.bytes, jump->bytes, GTP_REGION_JUMP);
		patch[n] = &all[n];
		n++;
	}
	gtp_why(why, "the tracepoints of a gtp attach that was killed cannot be removed");
	if (all && patch)
		rc = remove_all(p, shared, patch, n, why);
	if (!rc)
		warnx("process %u: removed %u jump%s of a gtp attach that was killed", p->pid, n,
		      n == 1 ? "" : "s");
	free(all);
	free(patch);
	return rc;
}

/* An abstract address belongs to one socket at a time. */
int clean_lock(const struct gtp_process *process, struct gtp_why *why)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;

	snprintf(addr.sun_path + 1, sizeof(addr.sun_path) - 1, "gtp-attach %u", process->pid);
	if (fd >= 0 && !bind(fd, (const struct sockaddr *)&addr, sizeof(addr)))
		return fd;
	rc = errno == EADDRINUSE ? -EBUSY : -errno;
	gtp_why(why, "another gtp attach is changing process %u: try again", process->pid);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int find_and_clean(struct gtp_process *process, struct gtp_why *why)
{
	u64 space = find_space(process), on = 0;
	struct gtp_agent_shared *shared;
	int rc = -EOPNOTSUPP;

	if (!space)
		return 0;
	shared = read_shared(process, space);
	if (!shared)
		gtp_why(why, "process %u has memory of a gtp attach that was killed: start it anew",
			process->pid);
	else if (gtp_process_read(process, &on, shared->left.agent, sizeof(on)) || !on)
		gtp_why(why,
			"process %u was forked from one with tracepoints, whose jumps it has: no others are possible",
			process->pid);
	else if (gtp_agent_has_owner(shared))
		gtp_why(why, "process %u has tracepoints of another gtp attach: end that first",
			process->pid);
	else
		rc = clean(process, shared, why);
	free(shared);
	return rc;
}

int clean_process(struct gtp_process *process, struct gtp_why *why)
{
	int lock, rc;

	if (!find_space(process))
		return 0;
	lock = clean_lock(process, why);
	if (lock < 0)
		return lock;
	rc = find_and_clean(process, why);
	close(lock);
	return rc;
}
