// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens files for GDB as a process sees them: below the process's root, which may be a container's.
 *
 * The process may have made the files, so they are not trusted. A link must not lead out of its
 * root, and opening a FIFO or a device must neither wait nor do anything: only regular files are
 * opened.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/visible.h"
#include "user/process/files.h"

void gtp_process_files_init(struct gtp_process_files *f)
{
	u32 i;

	for (i = 0; i < GTP_PROCESS_FILES_MAX; i++)
		f->fd[i] = -1;
}

void gtp_process_files_close(struct gtp_process_files *f)
{
	u32 i;

	for (i = 0; i < GTP_PROCESS_FILES_MAX; i++)
		gtp_process_files_end(f, i);
}

static int find_in_root(const struct gtp_process *p, const char *path, u64 flags)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, p->root, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

/* Open the file that the O_PATH descriptor @found refers to, if it is a regular file. */
static int open_found(int found)
{
	char name[32];
	struct stat st;
	int fd;

	if (fstat(found, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", found);
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/*
 * True if @path is the path of the process's program. The file to open is then the one that runs,
 * even if another file has that path now, or in our root. @path comes from GDB, which has received
 * it with '?' in place of characters that are not visible.
 */
static bool is_program(const struct gtp_process *p, const char *path)
{
	char exe[GTP_PROCESS_PATH_MAX];

	if (gtp_process_exe(p, exe))
		return false;
	gtp_visible_only(exe);
	return !strcmp(exe, path);
}

static int open_file(const struct gtp_process *p, const char *path)
{
	int found, fd;

	if (is_program(p, path)) {
		fd = openat(p->dir, "exe", O_RDONLY | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	found = find_in_root(p, path, 0);
	if (found < 0)
		return found;
	fd = open_found(found);
	close(found);
	return fd;
}

int gtp_process_files_open(struct gtp_process_files *f, const struct gtp_process *p,
			   const char *path)
{
	u32 i;

	for (i = 0; i < GTP_PROCESS_FILES_MAX; i++) {
		int fd;

		if (f->fd[i] >= 0)
			continue;
		fd = open_file(p, path);
		if (fd < 0)
			return fd;
		f->fd[i] = fd;
		return (int)i;
	}
	return -EMFILE;
}

static bool is_open(const struct gtp_process_files *f, u32 n)
{
	return n < GTP_PROCESS_FILES_MAX && f->fd[n] >= 0;
}

int gtp_process_files_stat(const struct gtp_process_files *f, u32 n, struct gtp_file_stat *st)
{
	struct stat of;

	if (!is_open(f, n))
		return -EBADF;
	if (fstat(f->fd[n], &of))
		return -errno;
	st->size = (u64)of.st_size;
	st->mtime = (u64)of.st_mtime;
	st->mode = of.st_mode;
	st->nlink = (u32)of.st_nlink;
	return 0;
}

int gtp_process_files_end(struct gtp_process_files *f, u32 n)
{
	if (!is_open(f, n))
		return -EBADF;
	close(f->fd[n]);
	f->fd[n] = -1;
	return 0;
}

s64 gtp_process_files_read(const struct gtp_process_files *f, u32 n, u64 from, void *dst, u32 len)
{
	ssize_t got;

	if (!is_open(f, n))
		return -EBADF;
	if (from > (u64)S64_MAX)
		return -EINVAL;
	got = pread(f->fd[n], dst, len, (off_t)from);
	return got < 0 ? -errno : got;
}

s64 gtp_process_files_link(const struct gtp_process *p, const char *path, char *dst, u32 len)
{
	int found = find_in_root(p, path, O_NOFOLLOW);
	s64 n;

	if (found < 0)
		return found;
	n = readlinkat(found, "", dst, len);
	if (n < 0)
		n = errno == ENOENT ? -EINVAL : -errno; /* ENOENT: the file is not a link */
	close(found);
	return n;
}
