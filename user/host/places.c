// SPDX-License-Identifier: GPL-2.0-only
/* Decides which instructions of a process a jump may replace. */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user/host/places.h"

/* --- the file at an address --- */

/* struct mapping - a line of /proc/PID/maps */
struct mapping {
	u64 start, end;
	const char *path;
};

static bool parse(char *line, struct mapping *m)
{
	u32 path = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%llx-%llx %*s %*x %*s %*u %n", &m->start, &m->end, &path) < 2)
		return false;
	m->path = line + path;
	return *m->path == '/';
}

/*
 * Find the file at @addr. Its mappings follow each other, and the first of them begins with the
 * file's first byte.
 */
static int find_file(const struct gtp_process *p, u64 addr, struct gtp_code_file *f)
{
	FILE *maps = gtp_process_stream(p, "maps");
	char *line = NULL;
	size_t size = 0;
	struct mapping m;
	bool here = false;

	*f = (struct gtp_code_file){ 0 };
	while (maps && getline(&line, &size, maps) > 0) {
		if (!parse(line, &m))
			continue;
		if (!f->path || strcmp(f->path, m.path)) {
			if (here)
				break;
			free(f->path);
			f->path = strdup(m.path);
			f->start = m.start;
		}
		f->end = m.end;
		here |= addr >= m.start && addr < m.end;
	}
	free(line);
	if (maps)
		fclose(maps);
	if (here)
		return 0;
	free(f->path);
	f->path = NULL;
	return -ENOENT;
}

static int find_base(const struct gtp_process *p, struct gtp_code_file *f)
{
	Elf64_Ehdr head;

	if (gtp_process_read(p, &head, f->start, sizeof(head)) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG))
		return -ENOEXEC;
	f->base = head.e_type == ET_DYN ? f->start : 0;
	return 0;
}

/* --- its table --- */

/* Run gdbtp-regions, which is where this program is; it writes the table to @to. */
static int run_regions(const char *path, const char *to)
{
	char self[PATH_MAX], program[PATH_MAX + 32];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int status;
	pid_t child;

	if (n < 0)
		return -errno;
	self[n] = '\0';
	snprintf(program, sizeof(program), "%s/gdbtp-regions", dirname(self));
	child = fork();
	if (!child) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		execl(program, program, "table", path, "-o", to, NULL);
		_exit(127);
	}
	if (child < 0)
		return -errno;
	while (waitpid(child, &status, 0) < 0) {
		if (errno == ECHILD) /* SIGCHLD is ignored: the table shows whether it worked */
			return 0;
		if (errno != EINTR)
			return -errno;
	}
	return status ? -EIO : 0;
}

static int read_table(struct gtp_code_file *f, const char *name, struct gtp_why *why)
{
	const char *wrong = "it is empty";
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	struct stat st = { 0 };

	if (fd >= 0)
		fstat(fd, &st);
	f->bytes = malloc((size_t)st.st_size + 1);
	if (f->bytes && st.st_size && read(fd, f->bytes, (size_t)st.st_size) == st.st_size &&
	    !gtp_table_open(&f->table, f->bytes, (size_t)st.st_size, &wrong)) {
		close(fd);
		return 0;
	}
	if (fd >= 0)
		close(fd);
	free(f->bytes);
	gtp_why(why, "gdbtp-regions makes no table of %s: %s", f->path, wrong);
	return -ENOENT;
}

static int make_table(const struct gtp_process *p, struct gtp_code_file *f, struct gtp_why *why)
{
	char path[PATH_MAX], to[] = "/tmp/gtp-table-XXXXXX";
	int fd = mkstemp(to), err;

	if (fd < 0) {
		gtp_why(why, "/tmp: %s", strerror(errno));
		return -EIO;
	}
	close(fd);
	snprintf(path, sizeof(path), "/proc/%u/root%s", p->pid, f->path);
	err = run_regions(path, to);
	if (err)
		gtp_why(why, "gdbtp-regions fails for %s", f->path);
	else
		err = read_table(f, to, why);
	unlink(to);
	return err;
}

struct gtp_code_file *gtp_places_file(struct gtp_code_files *files, const struct gtp_process *p,
				      u64 addr, struct gtp_why *why)
{
	struct gtp_code_file *f;

	for (u32 i = 0; i < files->n; i++)
		if (addr >= files->file[i].start && addr < files->file[i].end)
			return &files->file[i];
	if (files->n == GTP_FILES_MAX) {
		gtp_why(why, "tracepoints in more than %u files", GTP_FILES_MAX);
		return NULL;
	}
	f = &files->file[files->n];
	if (find_file(p, addr, f) || find_base(p, f)) {
		gtp_why(why, "there is no program or library at 0x%llx", addr);
		free(f->path);
		return NULL;
	}
	if (make_table(p, f, why)) {
		free(f->path);
		return NULL;
	}
	files->n++;
	return f;
}

/* --- what stays mapped --- */

/* Add a mapping to the ranges; join it with the last one if there is no gap. */
static void add_range(struct gtp_agent_shared *shared, u64 start, u64 end)
{
	struct gtp_agent_map *last = &shared->map[shared->nmaps];

	if (shared->nmaps && last[-1].end == start)
		last[-1].end = end;
	else if (shared->nmaps < GTP_AGENT_MAPS)
		shared->map[shared->nmaps++] = (struct gtp_agent_map){ start, end };
}

