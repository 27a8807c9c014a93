// SPDX-License-Identifier: GPL-2.0-only
/* Executable memory for snippets in userspace. No address of it is both writable and executable. */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "user/jit/exec_user.h"

static struct jit_user *arenas;

/* With rbp or rsp as the base, a non-canonical address raises SIGBUS. */
static const int fault[] = { SIGSEGV, SIGBUS };
static struct sigaction previous[ARRAY_SIZE(fault)];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/*
 * True if the instruction at @rip is a fast load (see jit/jit.h). No other instruction of a snippet
 * can fault.
 */
static bool is_fast_load(u64 rip)
{
	const struct jit_user *u;

	for (u = arenas; u; u = u->next) {
		u64 at = rip - (u64)(uintptr_t)u->exec;

		if (at < u->used)
			return at >= u->stubs && at % AX_JIT_LOAD_ALIGN == 0;
	}
	return false;
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	greg_t *rip = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	if (is_fast_load((u64)*rip)) {
		*rip = (greg_t)ax_jit_careful((const u8 *)(uintptr_t)*rip);
		return;
	}
	/* The fault is not a snippet's: let it occur again, for the previous handler. */
	sigaction(sig, &previous[sig == SIGBUS], NULL);
}

static void catch_signal(u32 i)
{
	struct sigaction sa = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER };
	struct sigaction now;

	if (sigaction(fault[i], NULL, &now))
		die("sigaction");
	if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_fault)
		return;
	previous[i] = now;
	if (sigaction(fault[i], &sa, NULL))
		die("sigaction");
}

void jit_user_catch_faults(void)
{
	for (u32 i = 0; i < ARRAY_SIZE(fault); i++)
		catch_signal(i);
}

void jit_user_set_gs(void *segment)
{
	if (syscall(SYS_arch_prctl, ARCH_SET_GS, segment))
		die("arch_prctl");
}

/*
 * Map memory near our own code, as in the kernel: calls are direct, and the processor predicts
 * jumps as well as it does in the kernel.
 */
static void *map_near(u32 size, int fd)
{
	uintptr_t text = (uintptr_t)ax_jit_stubs & ~0xfffffUL;

	for (uintptr_t mib = 64; mib < 1024; mib += 16) {
		void *at = (void *)(text - (mib << 20));
		void *p = mmap(at, size, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED_NOREPLACE,
			       fd, 0);

		if (p == at)
			return p;
		if (p != MAP_FAILED)
			munmap(p, size);
	}
	return mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
}

static void map_twice(struct jit_user *u)
{
	int fd = memfd_create("jit", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, u->size))
		die("memfd_create");
	u->write = mmap(NULL, u->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	u->exec = map_near(u->size, fd);
	if (u->write == MAP_FAILED || u->exec == MAP_FAILED)
		die("mmap");
	close(fd);
}

struct jit_user *jit_user_new(u32 size, s32 fast_limit)
{
	struct jit_user *u = calloc(1, sizeof(*u));

	if (!u)
		die("calloc");
	u->size = (size + 4095) & ~4095U;
	u->target.fast = fast_limit;
	u->target.fast_limit = fast_limit;
	map_twice(u);
	memset(u->write, 0xcc, u->size);
	u->stubs = ax_jit_stubs(&u->target, (u64)(uintptr_t)u->exec, u->write, u->size);
	if (!u->stubs)
		die("ax_jit_stubs");
	u->stubs = (u->stubs + AX_JIT_CODE_ALIGN - 1) & ~(AX_JIT_CODE_ALIGN - 1U);
	u->used = u->stubs;
	u->next = arenas;
	arenas = u;
	jit_user_catch_faults();
	return u;
}

void jit_user_free(struct jit_user *u)
{
	struct jit_user **p = &arenas;

	while (*p != u)
		p = &(*p)->next;
	*p = u->next;
	munmap(u->write, u->size);
	munmap((void *)u->exec, u->size);
	free(u);
}

static int emit(struct jit_user *u, struct ax_jit *work, u32 n)
{
	u64 at = (u64)(uintptr_t)(u->exec + u->used);
	int ret = ax_jit_emit(work, at, u->write + u->used, u->size - u->used);

	if (ret && ret != -ENOSPC) {
		fprintf(stderr, "ax_jit_emit: %d\n", ret);
		abort();
	}
	if (!ret)
		u->used += (n + AX_JIT_CODE_ALIGN - 1) & ~(AX_JIT_CODE_ALIGN - 1U);
	if (u->used > u->size)
		u->used = u->size;
	return ret;
}

ax_jit_fn jit_user_compile_request(struct jit_user *u, struct ax_jit_request *req, u32 *len,
				   u32 *frame_bytes)
{
	struct ax_jit *work = malloc(ax_jit_work_size(req));
	const u8 *code = u->exec + u->used;
	bool fits;
	u32 n;

	if (!work)
		die("malloc");
	req->target = &u->target;
	n = ax_jit_plan(work, req);
	fits = n && !emit(u, work, n);
	if (len)
		*len = n;
	if (frame_bytes)
		*frame_bytes = ax_jit_frame_bytes(work);
	free(work);
	return fits ? (ax_jit_fn)(uintptr_t)code : NULL;
}

ax_jit_fn jit_user_compile(struct jit_user *u, const struct ax_verified *v, u64 pc, u32 seed,
			   u32 *len)
{
	struct ax_jit_request req = {
		.v = v,
		.pc = pc,
		.ways = u->ways,
		.slots = u->slots,
		.seed = seed,
	};

	return jit_user_compile_request(u, &req, len, NULL);
}
