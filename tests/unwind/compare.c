// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares stacks that gtp_ustack_take() takes by tables of gdbtp-unwind with those of libdw, which
 * reads .eh_frame with code of its own.
 *
 * Usage: compare [-j] BURSTS STEPS SEED PROGRAM [ARGUMENT...]
 *
 * Stops the program BURSTS times after a random time. Each time, compares the stacks, and again
 * after each of STEPS single steps. Prints counts, and the first stacks that differ. With -j,
 * compares only up to the first address that is in no file, because compilers at run time write
 * no .eh_frame. Fails if a stack differs.
 */
#include <elfutils/libdwfl.h>
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hit/stacks.h"
#include "hit/ustack.h"
#include "tools/unwind/rows.h"

enum { MAPS = 512, TABLES = 128, SHOWN = 5, DEPTH = GTP_USTACK_WORDS, BURST_US = 20000 };

/* struct table - the table of a file; @bytes is NULL if it has none */
struct table {
	char path[256];
	struct gtp_cfi cfi;
	bool usable;
};

static struct table tables[TABLES];
static u32 ntables;
static struct gtp_ustack_map maps[MAPS];
static u32 nmaps;
static pid_t pid;
static u64 seed;
static bool jit;
static Dwfl *dwfl;
static struct {
	u64 stacks, frames, deep, differ, ended, lost, cut, in_no_file, unknown, shorter;
} sum;

static u64 roll(u64 below)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (seed >> 33) % below;
}

/* --- tables and mappings --- */

static struct table *table_of(const char *path)
{
	struct unw_rows *rows;
	struct unw_file file;
	const char *why;
	u8 *bytes;
	u32 i, size;

	for (i = 0; i < ntables; i++)
		if (!strcmp(tables[i].path, path))
			return &tables[i];
	if (ntables == TABLES)
		errx(2, "too many files");
	snprintf(tables[ntables].path, sizeof(tables->path), "%s", path);
	if (!strcmp(path, "[vdso]"))
		unw_file_vdso(&file);
	else
		unw_file_open(&file, tables[ntables].path);
	rows = unw_rows_make(&file);
	if (rows->n) {
		bytes = unw_rows_table(rows, &size);
		if (gtp_cfi_open(&tables[ntables].cfi, bytes, size, &why))
			errx(2, "%s: %s", path, why);
		tables[ntables].usable = true;
	}
	unw_rows_free(rows);
	return &tables[ntables++];
}

static bool is_elf(const char *path)
{
	FILE *in = fopen(path, "rb");
	char magic[4] = "";
	bool is = in && fread(magic, 1, 4, in) == 4 && !memcmp(magic, "\177ELF", 4);

	if (in)
		fclose(in);
	return is;
}

/* Read the executable mappings of the program. */
static void read_maps(void)
{
	char name[64], line[512], path[256];
	FILE *in;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	in = fopen(name, "r");
	for (nmaps = 0; in && nmaps < MAPS && fgets(line, sizeof(line), in);) {
		struct gtp_ustack_map *m = &maps[nmaps];
		unsigned long long start, end, offset;
		char access[8];

		path[0] = '\0';
		if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %255s", &start, &end, access, &offset,
			   path) < 4)
			continue;
		*m = (struct gtp_ustack_map){ .start = start,
					      .bytes = end - start,
					      .offset = offset };
		if (access[2] != 'x' || (strcmp(path, "[vdso]") && !is_elf(path)))
			continue;
		nmaps++;
		if (table_of(path)->usable)
			m->cfi = &table_of(path)->cfi;
	}
	if (in)
		fclose(in);
}

static bool find(void *ctx, u64 addr, struct gtp_ustack_map *map)
{
	u32 i;

	for (i = 0; i < nmaps; i++) {
		if (addr - maps[i].start >= maps[i].bytes)
			continue;
		*map = maps[i];
		return true;
	}
	return false;
}

static int look(void *ctx, void *dst, u64 addr, u32 len)
{
	struct iovec to = { dst, len }, from = { (void *)(uintptr_t)addr, len };

	return process_vm_readv(pid, &to, 1, &from, 1, 0) == (ssize_t)len ? 0 : -EFAULT;
}

/* --- the two stacks --- */

static u32 ours(u64 *to)
{
	struct user_regs_struct r;
	struct gtp_ustack_from from = { .whose = 1, .find = find, .is_hit = true };
	bool cut;
	u32 n;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &r))
		err(2, "PTRACE_GETREGS");
	from.pc = r.rip;
	from.sp = r.rsp;
	from.bp = r.rbp;
	from.bx = r.rbx;
	n = gtp_ustack_take(&from, look, NULL, to, &cut) - 1;
	sum.cut += cut;
	if (to[n - 1] == GTP_STACKS_LOST) {
		sum.lost++;
		return n - 1;
	}
	sum.ended += !cut;
	return n;
}

struct theirs {
	u64 pc[DEPTH];
	u32 n;
};

static int take_frame(Dwfl_Frame *frame, void *ctx)
{
	struct theirs *t = ctx;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, NULL) || t->n == GTP_USTACK_DEPTH)
		return DWARF_CB_ABORT;
	t->pc[t->n++] = pc;
	return DWARF_CB_OK;
}

static void attach_dwfl(void)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
	};

	if (dwfl)
		dwfl_end(dwfl);
	dwfl = dwfl_begin(&callbacks);
	if (!dwfl || dwfl_linux_proc_report(dwfl, pid) || dwfl_report_end(dwfl, NULL, NULL) ||
	    dwfl_linux_proc_attach(dwfl, pid, true))
		errx(2, "libdw: %s", dwfl_errmsg(-1));
}

