// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stops all threads of another process by ptrace, and releases them.
 *
 * PTRACE_SEIZE sends no signal and does not disturb a process that is stopped by a signal.
 * PTRACE_INTERRUPT then makes the thread trap before it returns to the program. The kernel looks
 * for this trap before it dequeues a signal, so signals stay pending until the release. A signal
 * that was dequeued already is passed on at once: the kernel writes the handler's frame and then
 * traps.
 *
 * New threads can only come from threads that still run. So when all known threads stand, and two
 * listings in a row show no other thread, there is none.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "user/inject/status.h"
#include "user/inject/stop.h"

enum {
	LOOKS = 16,	      /* looks at all threads that are awaited, before the first sleep */
	DEEP = 64,	      /* so many looks before the next one that also reads the states */
	SEIZES = 4,	      /* tries to seize a thread */
	SLEEP_NS = 50 * 1000, /* between two looks */
	ERESTARTNOHAND = 514, /* the kernel's: restart, unless a handler runs */
};

static u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

static s64 now_ms(void)
{
	return (s64)(now_ns() / 1000000);
}

static void pause_ns(long ns)
{
	const struct timespec pause = { 0, ns };

	nanosleep(&pause, NULL);
}

static long request(enum __ptrace_request what, u32 tid, long addr, long data)
{
	return ptrace(what, (pid_t)tid, addr, data);
}

/* --- threads --- */

/*
 * Find a thread that has not ended; NULL: there is none. Both the list and /proc have threads
 * mostly in the order in which they were created, so begin where the last search has ended.
 */
static struct gtp_thread *find(struct gtp_stop *s, u32 tid, u32 *from)
{
	u32 i, k;

	for (i = 0; i < s->n; i++) {
		k = (*from + i) % s->n;
		if (s->thread[k].tid == tid && !s->thread[k].gone) {
			*from = k + 1;
			return &s->thread[k];
		}
	}
	return NULL;
}

static int make_room(struct gtp_stop *s, struct gtp_why *why)
{
	u32 room = s->room ? 2 * s->room : 16;
	struct gtp_thread *more;

	if (s->n < s->room)
		return 0;
	more = realloc(s->thread, room * sizeof(*more));
	if (!more) {
		gtp_why(why, "out of memory");
		return -ENOMEM;
	}
	s->thread = more;
	s->room = room;
	return 0;
}

/*
 * Find out why a thread cannot be seized. Return 0 if it has ended; 1 if it is seized already, as a
 * thread that has got the number of the first thread by an exec; or -errno.
 */
static int judge(const struct gtp_stop *s, u32 tid, int err, struct gtp_why *why)
{
	if (err == ESRCH || gtp_status_is_over(s->p, tid))
		return 0;
	if (gtp_status_field(s->p, tid, "\nTracerPid:") == gettid())
		return 1;
	return gtp_status_refuse(s->p, tid, err, why);
}

/*
 * Seize a thread, which runs on. In an exec another thread takes the number of the first one, and
 * the kernel refuses for a moment. Return 1; 0 if the thread has ended already; or -errno.
 */
static int seize(struct gtp_stop *s, u32 tid, struct gtp_why *why)
{
	int n = make_room(s, why), try;

	if (n)
		return n;
	for (try = 0, n = -1; n < 0 && try < SEIZES; try++)
		n = request(PTRACE_SEIZE, tid, 0, s->options) ? judge(s, tid, errno, why) : 1;
	if (n > 0)
		s->thread[s->n++] = (struct gtp_thread){ .tid = tid };
	return n;
}

static DIR *open_tasks(const struct gtp_process *p, struct gtp_why *why)
{
	DIR *dir = gtp_process_threads(p);

	if (!dir)
		gtp_why(why, "process %u has ended", p->pid);
	return dir;
}

/*
 * Seize all threads that are not known yet, then interrupt them. The first ones run on while the
 * others are seized. Return the number of new threads, or -errno.
 */
static int seize_new(struct gtp_stop *s, struct gtp_why *why)
{
	DIR *dir = open_tasks(s->p, why);
	u32 i, tid, from = 0, first = s->n;
	struct dirent *entry;
	int n = 0;

	if (!dir)
		return -ESRCH;
	while (n >= 0 && (entry = readdir(dir))) {
		tid = (u32)strtoul(entry->d_name, NULL, 10);
		if (tid && !find(s, tid, &from))
			n = seize(s, tid, why);
	}
	closedir(dir);
	if (!s->began_ns)
		s->began_ns = now_ns();
	for (i = first; i < s->n; i++)
		request(PTRACE_INTERRUPT, s->thread[i].tid, 0, 0);
	return n < 0 ? n : (int)(s->n - first);
}

