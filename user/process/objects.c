// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the texts about a process that GDB reads in pieces: about its threads, its libraries, and
 * so on.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdlib.h>
#include <time.h>

#include "base/visible.h"
#include "user/process/link_map.h"
#include "user/process/objects.h"

enum {
	TRIES = 50, /* most tries to read a list that the process is changing */
	PAUSE_NS = 2000000,
	TRY_S = 2,		       /* seconds within which a new try may begin */
	LIBRARIES_BYTES_MAX = 4 << 20, /* most bytes of the text about libraries */
	THREADS_MAX = 8192,
	THREADS_S = 2, /* seconds within which a new thread may be looked at */
};

static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static void put(struct gtp_text *t, const char *bytes, size_t n)
{
	if (t->len + n > t->size) {
		size_t size = 2 * (t->len + n) + 4096;
		char *more = realloc(t->bytes, size);

		if (!more) {
			t->failed = true;
			return;
		}
		t->bytes = more;
		t->size = size;
	}
	memcpy(t->bytes + t->len, bytes, n);
	t->len += n;
}

static void put_text(struct gtp_text *t, const char *text)
{
	put(t, text, strlen(text));
}

/*
 * Append a name that the process has chosen. GDB prints it as it is, and rejects the whole text if
 * it has one byte that XML does not allow. So each byte of a character that a terminal does not
 * show becomes a question mark.
 */
static void put_escaped(struct gtp_text *t, const char *text)
{
	size_t left = strlen(text);
	char code[8];
	u32 n;

	for (; left; text += n, left -= n) {
		n = gtp_visible_length(text, left);
		if (!n) {
			put_text(t, "?");
			n = 1;
		} else if (strchr("&<>\"'", *text)) {
			put(t, code, (size_t)snprintf(code, sizeof(code), "&#%d;", *text));
		} else {
			put(t, text, n);
		}
	}
}

static void put_thread(const struct gtp_process *p, struct gtp_text *t, u32 tid)
{
	char file[64], name[64], head[64];
	int n;

	snprintf(file, sizeof(file), "task/%u/comm", tid);
	n = gtp_process_file(p, file, name, sizeof(name));
	if (n <= 0)
		return; /* the thread has ended */
	if (name[n - 1] == '\n')
		name[n - 1] = '\0';
	snprintf(head, sizeof(head), "<thread id=\"p%x.%x\" name=\"", p->pid, tid);
	put_text(t, head);
	put_escaped(t, name);
	put_text(t, "\"/>\n");
}

/*
 * Append the threads that @dir lists. A process may make threads faster than they are looked at, so
 * the list may have no end. Return false if threads were left out.
 */
static bool put_threads(const struct gtp_process *p, struct gtp_text *t, DIR *dir)
{
	const time_t end = seconds() + THREADS_S;
	struct dirent *d;
	u32 n = 0;

	while ((d = readdir(dir))) {
		u32 tid = (u32)strtoul(d->d_name, NULL, 10);

		if (!tid)
			continue;
		if (t->failed || n++ == THREADS_MAX || seconds() > end)
			return false;
		put_thread(p, t, tid);
	}
	return true;
}

static int make_threads(const struct gtp_process *p, struct gtp_text *t, struct gtp_why *why)
{
	DIR *dir = gtp_process_threads(p);

	if (!dir) {
		gtp_why(why, "process %u has ended", p->pid);
		return -ESRCH;
	}
	put_text(t, "<threads>\n");
	t->cut = !put_threads(p, t, dir);
	closedir(dir);
	put_text(t, "</threads>\n");
	return 0;
}

/* Append a library. The program itself and the vdso are not libraries: they have no name here. */
static bool put_library(void *arg, const struct gtp_library *lib)
{
	struct gtp_text *t = arg;
	char rest[160];

	if (!*lib->name)
		return true;
	if (t->failed || t->len > LIBRARIES_BYTES_MAX)
		return false;
	put_text(t, "<library name=\"");
	put_escaped(t, lib->name);
	snprintf(rest, sizeof(rest),
		 "\" lm=\"0x%llx\" l_addr=\"0x%llx\" l_ld=\"0x%llx\" lmid=\"0x%llx\"/>\n", lib->lm,
		 lib->addr, lib->dynamic, lib->list);
	put_text(t, rest);
	return true;
}

static void put_list(struct gtp_text *t, const struct gtp_text *libraries, u64 main_lm)
{
	char head[80];

	snprintf(head, sizeof(head), "<library-list-svr4 version=\"1.0\"%s", main_lm ? "" : ">\n");
	put_text(t, head);
	if (main_lm) {
		snprintf(head, sizeof(head), " main-lm=\"0x%llx\">\n", main_lm);
		put_text(t, head);
	}
	if (libraries->len)
		put(t, libraries->bytes, libraries->len);
	put_text(t, "</library-list-svr4>\n");
}

/* Make the list of libraries. If the process changes the list meanwhile, start again. */
static int make_libraries(const struct gtp_process *p, struct gtp_text *t, struct gtp_why *why)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	const time_t end = seconds() + TRY_S;
	struct gtp_text libraries = { 0 };
	u64 main_lm;
	u32 i;
	int err;

	for (i = 0; i < TRIES; i++) {
		libraries.len = 0;
		err = gtp_link_map_walk(p, put_library, &libraries, &main_lm);
		if (err != -EAGAIN || seconds() > end)
			break;
		nanosleep(&pause, NULL);
	}
	t->cut = err == -E2BIG;
	if (err == -EAGAIN)
		gtp_why(why, "the libraries of process %u cannot be read, or are being changed",
			p->pid);
	else
		put_list(t, &libraries, main_lm);
	t->failed |= libraries.failed;
	free(libraries.bytes);
	return t->cut ? 0 : err;
}

static int make_exec_file(const struct gtp_process *p, struct gtp_text *t, struct gtp_why *why)
{
	char path[GTP_PROCESS_PATH_MAX];
	int err = gtp_process_exe(p, path);

	if (err) {
		gtp_why(why, "the program of process %u has no path", p->pid);
		return err;
	}
	/* GDB prints the path, and gtp_process_files_open() compares visible characters, too. */
	gtp_visible_only(path);
	put_text(t, path);
	return 0;
}

static int make(const struct gtp_process *p, enum gtp_object which, struct gtp_text *text,
		struct gtp_why *why)
{
	switch (which) {
	case GTP_OBJECT_AUXV:
		put(text, (const char *)p->auxv, p->auxv_bytes);
		return 0;
	case GTP_OBJECT_EXEC_FILE:
		return make_exec_file(p, text, why);
	case GTP_OBJECT_LIBRARIES:
		return make_libraries(p, text, why);
	case GTP_OBJECT_THREADS:
		return make_threads(p, text, why);
	}
	return -EINVAL;
}

int gtp_objects_make(const struct gtp_process *p, enum gtp_object which, struct gtp_text *text,
		     struct gtp_why *why)
{
	int err;

	text->len = 0;
	text->failed = false;
	text->cut = false;
	err = make(p, which, text, why);
	if (!err && text->failed) {
		gtp_why(why, "there is no memory for it");
		return -ENOMEM;
	}
	return err;
}
