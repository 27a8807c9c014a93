// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens the file of the module, /proc/gtp, for gdbtp-connect, and no other file.
 *
 * Root may let other users run this command as root. It must give them access to the module, but
 * not to root's files. So the user's path proves nothing. Neither does the name of a mount point:
 * users can make mounts in their own namespaces, and reach them through /proc/PID/root. An inode
 * number alone proves little: files below /proc/PID and /proc/sys get numbers from a counter of 32
 * bits, which a user can drive to the number of /proc/gtp in some hours. So ask the kernel where
 * the file is. Its mount must belong to this mount namespace, in which only root mounts procfs. Its
 * name inside the mounted procfs must be that of /proc/gtp. Each PID namespace has its own procfs,
 * so st_dev may differ.
 *
 * Opening a device can do harm (/dev/watchdog), so the file is checked by a descriptor opened with
 * O_PATH, which does not call the file's driver.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "complain.h"
#include "target.h"

enum { LINK_MAX_LEN = 32 };

/*
 * struct mounted - a line of /proc/self/mountinfo
 * @root: the name of the mounted file or folder inside its file system
 * @point: name of the mount point
 */
struct mounted {
	char *root;
	char *point;
};

/* mount_id - return the number of the mount through which @fd was opened, or -1 */
static int mount_id(int fd)
{
	char info[LINK_MAX_LEN], line[128];
	int id = -1;
	FILE *f;

	snprintf(info, sizeof(info), "/proc/self/fdinfo/%d", fd);
	f = fopen(info, "re");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f) && sscanf(line, "mnt_id: %d", &id) != 1)
		;
	fclose(f);
	return id;
}

/* find_mount - find mount number @id; return false if this mount namespace does not have it */
static bool find_mount(int id, struct mounted *mounted)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	bool found = false;
	char *line = NULL;
	size_t size = 0;

	*mounted = (struct mounted){ 0 };
	while (f && !found && getline(&line, &size, f) >= 0) {
		if (strtol(line, NULL, 10) == id)
			found = sscanf(line, "%*d %*d %*s %ms %ms", &mounted->root,
				       &mounted->point) == 2;
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

/*
 * point_length - return the real length of a mount point's name: mountinfo writes a blank as \040
 */
static size_t point_length(const char *point)
{
	size_t len = 0;

	if (!strcmp(point, "/"))
		return 0;
	for (; *point; len++)
		point += *point == '\\' ? strnlen(point, 4) : 1;
	return len;
}

/*
 * place - return the file's name inside its file system, or NULL if its mount is in another
 * namespace
 */
static char *place(int fd)
{
	char link[LINK_MAX_LEN], path[PATH_MAX], *name = NULL;
	struct mounted mounted;
	size_t len;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return NULL;
	path[n] = '\0';
	if (find_mount(mount_id(fd), &mounted)) {
		len = point_length(mounted.point);
		if (len <= (size_t)n &&
		    asprintf(&name, "%s%s", strcmp(mounted.root, "/") ? mounted.root : "",
			     path + len) < 0)
			name = NULL;
	}
	free(mounted.root);
	free(mounted.point);
	return name;
}

static bool on_procfs(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/* find_module - return an O_PATH descriptor of /proc/gtp, or -1 after a message */
static int find_module(void)
{
	int fd = open(MODULE_FILE, O_PATH | O_CLOEXEC), error = errno;
	struct statfs fs;

	if (fd >= 0 && on_procfs(fd))
		return fd;
	if (fd >= 0)
		close(fd);
	if (fd >= 0 || statfs("/proc", &fs) || fs.f_type != PROC_SUPER_MAGIC)
		complain(
			"/proc is not a proc file system. Mount one there (mount -t proc - /proc)");
	else if (error == ENOENT)
		complain("%s does not exist: load the module first (modprobe gdbtp)", MODULE_FILE);
	else
		complain("%s: %s", MODULE_FILE, strerror(error));
	return -1;
}

/*
 * is_same - return true if two descriptors, perhaps in two procfs instances, are of the same file
 */
static bool is_same(int fd, int module, const char *name)
{
	char *module_name = place(module);
	struct stat is, wanted;
	bool same;

	same = module_name && !strcmp(name, module_name) && !fstat(fd, &is) &&
	       !fstat(module, &wanted) && is.st_ino == wanted.st_ino && S_ISREG(is.st_mode);
	free(module_name);
	return same;
}

static bool refuse(const char *path, const char *why)
{
	complain("%s is not the module's file: it %s. Use " MODULE_FILE ", or a mount of it", path,
		 why);
	return false;
}

/* is_module - return true if @fd is of the same file as @module, or false after a message */
static bool is_module(int fd, int module, const char *path)
{
	char *name;
	bool same;

	if (!on_procfs(fd))
		return refuse(path, "is not on a proc file system");
	name = place(fd);
	if (!name)
		return refuse(path, "is not in a mount of this mount namespace");
	same = is_same(fd, module, name);
	free(name);
	return same || refuse(path, "is another file of a proc file system");
}

/* report - print why /proc/gtp, or the user's path, cannot be opened */
static void report(const char *path, int error)
{
	if (error == EBUSY)
		complain("%s: another GDB is connected to it", path);
	else if (error == ENOENT)
		complain("%s does not exist. Use " MODULE_FILE ", or a mount of it", path);
	else if (error == EACCES || error == EPERM)
		complain("%s: %s; it is for root, and not in lockdown", path, strerror(error));
	else
		complain("%s: %s", path, strerror(error));
}

int open_target(const char *path)
{
	int module = find_module(), judged, fd = -1;
	char link[LINK_MAX_LEN];

	if (module < 0)
		return -1;
	judged = open(path, O_PATH | O_CLOEXEC);
	if (judged >= 0 && !is_module(judged, module, path)) {
		close(judged);
		close(module);
		return -1;
	}
	if (judged >= 0) {
		/*
		 * Open the file by the checked descriptor, not by the path, which may name another
		 * file by now.
		 */
		snprintf(link, sizeof(link), "/proc/self/fd/%d", judged);
		fd = open(link, O_RDWR | O_CLOEXEC);
	}
	if (fd < 0)
		report(path, errno);
	if (judged >= 0)
		close(judged);
	close(module);
	return fd;
}
