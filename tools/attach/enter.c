// SPDX-License-Identifier: GPL-2.0-only
/* Puts the agent into a process, and removes it. */
#define _GNU_SOURCE
#include <asm/unistd.h>
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clean.h"
#include "enter.h"
#include "fit.h"

enum { CODE_BYTES = 1 << 20 };

static const u64 space_bytes = 4ULL << 30;
static const u64 space_places[] = { 0x200000000000, 0x210000000000, 0x300000000000,
				    0x180000000000 };

/* --- the memory for the session --- */

/*
 * Take the lock whose word shows the process that this program lives. The kernel clears the word
 * when the thread that holds the lock ends, so this must be the thread that ends last. The lock is
 * taken in the memory that the process has: in a copy the word would not be cleared.
 */
static int take_lock(struct gtp_agent_shared *shared)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)&shared->owner;
	pthread_mutexattr_t attr;

	static_assert(sizeof(shared->owner) >= sizeof(*lock), "it holds a pthread_mutex_t");
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
	return pthread_mutex_lock(lock) || !gtp_agent_has_owner(shared) ? -EIO : 0;
}

int enter_space(struct agent *a)
{
	int rc = -EEXIST;

	for (u32 i = 0; rc && i < ARRAY_SIZE(space_places); i++) {
		int fd = memfd_create("gtp", MFD_CLOEXEC);

		rc = fd < 0 ? -errno : gtp_space_open(&a->space, fd, space_places[i], space_bytes);
		if (rc && fd >= 0)
			close(fd);
	}
	if (rc)
		return rc;
	a->shared = gtp_space_alloc(&a->space, sizeof(*a->shared), true);
	if (a->shared) {
		a->shared->magic = GTP_AGENT_MAGIC;
		return 0;
	}
	gtp_space_close(&a->space);
	return -ENOMEM;
}

/* --- descriptors --- */

enum { FD_ROOM = CMSG_SPACE(sizeof(int)) };

/* union control - the data of a message that has one descriptor */
union control {
	struct cmsghdr head;
	u8 room[FD_ROOM];
};

/* Send a descriptor. Return 0 or -errno. */
static int fds_send(int to, int fd)
{
	union control c = { .head = { .cmsg_len = CMSG_LEN(sizeof(fd)),
				      .cmsg_level = SOL_SOCKET,
				      .cmsg_type = SCM_RIGHTS } };
	struct iovec byte = { "", 1 };
	const struct msghdr m = { .msg_iov = &byte,
				  .msg_iovlen = 1,
				  .msg_control = &c,
				  .msg_controllen = sizeof(c) };

	memcpy(CMSG_DATA(&c.head), &fd, sizeof(fd));
	return sendmsg(to, &m, 0) == 1 ? 0 : -EIO;
}

