// SPDX-License-Identifier: GPL-2.0-only
/*
 * A library to preload into gdbtp-connect. When gdbtp-connect opens /proc/gtp, the library opens
 * the file that the environment variable MODULE_FILE names. If that file is a FIFO or a terminal,
 * fstat() and fstatfs() report each of its descriptors as a regular file of another instance of
 * procfs. All other calls return the kernel's results.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

static const char *stands_in(void)
{
	const char *path = getenv("MODULE_FILE");

	return path ? path : "/proc/gtp";
}

int open(const char *path, int flags, ...)
{
	int (*real)(const char *path, int flags, ...) = dlsym(RTLD_NEXT, "open");
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	return real(strcmp(path, "/proc/gtp") ? path : stands_in(), flags, mode);
}

static int real_fstat(int fd, struct stat *is)
{
	int (*real)(int fd, struct stat *is) = dlsym(RTLD_NEXT, "fstat");

	return real(fd, is);
}

/* True if the descriptor is that of MODULE_FILE, and this file is not a regular one. */
static int is_dressed(int fd)
{
	struct stat is, wanted;

	return !real_fstat(fd, &is) && !stat(stands_in(), &wanted) && !S_ISREG(is.st_mode) &&
	       is.st_dev == wanted.st_dev && is.st_ino == wanted.st_ino;
}

int fstat(int fd, struct stat *is)
{
	int error = real_fstat(fd, is);

	if (!error && is_dressed(fd)) {
		is->st_mode = S_IFREG | 0600;
		is->st_dev = 1000 + fd;
	}
	return error;
}

int fstatfs(int fd, struct statfs *fs)
{
	int (*real)(int fd, struct statfs *fs) = dlsym(RTLD_NEXT, "fstatfs");
	int error = real(fd, fs);

	if (!error && is_dressed(fd))
		fs->f_type = PROC_SUPER_MAGIC;
	return error;
}
