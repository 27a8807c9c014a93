// SPDX-License-Identifier: GPL-2.0-only
/*
 * The states of threads, and the reasons why they may not be traced, in words.
 *
 * The kernel has one errno for all rights that are missing.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "user/inject/status.h"

long gtp_status_field(const struct gtp_process *p, u32 tid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "task/%u/status", tid);
	return gtp_process_field(p, path, name);
}

bool gtp_status_is_over(const struct gtp_process *p, u32 tid)
{
	long state = gtp_status_field(p, tid, "\nState:");

	return state < 0 || state == 'Z' || state == 'X';
}

/* Read the first line of a small file. Its text may be anything: replace what is not printable. */
static void read_line(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t i, n = -1;

	if (fd >= 0) {
		n = read(fd, text, size - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	for (i = 0; text[i]; i++)
		if (text[i] < ' ' || text[i] > '~')
			text[i] = '?';
}

static void blame_tracer(const struct gtp_process *p, long tracer, struct gtp_why *why)
{
	char path[64], name[64];

	snprintf(path, sizeof(path), "/proc/%ld/comm", tracer);
	read_line(path, name, sizeof(name));
	gtp_why(why, "process %u is traced by process %ld (%s): end that first", p->pid, tracer,
		name);
}

/* Say which right is missing. */
static void blame_rights(const struct gtp_process *p, u32 tid, struct gtp_why *why)
{
	long uid = gtp_status_field(p, tid, "\nUid:");
	char scope[8];

	read_line("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope));
	if (*scope == '3')
		gtp_why(why, "process %u: ptrace is off until the next boot (ptrace_scope is 3)",
			p->pid);
	else if (!geteuid())
		gtp_why(why, "process %u: this root lacks the capability CAP_SYS_PTRACE", p->pid);
	else if (uid >= 0 && (uid_t)uid != geteuid())
		gtp_why(why, "process %u belongs to another user: use root", p->pid);
	else if (*scope && *scope != '0')
		gtp_why(why,
			"process %u: use root, or start it from here (kernel.yama.ptrace_scope is %s)",
			p->pid, scope);
	else
		gtp_why(why, "process %u is protected (PR_SET_DUMPABLE): use root", p->pid);
}

int gtp_status_refuse(const struct gtp_process *p, u32 tid, int err, struct gtp_why *why)
{
	long tracer = gtp_status_field(p, tid, "\nTracerPid:");

	if (err != EPERM)
		gtp_why(why, "thread %u of process %u: %s", tid, p->pid, strerror(err));
	else if (tracer > 0)
		blame_tracer(p, tracer, why);
	else
		blame_rights(p, tid, why);
	return -err;
}
