// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records which memory a piece of code reads, and which it writes.
 *
 * Watched pages are inaccessible, so each access faults. The handler records the access, makes the
 * page accessible as far as needed, and sets the trap flag; the trap after the instruction makes
 * the pages inaccessible again. If an instruction reads and writes memory, its page is opened for
 * reading first, so that the write faults, too, and is recorded as a write.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include "touched.h"

enum {
	PAGE = 4096,
	OPEN = 8, /* the most pages that one instruction accesses */
	TRAP_FLAG = 0x100,
	FAULT_WRITE = 2, /* bit in the error code of a page fault */
};

/* The recorder's state has its own page, because it is written while other pages are closed. */
static _Alignas(PAGE) struct {
	u8 *from;
	size_t bytes;
	struct touched *to;
	u8 *open[OPEN];
	u32 nopen;
	struct sigaction before;
} state;

static void set_access(u8 *from, size_t bytes, int access)
{
	if (mprotect(from, bytes, access))
		abort();
}

static bool is_watched(const u8 *addr)
{
	return (size_t)(addr - state.from) < state.bytes;
}

static void note(u64 addr, bool write)
{
	struct touched *t = state.to;

	if (t->n == TOUCHED_MOST) {
		t->lost = true;
		return;
	}
	t->at[t->n].addr = addr;
	t->at[t->n++].write = write;
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	bool write = regs[REG_ERR] & FAULT_WRITE;
	u8 *page = (u8 *)((uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1));

	if (!state.to || !is_watched(info->si_addr)) {
		state.before.sa_sigaction(sig, info, context);
		return;
	}
	note((u64)(uintptr_t)info->si_addr, write);
	if (state.nopen == OPEN)
		abort();
	state.open[state.nopen++] = page;
	set_access(page, PAGE, write ? PROT_READ | PROT_WRITE : PROT_READ);
	regs[REG_EFL] |= TRAP_FLAG;
}

static void on_step(int sig, siginfo_t *info, void *context)
{
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	while (state.nopen)
		set_access(state.open[--state.nopen], PAGE, PROT_NONE);
}

void touched_watch(void *from, size_t bytes)
{
	if ((uintptr_t)from % PAGE || bytes % PAGE)
		abort();
	state.from = from;
	state.bytes = bytes;
}

void touched_by(struct touched *t, void (*fn)(void *arg), void *arg)
{
	struct sigaction fault = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER };
	struct sigaction trap = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO }, had;

	if (sigaction(SIGSEGV, &fault, &state.before) || sigaction(SIGTRAP, &trap, &had))
		abort();
	state.to = t;
	set_access(state.from, state.bytes, PROT_NONE);
	fn(arg);
	set_access(state.from, state.bytes, PROT_READ | PROT_WRITE);
	state.to = NULL;
	sigaction(SIGSEGV, &state.before, NULL);
	sigaction(SIGTRAP, &had, NULL);
}

bool touched_wrote(const struct touched *t, u64 addr)
{
	for (u32 i = 0; i < t->n; i++)
		if (t->at[i].write && t->at[i].addr / TOUCHED_LINE == addr / TOUCHED_LINE)
			return true;
	return false;
}

static u64 written_in(const struct touched *by, const struct touched *other)
{
	for (u32 i = 0; i < other->n; i++)
		if (touched_wrote(by, other->at[i].addr))
			return other->at[i].addr;
	return 0;
}

u64 touched_shared(const struct touched *a, const struct touched *b)
{
	u64 addr = written_in(a, b);

	return addr ? addr : written_in(b, a);
}
