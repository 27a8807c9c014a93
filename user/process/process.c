// SPDX-License-Identifier: GPL-2.0-only
/*
 * Another process, seen from outside through /proc.
 *
 * Opening its memory needs ptrace permission but does not attach, so another tracer may be there. A
 * PID can be reused at any time. So the process is opened once, and everything is then looked up
 * from its directory in /proc, where look-ups fail with -ESRCH after the process has ended.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "user/process/process.h"

enum { PAGE = 4096, NAME_MAX_BYTES = 80 };

int gtp_process_file(const struct gtp_process *p, const char *name, char *buf, size_t size)
{
	int fd = openat(p->dir, name, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n = 0;

	if (fd < 0)
		return -errno;
	while (len + 1 < size && (n = read(fd, buf + len, size - 1 - len)) > 0)
		len += (size_t)n;
	if (!len && n < 0) {
		n = -errno;
		close(fd);
		return (int)n;
	}
	close(fd);
	buf[len] = '\0';
	return (int)len;
}

FILE *gtp_process_stream(const struct gtp_process *p, const char *name)
{
	int fd = openat(p->dir, name, O_RDONLY | O_CLOEXEC), err;
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (file || fd < 0)
		return file;
	err = errno;
	close(fd);
	errno = err;
	return NULL;
}

DIR *gtp_process_threads(const struct gtp_process *p)
{
	int fd = openat(p->dir, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

long gtp_process_field(const struct gtp_process *p, const char *file, const char *name)
{
	char text[8192], *at;

	if (gtp_process_file(p, file, text, sizeof(text)) <= 0)
		return -1;
	at = strstr(text, name);
	if (!at)
		return -1;
	at += strlen(name);
	at += strspn(at, " \t");
	return *at >= '0' && *at <= '9' ? strtol(at, NULL, 10) : (u8)*at;
}

static long status_field(const struct gtp_process *p, const char *name)
{
	return gtp_process_field(p, "status", name);
}

static int yama_scope(void)
{
	char c = '0';
	int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (read(fd, &c, 1) != 1)
		c = '0';
	close(fd);
	return c - '0';
}

/* Say in @why which right is missing, because the kernel has only one errno for all rights. */
static int refuse(const struct gtp_process *p, int err, struct gtp_why *why)
{
	int scope = yama_scope();
	long uid = status_field(p, "\nUid:");

	if (err != EACCES && err != EPERM)
		gtp_why(why, "process %u: %s", p->pid, strerror(err));
	else if (scope == 3)
		gtp_why(why,
			"process %u: not allowed until the next boot (kernel.yama.ptrace_scope is 3)",
			p->pid);
	else if (!geteuid())
		gtp_why(why, "process %u: this root lacks the capability CAP_SYS_PTRACE", p->pid);
	else if (uid >= 0 && (uid_t)uid != geteuid())
		gtp_why(why, "process %u belongs to another user: use root", p->pid);
	else if (scope)
		gtp_why(why, "process %u: use root (kernel.yama.ptrace_scope is %d)", p->pid,
			scope);
	else
		gtp_why(why, "process %u is protected (PR_SET_DUMPABLE): use root", p->pid);
	return -err;
}

static u64 auxv_value(const struct gtp_process *p, u64 type)
{
	u32 at;

	for (at = 0; at + 16 <= p->auxv_bytes; at += 16)
		if (gtp_get_le(p->auxv + at, 8) == type)
			return gtp_get_le(p->auxv + at + 8, 8);
	return 0;
}

static int read_auxv(const struct gtp_process *p, u8 *to)
{
	return gtp_process_file(p, "auxv", (char *)to, GTP_PROCESS_AUXV_MAX);
}

/* Check that there is a program: threads of the kernel and processes that have ended have none. */
static int check_program(const struct gtp_process *p, struct gtp_why *why)
{
	u8 head[EI_NIDENT + 4] = { 0 };
	int fd = openat(p->dir, "exe", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0 && errno == ENOENT) {
		if (status_field(p, "\nState:") == 'Z' && status_field(p, "\nThreads:") > 1)
			gtp_why(why,
				"the first thread of process %u has ended, so its other threads cannot be seen",
				p->pid);
		else if (status_field(p, "\nState:") == 'Z')
			gtp_why(why, "process %u has ended", p->pid);
		else
			gtp_why(why, "%u is a thread of the kernel: it has no program", p->pid);
		return -ESRCH;
	}
	if (fd < 0)
		return refuse(p, errno, why);
	n = pread(fd, head, sizeof(head), 0);
	close(fd);
	if (n == sizeof(head) && head[EI_CLASS] == ELFCLASS64 &&
	    gtp_get_le(head + EI_NIDENT + 2, 2) == EM_X86_64)
		return 0;
	gtp_why(why, "process %u is no program of x86-64", p->pid);
	return -ENOEXEC;
}

static int open_dir(struct gtp_process *p, struct gtp_why *why)
{
	char path[32];
	long leader;

	snprintf(path, sizeof(path), "/proc/%u", p->pid);
	p->dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (p->dir < 0) {
		gtp_why(why, "there is no process %u", p->pid);
		return -ESRCH;
	}
	leader = status_field(p, "\nTgid:");
	if (leader > 0 && (u32)leader != p->pid) {
		gtp_why(why, "%u is a thread of process %ld: attach that one", p->pid, leader);
		return -EINVAL;
	}
	return 0;
}

