// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file that gets its name when it is complete.
 *
 * Until then it has no name at all (O_TMPFILE), so that a killed program leaves nothing. linkat()
 * cannot replace a file, so the complete file first gets a free name and is then renamed. Some file
 * systems (NFS, FAT) cannot have files without names: there the file has a temporary name from the
 * beginning, which mkostemp() chooses so that no other file has it.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "fail.h"
#include "part.h"

enum { FREE_NAMES = 1000 };

/* The temporary name of the file to remove if the program exits. */
static char *_Atomic leftover;

static void remove_leftover(void)
{
	if (leftover)
		unlink(leftover);
}

static char *folder_of(const char *path)
{
	char *copy = must(strdup(path)), *folder = must(strdup(dirname(copy)));

	free(copy);
	return folder;
}

static int open_named(struct part *p, const char *folder)
{
	static bool registered;

	if (asprintf(&p->name, "%s/.gtp.XXXXXX", folder) < 0)
		must(NULL);
	p->fd = mkostemp(p->name, O_CLOEXEC);
	if (p->fd < 0) {
		int err = -errno;

		free(p->name);
		p->name = NULL;
		return err;
	}
	leftover = p->name;
	if (!registered)
		atexit(remove_leftover);
	registered = true;
	return 0;
}

int part_open(struct part *p, const char *path)
{
	char *folder = folder_of(path);
	int err = 0;

	p->name = NULL;
	p->fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (p->fd < 0)
		err = open_named(p, folder);
	free(folder);
	return err;
}

void part_hand_over(void)
{
	leftover = NULL;
}

/* Give a file without a name a name in the folder of @path that no other file has. */
static int link_somewhere(struct part *p, const char *path)
{
	char *folder = folder_of(path), file[40];
	int err = -EEXIST;
	u32 i;

	snprintf(file, sizeof(file), "/proc/self/fd/%d", p->fd);
	for (i = 0; i < FREE_NAMES && err == -EEXIST; i++) {
		free(p->name);
		if (asprintf(&p->name, "%s/.gtp.%d.%u", folder, getpid(), i) < 0)
			must(NULL);
		err = linkat(AT_FDCWD, file, AT_FDCWD, p->name, AT_SYMLINK_FOLLOW) ? -errno : 0;
	}
	free(folder);
	if (err) {
		free(p->name);
		p->name = NULL;
	}
	return err;
}

static void forget(struct part *p)
{
	if (leftover == p->name)
		leftover = NULL;
	free(p->name);
	p->name = NULL;
}

void part_drop(struct part *p)
{
	if (!p->name)
		return;
	unlink(p->name);
	forget(p);
}

int part_finish(struct part *p, const char *path)
{
	int err = p->name ? 0 : link_somewhere(p, path);

	if (!err && rename(p->name, path))
		err = -errno;
	if (err) {
		part_drop(p);
		return err;
	}
	forget(p);
	return 0;
}