/* Receive a descriptor that was sent before. Return it, or -errno. */
static int fds_receive(int from)
{
	union control c = { 0 };
	u8 text;
	struct iovec byte = { &text, 1 };
	struct msghdr m = { .msg_iov = &byte,
			    .msg_iovlen = 1,
			    .msg_control = &c,
			    .msg_controllen = sizeof(c) };
	int fd;

	if (recvmsg(from, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1 ||
	    c.head.cmsg_len != CMSG_LEN(sizeof(fd)) || c.head.cmsg_type != SCM_RIGHTS)
		return -EIO;
	memcpy(&fd, CMSG_DATA(&c.head), sizeof(fd));
	return fd;
}

/* --- into the process --- */

/* Return the addresses that the code must be near to: those of all tracepoints. */
static struct gtp_inject_near near_all(const struct gtp_trace *t)
{
	struct gtp_inject_near near = { .lo = U64_MAX };

	for (const struct gtp_tracepoint *tp = t->tps.first; tp; tp = tp->next) {
		near.lo = tp->addr < near.lo ? tp->addr : near.lo;
		near.hi = tp->addr + GTP_REGION_MAX > near.hi ? tp->addr + GTP_REGION_MAX : near.hi;
	}
	return near;
}

/* struct mapped - addresses in the process that map_all() has mapped */
struct mapped {
	u64 code, agent;
};

/* struct entering - the arguments of map_all(): it sends a descriptor to @to */
struct entering {
	const struct agent *a;
	int to;
};

/* Map the memfd @fd of the process where this program has the space. Return 0 or -errno. */
static int map_memfd(const struct agent *a, s64 fd, struct gtp_why *why)
{
	const u64 map[6] = { a->space.start,
			     space_bytes,
			     PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_FIXED_NOREPLACE,
			     (u64)fd,
			     0 };
	const u64 no_dump[6] = { a->space.start, space_bytes, MADV_DONTDUMP };
	u64 unmap[6] = { 0, space_bytes };
	s64 ret;
	int rc = gtp_inject_call(a->in, __NR_mmap, map, &ret, why);

	if (!rc && (u64)ret == a->space.start)
		return gtp_inject_call(a->in, __NR_madvise, no_dump, &ret, why);
	if (rc)
		return rc;
	if (ret < 0)
		return (int)ret;
	unmap[0] = (u64)ret; /* a kernel before 4.17, which takes the flag for a hint */
	gtp_inject_call(a->in, __NR_munmap, unmap, &ret, why);
	return -EEXIST;
}

/*
 * Let the process make a memfd and map it, and send it to @to. The process may not be allowed to
 * open a file of this program, but the opposite is.
 */
static int map_space(const struct entering *e, const struct mapped *m, struct gtp_why *why)
{
	const struct agent *a = e->a;
	const u64 name[6] = { m->agent + offsetof(struct gtp_agent, apart), MFD_CLOEXEC };
	u64 close_it[6] = { 0 };
	char path[64];
	s64 fd, ret;
	int own, rc = gtp_inject_write(a->in, name[0], "gtp", 4);

	if (!rc)
		rc = gtp_inject_call(a->in, __NR_memfd_create, name, &fd, why);
	if (rc || fd < 0)
		return rc ? rc : (int)fd;
	close_it[0] = (u64)fd;
	snprintf(path, sizeof(path), "/proc/%u/fd/%lld", a->process->pid, fd);
	own = open(path, O_RDWR | O_CLOEXEC);
	rc = own < 0 || ftruncate(own, (off_t)space_bytes) ? -errno : map_memfd(a, fd, why);
	if (!rc)
		rc = fds_send(e->to, own);
	if (own >= 0)
		close(own);
	gtp_inject_call(a->in, __NR_close, close_it, &ret, why);
	return rc;
}

/*
 * Write into the process's memory what another host needs to remove it, as if this one had ended:
 * this one has no lock in that memory yet.
 */
static int note_left(const struct agent *a, const struct mapped *m)
{
	const u64 bytes = offsetof(struct gtp_agent_shared, left.jump), on = 1;
	struct gtp_agent_shared *copy = calloc(1, sizeof(*copy));
	int rc;

	if (!copy)
		return -ENOMEM;
	copy->magic = GTP_AGENT_MAGIC;
	copy->left = (struct gtp_agent_left){
		.code = m->code,
		.code_bytes = CODE_BYTES,
		.agent = m->agent,
		.agent_bytes = sizeof(struct gtp_agent),
		.space = a->space.start,
		.space_bytes = space_bytes,
	};
	a->shared->left = copy->left;
	rc = gtp_inject_write(a->in, (u64)(unsigned long)a->shared, copy, bytes);
	free(copy);
	return rc ? rc : gtp_inject_write(a->in, m->agent, &on, sizeof(on));
}

/* Map all memory in one batch. After an error nothing of it is left. */
static int map_stopped(const struct entering *e, struct mapped *m, struct gtp_why *why)
{
	const struct agent *a = e->a;
	const struct gtp_inject_near near = near_all(a->trace), anywhere = { 0 };
	int rc = fit_threads(a->process, a->in, why);

	if (!rc)
		rc = gtp_inject_map(a->in, GTP_INJECT_CODE, &near, CODE_BYTES, &m->code, why);
	if (rc)
		return rc;
	rc = gtp_inject_map(a->in, GTP_INJECT_WIPE, &anywhere, sizeof(struct gtp_agent), &m->agent,
			    why);
	if (!rc) {
		rc = map_space(e, m, why);
		if (!rc)
			return note_left(a, m);
		gtp_inject_unmap(a->in, m->agent, &(struct gtp_why){ "" });
	}
	gtp_inject_unmap(a->in, m->code, &(struct gtp_why){ "" });
	return rc;
}

static int map_all(void *arg, void *result, struct gtp_why *why)
{
	const struct entering *e = arg;
	int rc = gtp_inject_begin(e->a->in, why);

	if (rc)
		return rc;
	rc = map_stopped(e, result, why);
	gtp_inject_end(e->a->in);
	return rc;
}

static int adopt(struct agent *a, const struct mapped *m)
{
	int rc = gtp_inject_adopt(a->in, GTP_INJECT_CODE, m->code, CODE_BYTES);

	if (!rc)
		rc = gtp_inject_adopt(a->in, GTP_INJECT_WIPE, m->agent, sizeof(struct gtp_agent));
	return rc ? rc : gtp_inject_adopt(a->in, GTP_INJECT_DATA, a->space.start, space_bytes);
}

/* Map all memory of the agent, and use the process's memfd for the session from now on. */
static int map_and_share(struct agent *a, struct mapped *m, struct gtp_why *why)
{
	struct entering e = { .a = a };
	int ends[2], rc, own;

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	e.to = ends[0];
	rc = gtp_inject_apart(a->in, map_all, &e, m, sizeof(*m), why);
	if (!rc)
		rc = adopt(a, m);
	if (!rc) {
		own = fds_receive(ends[1]);
		rc = own < 0 ? own : gtp_space_move(&a->space, own);
		if (rc && own >= 0)
			close(own);
		if (!rc)
			rc = take_lock(a->shared);
	}
	close(ends[0]);
	close(ends[1]);
	return rc;
}

static int write_process(void *ctx, u64 addr, const void *src, u64 len)
{
	return gtp_inject_write(ctx, addr, src, len);
}

/* Return the number by which the process knows itself: the last one of all namespaces. */
static u32 own_pid(const struct gtp_process *p)
{
	char text[8192];
	const char *at, *end;

	if (gtp_process_file(p, "status", text, sizeof(text)) < 0)
		return 0;
	at = strstr(text, "\nNSpid:");
	if (!at)
		return p->pid;
	end = at + 1 + strcspn(at + 1, "\n");
	while (end[-1] >= '0' && end[-1] <= '9')
		end--;
	return (u32)strtoul(end, NULL, 10);
}

static int write_agent(struct agent *a, const struct mapped *m)
{
	a->shared->pid = own_pid(a->process);
	a->shared->may_call = a->shared->pid;
	a->agent_at = m->agent;
	a->code.at = m->code;
	a->code.size = CODE_BYTES;
	a->code.agent = m->agent;
	a->code.shared = (u64)(unsigned long)a->shared;
	a->code.write = write_process;
	a->code.ctx = a->in;
	gtp_agent_calibrate(a->shared);
	a->trace->run.hit_ops = NULL;
	if (gtp_agent_code_init(&a->code, agent_image, (u32)(agent_image_end - agent_image)))
		return -EIO;
	a->trace->run.hit_ops = a->code.hit_ops;
	a->trace->run.no_actions = a->code.no_actions;
	return 0;
}

static int enter(struct agent *a, struct gtp_why *why)
{
	struct mapped m = { 0 };
	int rc = fit_process(a->process, why);

	if (!rc)
		rc = gtp_inject_open(a->process, &a->in, why);
	if (rc)
		return rc;
	gtp_why(why, "the agent cannot be put into process %u", a->process->pid);
	rc = map_and_share(a, &m, why);
	if (!rc)
		rc = write_agent(a, &m);
	if (!rc)
		return 0;
	gtp_inject_close(a->in, &(struct gtp_why){ "" });
	a->in = NULL;
	return rc;
}

int enter_process(struct agent *a, struct gtp_why *why)
{
	int rc = clean_process(a->process, why), lock;

	if (rc)
		return rc;
	lock = clean_lock(a->process, why);
	if (lock < 0)
		return lock;
	rc = enter(a, why);
	close(lock);
	return rc;
}

/* --- out of it --- */

static void warn_of(const struct gtp_process *p, const char *text)
{
	if (!gtp_process_is_gone(p, &(struct gtp_why){ "" }))
		warnx("process %u: %s", p->pid, text);
}

void enter_leave(struct agent *a)
{
	struct gtp_why why = { "" };

	if (!a->in)
		return;
	if (a->stuck) {
		/* disarm() has removed the jumps, or has said why it could not. */
		warn_of(a->process, "a thread may still be in a tracepoint: some memory stays");
		gtp_inject_forget(a->in);
	} else if (gtp_inject_close(a->in, &why)) {
		warn_of(a->process, why.text);
	}
	a->in = NULL;
}