static int open_all(struct gtp_process *p, struct gtp_why *why)
{
	int n, err;

	p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	err = open_dir(p, why);
	if (!err)
		err = check_program(p, why);
	if (err)
		return err;
	if (p->pidfd < 0)
		return refuse(p, errno, why);
	p->mem = openat(p->dir, "mem", O_RDONLY | O_CLOEXEC);
	if (p->mem < 0)
		return refuse(p, errno, why);
	p->root = openat(p->dir, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (p->root < 0)
		return refuse(p, errno, why);
	n = read_auxv(p, p->auxv);
	if (n <= 0)
		return refuse(p, n ? -n : ESRCH, why);
	p->auxv_bytes = (u32)n;
	return 0;
}

int gtp_process_open(struct gtp_process *p, u32 pid, struct gtp_why *why)
{
	int err;

	memset(p, 0, sizeof(*p));
	p->pid = pid;
	p->pidfd = -1;
	p->dir = -1;
	p->mem = -1;
	p->root = -1;
	err = open_all(p, why);
	if (err) {
		gtp_process_close(p);
		return err;
	}
	p->entry = auxv_value(p, AT_ENTRY);
	p->phdr = auxv_value(p, AT_PHDR);
	p->phnum = auxv_value(p, AT_PHNUM);
	p->base = auxv_value(p, AT_BASE);
	return 0;
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void gtp_process_close(struct gtp_process *p)
{
	close_one(&p->root);
	close_one(&p->mem);
	close_one(&p->dir);
	close_one(&p->pidfd);
}

int gtp_process_read_from(int mem, void *dst, u64 addr, u64 len)
{
	u64 done = 0;

	while (done < len) {
		ssize_t n = pread(mem, (u8 *)dst + done, len - done, (off_t)(addr + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EFAULT;
		done += (u64)n;
	}
	return 0;
}

int gtp_process_read(const struct gtp_process *p, void *dst, u64 addr, u32 len)
{
	/*
	 * File offsets are signed. The vsyscall page, the only one above S64_MAX, cannot be read.
	 */
	if (addr > (u64)S64_MAX - len)
		return -EFAULT;
	return gtp_process_read_from(p->mem, dst, addr, len);
}

int gtp_process_read_string(const struct gtp_process *p, char *dst, u64 addr, u32 size)
{
	u32 done = 0;

	while (done < size) {
		u32 n = PAGE - (u32)((addr + done) % PAGE);

		if (n > size - done)
			n = size - done;
		if (gtp_process_read(p, dst + done, addr + done, n))
			return -EFAULT;
		if (memchr(dst + done, '\0', n))
			return 0;
		done += n;
	}
	return -EFAULT;
}

bool gtp_process_is_gone(const struct gtp_process *p, struct gtp_why *why)
{
	struct pollfd ended = { .fd = p->pidfd, .events = POLLIN };
	u8 auxv[GTP_PROCESS_AUXV_MAX];
	int n;

	if (poll(&ended, 1, 0) == 1) {
		gtp_why(why, "process %u has ended", p->pid);
		return true;
	}
	n = read_auxv(p, auxv);
	if (n > 0 && ((u32)n != p->auxv_bytes || memcmp(auxv, p->auxv, (size_t)n))) {
		gtp_why(why, "process %u executes another program now: attach again", p->pid);
		return true;
	}
	return false;
}

bool gtp_process_has_thread(const struct gtp_process *p, u32 tid)
{
	char name[NAME_MAX_BYTES];
	struct stat st;

	snprintf(name, sizeof(name), "task/%u", tid);
	return !fstatat(p->dir, name, &st, 0);
}

/*
 * /proc/PID/task/TID/syscall has "NUMBER ARGUMENTS... SP PC" of a thread that waits in a system
 * call, and "running" of any other thread. Reading it does not stop the thread.
 */
void gtp_process_live(const struct gtp_process *p, u32 tid, struct gtp_live *live)
{
	char name[NAME_MAX_BYTES], text[512], *pc, *sp;

	live->pc = p->entry;
	live->sp = 0;
	live->has_sp = false;
	snprintf(name, sizeof(name), "task/%u/syscall", tid);
	if (gtp_process_file(p, name, text, sizeof(text)) <= 0)
		return;
	pc = strrchr(text, ' ');
	if (!pc)
		return;
	*pc = '\0';
	sp = strrchr(text, ' ');
	if (!sp)
		return;
	live->pc = strtoull(pc + 1, NULL, 16);
	live->sp = strtoull(sp + 1, NULL, 16);
	live->has_sp = true;
}

int gtp_process_exe(const struct gtp_process *p, char *path)
{
	static const char gone[] = " (deleted)";
	ssize_t n = readlinkat(p->dir, "exe", path, GTP_PROCESS_PATH_MAX - 1);
	struct stat st;
	char *end;

	if (n < 0)
		return -errno;
	path[n] = '\0';
	end = path + n - (sizeof(gone) - 1);
	/* The kernel appends these words to the path of a file that has no name any more. */
	if (end > path && !strcmp(end, gone) && !fstatat(p->dir, "exe", &st, 0) && !st.st_nlink)
		*end = '\0';
	return 0;
}