enum { PAGE = 4096, HEADERS_MAX = 64 };

/*
 * Find the addresses of the program, from its headers: a program may also map its own file
 * elsewhere, and unmap it. Its headers are on the first page of the file. Return false if they are
 * unusual.
 */
static bool find_program(const struct gtp_process *p, u64 *start, u64 *end)
{
	Elf64_Phdr head[HEADERS_MAX];
	u64 bias = 0, lo = U64_MAX, hi = 0;
	bool first = false;

	if (p->phnum > HEADERS_MAX ||
	    gtp_process_read(p, head, p->phdr, (u32)(p->phnum * sizeof(*head))))
		return false;
	for (u32 i = 0; i < p->phnum; i++) {
		if (head[i].p_type != PT_LOAD)
			continue;
		if (!head[i].p_offset) {
			bias = (p->phdr & -(u64)PAGE) - (head[i].p_vaddr & -(u64)PAGE);
			first = true;
		}
		lo = head[i].p_vaddr < lo ? head[i].p_vaddr : lo;
		if (head[i].p_vaddr + head[i].p_filesz > hi)
			hi = head[i].p_vaddr + head[i].p_filesz;
	}
	*start = bias + (lo & -(u64)PAGE);
	*end = bias + ((hi + PAGE - 1) & -(u64)PAGE);
	return first && *start < *end;
}

void gtp_places_stay(const struct gtp_process *p, struct gtp_agent_shared *shared)
{
	FILE *maps = gtp_process_stream(p, "maps");
	u64 start, end, program = 0, program_end = 0;
	char *line = NULL, flags[8];
	size_t size = 0;

	shared->nmaps = 0;
	if (!find_program(p, &program, &program_end))
		program_end = program;
	while (maps && getline(&line, &size, maps) > 0) {
		u32 path = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%llx-%llx %7s %*x %*s %*u %n", &start, &end, flags, &path) < 3)
			continue;
		/* A file that is shared may be truncated at any time. */
		if (flags[0] == 'r' && flags[3] == 'p' &&
		    (!strcmp(line + path, "[stack]") ||
		     (line[path] == '/' && start >= program && end <= program_end)))
			add_range(shared, start, end);
	}
	free(line);
	if (maps)
		fclose(maps);
}

void gtp_places_free(struct gtp_code_files *files)
{
	for (u32 i = 0; i < files->n; i++) {
		free(files->file[i].path);
		free(files->file[i].bytes);
	}
	files->n = 0;
}

/* --- the region --- */

/* Find the last entry of a list that is not above @at. */
static bool last_before(const struct gtp_table_list *list, u32 at, u32 *found)
{
	u32 from = 0, entry;
	bool any = false;

	while (gtp_table_next(list, from, &entry) && entry <= at) {
		*found = entry;
		any = true;
		from = entry + 1;
	}
	return any;
}

static int in_function(const struct gtp_process *p, u64 span_at, struct gtp_region_ask *ask, u32 at,
		       struct gtp_region *r, struct gtp_why *why)
{
	enum gtp_region_verdict v;
	u8 *code = malloc(ask->fn_size);
	int err = code ? gtp_process_read(p, code, span_at + ask->fn_offset, ask->fn_size) :
			 -ENOMEM;

	if (!err) {
		ask->fn = code;
		ask->at = at - ask->fn_offset;
		v = gtp_region_find(ask, r);
		if (v != GTP_REGION_OK) {
			gtp_why(why, "no jump: %s", gtp_region_text(v));
			err = -EOPNOTSUPP;
		}
	}
	free(code);
	return err;
}

static int in_span(const struct gtp_process *p, const struct gtp_code_file *f, u32 n,
		   const struct gtp_table_span *span, u32 at, struct gtp_region *r,
		   struct gtp_why *why)
{
	struct gtp_region_ask ask = { .table = &f->table, .span = n };
	struct gtp_table_list functions, lasts;
	u32 last;

	if (!gtp_table_find(&f->table, n, GTP_TABLE_FUNCTION, &functions) ||
	    !gtp_table_find(&f->table, n, GTP_TABLE_LAST, &lasts) ||
	    !last_before(&functions, at, &ask.fn_offset) ||
	    !gtp_table_next(&lasts, ask.fn_offset, &last) || last < at) {
		gtp_why(why, "no jump: %s", gtp_region_text(GTP_REGION_BOUNDS));
		return -EOPNOTSUPP;
	}
	ask.fn_size = last + 1 - ask.fn_offset;
	return in_function(p, f->base + span->addr, &ask, at, r, why);
}

int gtp_places_find(struct gtp_code_files *files, const struct gtp_process *p, u64 addr,
		    struct gtp_region *r, struct gtp_why *why)
{
	const struct gtp_code_file *f = gtp_places_file(files, p, addr, why);
	struct gtp_table_span span;

	if (!f)
		return -ENOENT;
	for (u32 i = 0; i < f->table.spans_n; i++) {
		u64 at;

		gtp_table_span(&f->table, i, &span);
		at = addr - f->base - span.addr;
		if (at < span.size)
			return in_span(p, f, i, &span, (u32)at, r, why);
	}
	gtp_why(why, "no jump: %s", gtp_region_text(GTP_REGION_NO_TABLE));
	return -EOPNOTSUPP;
}