static void print_stack(const char *whose, const u64 *pc, u32 n)
{
	struct gtp_ustack_map map;
	u32 i;

	printf("# %s:", whose);
	for (i = 0; i < n; i++)
		printf(" %llx%s", pc[i], find(NULL, pc[i], &map) ? "" : "?");
	printf("\n");
}

static u32 in_files(const u64 *pc, u32 n)
{
	struct gtp_ustack_map map;
	u32 i;

	for (i = 0; i < n && find(NULL, pc[i], &map); i++)
		;
	return i;
}

static u8 kind_at(u64 pc)
{
	struct gtp_ustack_map map;

	if (!find(NULL, pc, &map) || !map.cfi)
		return GTP_CFI_NONE;
	return gtp_cfi_find(map.cfi, pc - map.start + map.offset).kind;
}

/*
 * True if libdw gives up, and gdbtp goes on to the outermost function: libdw 0.188 loses rbx in
 * some functions that the dynamic linker's entry calls, and uses frame pointers where there is no
 * .eh_frame.
 */
static bool is_shorter(const u64 *mine, u32 n, const u64 *theirs, u32 wanted)
{
	return kind_at(mine[n - 1] - 1) == GTP_CFI_END && n > wanted &&
	       !memcmp(mine, theirs, wanted * sizeof(*mine));
}

/*
 * True if the stacks may differ, because the table does not say where the caller of the innermost
 * function is. In longjmp(), for example, the caller's registers are in other registers. Code
 * without .eh_frame may have no frame yet: gdbtp finds its caller, libdw leaves it out.
 */
static bool may_differ(const u64 *mine, u32 n, const u64 *theirs, u32 wanted)
{
	switch (kind_at(mine[0])) {
	case GTP_CFI_UNKNOWN:
		return n == 1;
	case GTP_CFI_NONE:
		return n == wanted + 1 && !memcmp(mine + 2, theirs + 1, (n - 2) * sizeof(*mine));
	default:
		return false;
	}
}

static void compare(void)
{
	struct theirs t = { .n = 0 };
	u64 mine[GTP_USTACK_WORDS];
	u32 n = ours(mine), wanted;

	dwfl_getthread_frames(dwfl, pid, take_frame, &t);
	wanted = t.n;
	if (jit && in_files(t.pc, t.n) < t.n) {
		sum.in_no_file++;
		wanted = in_files(t.pc, t.n);
		n = n < wanted ? n : wanted;
	}
	/* libdw ends a stack with a return address that is 0. */
	if (wanted && !t.pc[wanted - 1])
		wanted--;
	sum.stacks++;
	sum.frames += n;
	sum.deep += n >= 16;
	if (n == wanted && !memcmp(mine, t.pc, n * sizeof(*mine)))
		return;
	if (may_differ(mine, n, t.pc, wanted)) {
		sum.unknown++;
		return;
	}
	if (is_shorter(mine, n, t.pc, wanted)) {
		sum.shorter++;
		return;
	}
	if (sum.differ++ >= SHOWN)
		return;
	print_stack("gdbtp", mine, n);
	print_stack("libdw", t.pc, t.n);
}

/* --- the program --- */

static void start(char **argv)
{
	int status;

	pid = fork();
	if (!pid) {
		if (!freopen("/dev/null", "w", stdout) || ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(126);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		errx(2, "%s: not started", argv[0]);
	ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_EXITKILL);
}

/* Wait until the program stops. Return false if it has ended. */
static bool wait_stop(int *signal)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		err(2, "waitpid");
	*signal = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
	return WIFSTOPPED(status);
}

/* Let the program run for a random time, and deliver its signals. */
static bool run_on(void)
{
	int signal = 0;

	for (;;) {
		if (ptrace(PTRACE_CONT, pid, NULL, signal))
			return false;
		usleep((useconds_t)(1 + roll(BURST_US)));
		kill(pid, SIGSTOP);
		if (!wait_stop(&signal))
			return false;
		while (signal != SIGSTOP) {
			if (ptrace(PTRACE_CONT, pid, NULL, signal == SIGTRAP ? 0 : signal) ||
			    !wait_stop(&signal))
				return false;
		}
		return true;
	}
}

static bool burst(u32 steps)
{
	int signal = 0;

	if (!run_on())
		return false;
	read_maps();
	attach_dwfl();
	for (;; steps--) {
		compare();
		if (!steps)
			return true;
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, signal) || !wait_stop(&signal))
			return false;
		if (signal == SIGTRAP || signal == SIGSTOP)
			signal = 0;
	}
}

int main(int argc, char **argv)
{
	u32 bursts, steps;

	setvbuf(stdout, NULL, _IOLBF, 0);
	jit = argc > 1 && !strcmp(argv[1], "-j");
	argv += jit;
	if (argc - jit < 5)
		errx(2, "usage: compare [-j] BURSTS STEPS SEED PROGRAM [ARGUMENT...]");
	bursts = (u32)atoi(argv[1]);
	steps = (u32)atoi(argv[2]);
	seed = strtoull(argv[3], NULL, 0);
	start(argv + 4);
	while (bursts-- && burst(steps))
		;
	printf("%llu stacks, %llu frames, %llu stacks of 16 frames or more\n", sum.stacks,
	       sum.frames, sum.deep);
	printf("%llu differ, %llu to the end, %llu lost, %llu cut, %llu with code in no file, ",
	       sum.differ, sum.ended, sum.lost, sum.cut, sum.in_no_file);
	printf("%llu that begin where the table says nothing, %llu that libdw does not follow\n",
	       sum.unknown, sum.shorter);
	kill(pid, SIGKILL);
	return sum.differ || !sum.stacks;
}