/*
 * True if a thread waits in the kernel and cannot be interrupted, as in vfork() or on a file system
 * that hangs.
 */
static bool cannot_stop(const struct gtp_process *p, u32 tid)
{
	return gtp_status_field(p, tid, "\nState:") == 'D';
}

/*
 * Wait until no thread waits in the kernel for good. A thread that is seized there could be
 * released only when its wait ends, so look before any thread is seized.
 */
static int await_kernel(const struct gtp_process *p, struct gtp_why *why)
{
	s64 end = now_ms() + GTP_STOP_MS;
	struct dirent *entry;
	DIR *dir;
	u32 tid;

	dir = open_tasks(p, why);
	if (!dir)
		return -ESRCH;
	while ((entry = readdir(dir))) {
		tid = (u32)strtoul(entry->d_name, NULL, 10);
		while (tid && cannot_stop(p, tid) && now_ms() < end)
			pause_ns(20 * SLEEP_NS);
		if (tid && now_ms() >= end) {
			gtp_why(why,
				"thread %u of process %u waits in the kernel and cannot stop: try again later",
				tid, p->pid);
			closedir(dir);
			return -ETIMEDOUT;
		}
	}
	closedir(dir);
	return 0;
}

/*
 * Take a thread's new status. A signal that is about to be delivered is passed on; the trap is
 * still pending and comes next.
 */
static void take(struct gtp_stop *s, struct gtp_thread *t, int status)
{
	int event = status >> 16;

	t->gone = !WIFSTOPPED(status);
	t->stands = !t->gone && (event == PTRACE_EVENT_STOP || event == PTRACE_EVENT_EXEC);
	s->exec |= !t->gone && event == PTRACE_EVENT_EXEC;
	if (!t->gone && !t->stands)
		request(PTRACE_CONT, t->tid, 0, event ? 0 : WSTOPSIG(status));
}

/*
 * Look at a thread. Return true if there is news. The first thread of a process may have ended
 * before others: nothing reports that before all have ended, so @deep looks at its state.
 */
static bool look_at(struct gtp_stop *s, struct gtp_thread *t, bool deep)
{
	int status;
	pid_t got = waitpid((pid_t)t->tid, &status, __WALL | WNOHANG);

	if (got > 0) {
		take(s, t, status);
	} else if (got < 0 && errno == ECHILD) {
		t->gone = true;
	} else if (deep && !t->stands && gtp_status_is_over(s->p, t->tid)) {
		t->gone = true;
		s->zombie = true;
	}
	return got || t->gone;
}

/*
 * Look once at all threads that are awaited. Return the number of those that do not stand yet.
 * @deep also looks for the ends of threads that have stood: a thread that executes a program waits
 * in the kernel until these are taken.
 */
static u32 look(struct gtp_stop *s, bool deep, bool *news, u32 *late)
{
	u32 i, awaited = 0;

	for (i = 0; i < s->n; i++) {
		struct gtp_thread *t = &s->thread[i];

		if (t->gone || (t->stands && !deep))
			continue;
		*news |= look_at(s, t, deep);
		if (!t->stands && !t->gone) {
			*late = t->tid;
			awaited++;
		}
	}
	return awaited;
}

static int refuse_late(const struct gtp_stop *s, u32 tid, struct gtp_why *why)
{
	gtp_why(why, "thread %u of process %u does not stop within %d ms", tid, s->p->pid,
		GTP_STOP_MS);
	return -ETIMEDOUT;
}

/* Wait until all known threads stand or have ended. */
static int await_all(struct gtp_stop *s, struct gtp_why *why)
{
	s64 end = now_ms() + GTP_STOP_MS;
	u32 looks = 0, late = 0;
	bool news = false;

	while (look(s, ++looks % DEEP == 0, &news, &late)) {
		if (news)
			end = now_ms() + GTP_STOP_MS;
		else if (now_ms() > end)
			return refuse_late(s, late, why);
		news = false;
		if (looks > LOOKS)
			pause_ns(SLEEP_NS);
	}
	return 0;
}

/* --- interrupted system calls --- */

/*
 * The system calls that the kernel ends with EINTR after any stop, and that may be made again. The
 * time limit of such a call begins again.
 */
static bool may_repeat(u64 nr)
{
	switch (nr) {
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_semop:
	case SYS_semtimedop:
	case SYS_rt_sigtimedwait:
	case SYS_io_getevents:
	case SYS_io_pgetevents:
	case SYS_read:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_accept:
	case SYS_accept4:
		return true;
	}
	return false;
}

/*
 * Get a thread's registers. Replace EINTR by the kernel's own number for "restart, unless a handler
 * runs": if a signal is pending, its handler runs and the program sees EINTR as without the stop.
 */
