// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds out whether tracepoints could harm a process.
 *
 * A hit runs on the stack of its thread, finds its buffer by the thread's FS segment, and may make
 * a system call to read memory. Each check here is about a process for which that is not safe.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <elf.h>
#include <stdlib.h>

#include "fit.h"
#include "user/inject/status.h"

enum {
	CODE_64 = 0x33, /* the code segment of 64-bit programs */
	HEADERS_MAX = 64,
	NOTES_MAX = 4096,
	DATA_MAX = 1 << 20,
	GO_MARK_ALIGN = 16,
};

/* --- seccomp, shadow stacks --- */

/* True if @fn is true for one of the threads, or if the threads cannot be listed. */
static bool any_thread(const struct gtp_process *p, bool (*fn)(const struct gtp_process *, u32 tid))
{
	DIR *dir = gtp_process_threads(p);
	const struct dirent *entry;
	bool any = !dir;

	while (!any && (entry = readdir(dir))) {
		u32 tid = (u32)strtoul(entry->d_name, NULL, 10);

		any = tid && fn(p, tid);
	}
	if (dir)
		closedir(dir);
	return any;
}

/* A thread that has just ended has no status. */
static bool has_filter(const struct gtp_process *p, u32 tid)
{
	return gtp_status_field(p, tid, "\nSeccomp:") > 0;
}

bool fit_has_filter(const struct gtp_process *p)
{
	return any_thread(p, has_filter);
}

static bool has_shadow_stack(const struct gtp_process *p, u32 tid)
{
	char name[64], text[8192];
	const char *at;

	snprintf(name, sizeof(name), "task/%u/status", tid);
	if (gtp_process_file(p, name, text, sizeof(text)) <= 0)
		return false;
	at = strstr(text, "\nx86_Thread_features:");
	return at && memmem(at, strcspn(at + 1, "\n") + 1, "shstk", strlen("shstk"));
}

/* --- memory --- */

/*
 * True if the process may use only so many addresses: the memory that is mapped for the agent would
 * count, and later the process would get none.
 */
static bool has_limit(const struct gtp_process *p)
{
	static const char name[] = "\nMax address space";
	char text[4096];
	const char *at;

	if (gtp_process_file(p, "limits", text, sizeof(text)) <= 0)
		return true;
	at = strstr(text, name);
	if (!at)
		return true;
	at += sizeof(name) - 1;
	at += strspn(at, " ");
	return strncmp(at, "unlimited", strlen("unlimited"));
}

/* True if memory is locked. Then all new memory may be, too, and all of it would be allocated. */
static bool has_locked(const struct gtp_process *p)
{
	return gtp_status_field(p, p->pid, "\nVmLck:") > 0;
}

/* --- Go --- */

/* struct file - a program or library that is mapped */
struct file {
	u64 bias;
	Elf64_Phdr head[HEADERS_MAX];
	u32 n;
};

/* Read the headers of the file whose first byte is at @start. Return false if it is no ELF file. */
static bool read_headers(const struct gtp_process *p, u64 start, struct file *f)
{
	Elf64_Ehdr e;

	if (gtp_process_read(p, &e, start, sizeof(e)) || memcmp(e.e_ident, ELFMAG, SELFMAG) ||
	    e.e_phentsize != sizeof(Elf64_Phdr) || e.e_phnum > HEADERS_MAX)
		return false;
	f->n = e.e_phnum;
	if (gtp_process_read(p, f->head, start + e.e_phoff, f->n * (u32)sizeof(Elf64_Phdr)))
		return false;
	f->bias = e.e_type == ET_DYN ? start : 0;
	return true;
}

static u64 round_up(u64 n)
{
	return (n + 3) & ~3ULL;
}

/* True if one of the notes is the build id that Go's linker writes. */
static bool has_go_note(const struct gtp_process *p, u64 addr, u64 len)
{
	u8 notes[NOTES_MAX];
	u64 at = 0;

	len = len < sizeof(notes) ? len : sizeof(notes);
	if (gtp_process_read(p, notes, addr, (u32)len))
		return false;
	while (at + sizeof(Elf64_Nhdr) + 4 <= len) {
		Elf64_Nhdr n;

		memcpy(&n, notes + at, sizeof(n));
		at += sizeof(n);
		if (n.n_namesz == 4 && !memcmp(notes + at, "Go\0", 4))
			return true;
		at += round_up(n.n_namesz) + round_up(n.n_descsz);
	}
	return false;
}

