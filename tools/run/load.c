// SPDX-License-Identifier: GPL-2.0-only
/* Read a compiled session into memory until the end of the input, which may be a pipe. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fail.h"
#include "load.h"
#include "save.h"

enum { FIRST = 1 << 16 };

const char *load_name(const char *path)
{
	return strcmp(path, "-") ? path : "standard input";
}

static int open_session(const char *path)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;

	if (fd < 0)
		fail(RUN_FAILED, "%s: %s", path, strerror(errno));
	if (isatty(fd))
		fail(RUN_USAGE, "%s is a terminal; write gtp-run - < SESSION.gtpd",
		     load_name(path));
	return fd;
}

/* read_all - read to the end of the input, but not more than the largest session */
static size_t read_all(int fd, const char *name, u8 **bytes)
{
	size_t have = 0, size = FIRST;
	ssize_t n;

	*bytes = must(malloc(size));
	while ((n = read(fd, *bytes + have, size - have)) > 0) {
		have += (size_t)n;
		if (have > GTPD_MAX)
			fail(RUN_WRONG_FILE, "%s: it is too long to be a compiled session", name);
		if (have == size) {
			size *= 2;
			*bytes = must(realloc(*bytes, size));
		}
	}
	if (n < 0)
		fail(RUN_FAILED, "%s: %s", name, strerror(errno));
	return have;
}

static void spare(const struct stat *session, const char *out)
{
	struct stat file;

	if (!stat(out, &file) && file.st_dev == session->st_dev && file.st_ino == session->st_ino)
		fail(RUN_USAGE, "%s is the session; name another file with -o", out);
}

void load_spare(const char *path, const char *out)
{
	struct stat session;

	if (!(strcmp(path, "-") ? stat(path, &session) : fstat(STDIN_FILENO, &session)))
		spare(&session, out);
}

void load_session(struct gtpd *g, const char *path)
{
	const char *name = load_name(path);
	int fd = open_session(path);
	struct gtpd_error error;
	size_t have;
	u8 *bytes;

	have = read_all(fd, name, &bytes);
	if (fd != STDIN_FILENO)
		close(fd);
	if (gtpd_open(g, bytes, have, &error))
		fail(RUN_WRONG_FILE, "%s is no session to run: %s (at byte %u)", name, error.why,
		     error.at);
}