static void get_regs(struct gtp_thread *t)
{
	if (gtp_stop_get(t)) {
		t->stands = false;
		return;
	}
	if (t->regs.rax != (u64)-EINTR || !may_repeat(t->regs.orig_rax))
		return;
	t->regs.rax = (u64)-ERESTARTNOHAND;
	gtp_stop_set(t);
}

/* --- the functions of stop.h --- */

int gtp_stop_get(struct gtp_thread *t)
{
	return ptrace(PTRACE_GETREGS, (pid_t)t->tid, NULL, &t->regs) ? -ESRCH : 0;
}

int gtp_stop_set(struct gtp_thread *t)
{
	return ptrace(PTRACE_SETREGS, (pid_t)t->tid, NULL, &t->regs) ? -ESRCH : 0;
}

/*
 * Do not sleep in waitpid(): if the process is killed, nothing reports the end of its first thread
 * before the ends of all others have been taken.
 */
int gtp_stop_await(struct gtp_stop *s, struct gtp_thread *t, int *status)
{
	u32 looks = 0;
	pid_t got;

	for (;;) {
		got = waitpid((pid_t)t->tid, status, __WALL | WNOHANG);
		if (got == (pid_t)t->tid && WIFSTOPPED(*status)) {
			s->exec |= *status >> 16 == PTRACE_EVENT_EXEC;
			return 0;
		}
		if (got || (++looks % DEEP == 0 && gtp_status_is_over(s->p, t->tid)))
			break;
		if (looks > LOOKS)
			pause_ns(SLEEP_NS);
	}
	s->zombie |= !got;
	t->gone = true;
	t->stands = false;
	return -ESRCH;
}

int gtp_stop_again(struct gtp_stop *s, struct gtp_thread *t)
{
	int status;

	request(PTRACE_INTERRUPT, t->tid, 0, 0);
	request(PTRACE_CONT, t->tid, 0, 0);
	t->stands = false;
	while (!t->stands) {
		if (gtp_stop_await(s, t, &status))
			return -ESRCH;
		take(s, t, status);
	}
	return 0;
}

/* Stop all threads. Return 0, or -errno with some threads still running or traced. */
static int stop_all(struct gtp_stop *s, struct gtp_why *why)
{
	u32 quiet = 0;
	int n, err;

	while (quiet < 2) {
		n = seize_new(s, why);
		if (n < 0)
			return n;
		err = await_all(s, why);
		if (err)
			return err;
		quiet = n ? 0 : quiet + 1;
	}
	return 0;
}

static u32 count_standing(const struct gtp_stop *s)
{
	u32 i, n = 0;

	for (i = 0; i < s->n; i++)
		n += s->thread[i].stands;
	return n;
}

int gtp_stop_begin(struct gtp_stop *s, const struct gtp_process *p, struct gtp_why *why)
{
	int err;
	u32 i;

	memset(s, 0, sizeof(*s));
	s->p = p;
	s->options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC;
	err = await_kernel(p, why);
	if (err)
		return err;
	err = stop_all(s, why);
	for (i = 0; !err && i < s->n; i++)
		if (s->thread[i].stands)
			get_regs(&s->thread[i]);
	if (!err && (s->exec || gtp_process_is_gone(p, why))) {
		if (s->exec)
			gtp_why(why, "process %u executes another program now: attach again",
				p->pid);
		err = -ESRCH;
	}
	if (!err && !count_standing(s)) {
		gtp_why(why, "process %u has ended", p->pid);
		err = -ESRCH;
	}
	if (err)
		gtp_stop_end(s);
	return err;
}

/*
 * Release the threads that stand. A thread that was killed does not stand any more. Return the
 * number of threads that are still traced.
 */
static u32 release(struct gtp_stop *s)
{
	u32 i, left = 0;

	for (i = 0; i < s->n; i++) {
		struct gtp_thread *t = &s->thread[i];

		if (t->stands && !request(PTRACE_DETACH, t->tid, 0, 0))
			t->gone = true;
		t->stands = false;
		left += !t->gone;
	}
	return left;
}

/*
 * Only a stopped thread can be detached. A thread that did not stop in time would stop later, and
 * stand until this program ends. So wait for it, however long that takes. A first thread that has
 * ended while it was traced can no longer be detached, and its parent hears of its end only after
 * us.
 */
void gtp_stop_end(struct gtp_stop *s)
{
	u32 late, looks = 0;
	bool news = false;
	int status;

	while (release(s)) {
		look(s, ++looks % DEEP == 0, &news, &late);
		if (looks > LOOKS)
			pause_ns(SLEEP_NS);
	}
	if (s->zombie)
		waitpid((pid_t)s->p->pid, &status, __WALL | WNOHANG);
	free(s->thread);
	memset(s, 0, sizeof(*s));
}