/* True if data begins with what Go's linker writes about the build, near its beginning. */
static bool has_go_mark(const struct gtp_process *p, u64 addr, u64 len)
{
	static const char mark[] = "\xff Go buildinf:";
	static u8 data[DATA_MAX];
	u64 at;

	len = len < sizeof(data) ? len : sizeof(data);
	if (gtp_process_read(p, data, addr, (u32)len))
		return false;
	for (at = -addr & (GO_MARK_ALIGN - 1); at + sizeof(mark) - 1 <= len; at += GO_MARK_ALIGN)
		if (!memcmp(data + at, mark, sizeof(mark) - 1))
			return true;
	return false;
}

static bool is_go_file(const struct gtp_process *p, u64 start)
{
	struct file f;

	if (!read_headers(p, start, &f))
		return false;
	for (u32 i = 0; i < f.n; i++) {
		const Elf64_Phdr *h = &f.head[i];
		u64 addr = f.bias + h->p_vaddr;

		if (h->p_type == PT_NOTE && has_go_note(p, addr, h->p_filesz))
			return true;
		if (h->p_type == PT_LOAD && h->p_flags & PF_W && has_go_mark(p, addr, h->p_filesz))
			return true;
	}
	return false;
}

/* Go's heap begins at this address, whatever its program looks like. */
static bool is_go_heap(u64 start)
{
	return start >= 0xc000000000 && start < 0xc100000000;
}

static bool is_go(const struct gtp_process *p)
{
	FILE *maps = gtp_process_stream(p, "maps");
	char *line = NULL;
	size_t size = 0;
	bool found = !maps;
	u64 start, offset;

	while (!found && getline(&line, &size, maps) > 0) {
		u32 path = 0;

		if (sscanf(line, "%llx-%*x %*s %llx %*s %*u %n", &start, &offset, &path) < 2)
			continue;
		found = is_go_heap(start) ||
			(path && line[path] == '/' && !offset && is_go_file(p, start));
	}
	free(line);
	if (maps)
		fclose(maps);
	return found;
}

int fit_process(const struct gtp_process *p, struct gtp_why *why)
{
	if (fit_has_filter(p))
		gtp_why(why,
			"process %u has a seccomp filter, which might end it at a hit: no tracepoints are possible",
			p->pid);
	else if (any_thread(p, has_shadow_stack))
		gtp_why(why, "process %u uses shadow stacks: no tracepoints are possible yet",
			p->pid);
	else if (is_go(p))
		gtp_why(why,
			"process %u has code of Go, whose stacks are too small: no tracepoints are possible",
			p->pid);
	else if (has_limit(p))
		gtp_why(why,
			"process %u has a limit of its address space (ulimit -v): no tracepoints are possible",
			p->pid);
	else if (has_locked(p))
		gtp_why(why, "process %u has locked memory (mlock): no tracepoints are possible",
			p->pid);
	else
		return 0;
	return -EOPNOTSUPP;
}

/* --- threads --- */

static int by_base(const void *x, const void *y)
{
	const struct gtp_inject_thread *a = x, *b = y;

	return (a->fs_base > b->fs_base) - (a->fs_base < b->fs_base);
}

/* Check one thread: the C libraries keep the address of its data in the data's first word. */
static int check_thread(const struct gtp_process *p, const struct gtp_inject_thread *t,
			struct gtp_why *why)
{
	u64 word = 0;

	if (t->cs != CODE_64)
		gtp_why(why, "thread %u of process %u runs 32-bit code: no tracepoints", t->tid,
			p->pid);
	else if (!t->fs_base || gtp_process_read(p, &word, t->fs_base, sizeof(word)) ||
		 word != t->fs_base)
		gtp_why(why,
			"thread %u of process %u is not one of glibc or musl: no tracepoints are possible",
			t->tid, p->pid);
	else
		return 0;
	return -EOPNOTSUPP;
}

int fit_threads(const struct gtp_process *p, const struct gtp_inject *in, struct gtp_why *why)
{
	u32 n;
	struct gtp_inject_thread *all = gtp_inject_threads(in, &n);
	int rc = all ? 0 : -ENOMEM;

	if (all)
		qsort(all, n, sizeof(*all), by_base);
	for (u32 i = 0; !rc && i < n; i++) {
		rc = check_thread(p, &all[i], why);
		if (rc || !i || all[i].fs_base != all[i - 1].fs_base)
			continue;
		gtp_why(why,
			"threads %u and %u of process %u share their FS segment: no tracepoints are possible",
			all[i - 1].tid, all[i].tid, p->pid);
		rc = -EOPNOTSUPP;
	}
	free(all);
	return rc;
}
