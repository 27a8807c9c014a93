// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lets a stopped thread of another process perform system calls.
 *
 * The thread stands in the kernel, where it decides whether an interrupted system call restarts. So
 * the call of ours must not look like an interrupted one (orig_rax is -1), and afterwards the
 * thread is led back to the same place before its registers are restored: only there does the
 * kernel act on "restart" in rax. mmap, munmap and madvise leave the restart block of nanosleep()
 * and futex() alone.
 *
 * The thread blocks all signals meanwhile, because a handler would run on the wrong registers. The
 * end of a call is a stop of ptrace, not a breakpoint: where a thread blocks SIGTRAP, a breakpoint
 * would reset the program's handler.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "user/inject/remote.h"

#ifndef PTRACE_O_SUSPEND_SECCOMP
#define PTRACE_O_SUSPEND_SECCOMP 0x200000
#endif

enum {
	USER_CS = 0x33, /* 64-bit code */
	CALL_STOP = SIGTRAP | 0x80,
	CHUNK = 64 << 10,
	RSEQ_CONFIGURATION = 0x420f, /* PTRACE_GET_RSEQ_CONFIGURATION */
};

static long request(int what, const struct gtp_thread *t, unsigned long addr, void *data)
{
	return ptrace((enum __ptrace_request)what, (pid_t)t->tid, addr, data);
}

/* --- the choice of a thread --- */

static u64 word_at(const struct gtp_process *p, u64 addr)
{
	u64 v = 0;

	return gtp_process_read(p, &v, addr, sizeof(v)) ? 0 : v;
}

/*
 * True if the thread is in a restartable sequence. The kernel would forget the sequence when the
 * thread runs elsewhere, and the sequence would go on although it was interrupted.
 */
static bool in_rseq(const struct gtp_process *p, const struct gtp_thread *t)
{
	struct {
		u64 pointer;
		u32 size, signature, flags, pad;
	} rseq;
	u64 cs, start;

	if (request(RSEQ_CONFIGURATION, t, sizeof(rseq), &rseq) < 0 || !rseq.pointer)
		return false;
	cs = word_at(p, rseq.pointer + 8);
	if (!cs)
		return false;
	start = word_at(p, cs + 8);
	return t->regs.rip - start < word_at(p, cs + 16);
}

static bool has_filter(const struct gtp_process *p, const struct gtp_thread *t)
{
	char name[64], text[4096], *at;

	snprintf(name, sizeof(name), "task/%u/status", t->tid);
	if (gtp_process_file(p, name, text, sizeof(text)) <= 0)
		return true;
	at = strstr(text, "\nSeccomp:");
	return at && strtoul(at + 9, NULL, 10);
}

/* Suspend the thread's seccomp filter; true also if it has none. */
static bool no_seccomp(const struct gtp_stop *s, const struct gtp_thread *t)
{
	unsigned long options = s->options | PTRACE_O_SUSPEND_SECCOMP;

	return !request(PTRACE_SETOPTIONS, t, 0, (void *)options) || !has_filter(s->p, t);
}

/* Choose a thread; NULL: there is none, and @seccomp is true if that is because of filters. */
static struct gtp_thread *choose(const struct gtp_stop *s, bool *seccomp)
{
	u32 i;

	*seccomp = false;
	for (i = 0; i < s->n; i++) {
		struct gtp_thread *t = &s->thread[i];

		if (!t->stands || t->regs.cs != USER_CS || in_rseq(s->p, t))
			continue;
		if (no_seccomp(s, t))
			return t;
		*seccomp = true;
	}
	return NULL;
}

int gtp_remote_begin(struct gtp_remote *r, struct gtp_stop *s, u64 insn, struct gtp_why *why)
{
	const u64 all = ~0ULL;
	bool seccomp;

	*r = (struct gtp_remote){ .s = s, .insn = insn, .t = choose(s, &seccomp) };
	if (!r->t && seccomp) {
		gtp_why(why,
			"process %u has a seccomp filter, which only root can suspend: use root",
			s->p->pid);
		return -EPERM;
	}
	if (!r->t) {
		gtp_why(why, "process %u has no thread that can make a system call now: try again",
			s->p->pid);
		return -EAGAIN;
	}
	r->saved = r->t->regs;
	if (request(PTRACE_GETSIGMASK, r->t, sizeof(r->mask), &r->mask) ||
	    request(PTRACE_SETSIGMASK, r->t, sizeof(all), (void *)&all)) {
		gtp_why(why, "process %u has ended", s->p->pid);
		return -ESRCH;
	}
	return 0;
}

/* --- calls --- */

/*
 * Let the thread run to the next entry to or exit from a system call. SIGSTOP cannot be blocked:
 * pass it on, and the process stops after the release.
 */
static int run_to_stop(struct gtp_remote *r)
{
	unsigned long sig = 0;
	int status;

	do {
		if (request(PTRACE_SYSCALL, r->t, 0, (void *)sig) ||
		    gtp_stop_await(r->s, r->t, &status))
			return -ESRCH;
		sig = status >> 16 ? 0 : (unsigned long)WSTOPSIG(status);
	} while (sig != CALL_STOP);
	return 0;
}

s64 gtp_remote_call(struct gtp_remote *r, u64 nr, const u64 args[6])
{
	struct user_regs_struct *regs = &r->t->regs;

	*regs = r->saved;
	regs->rip = r->insn;
	regs->orig_rax = (u64)-1;
	regs->rax = nr;
	regs->rdi = args[0];
	regs->rsi = args[1];
	regs->rdx = args[2];
	regs->r10 = args[3];
	regs->r8 = args[4];
	regs->r9 = args[5];
	regs->eflags &= ~0x100ULL; /* no single step */
	if (gtp_stop_set(r->t) || run_to_stop(r) || run_to_stop(r) || gtp_stop_get(r->t))
		return -ESRCH;
	return (s64)regs->rax;
}

int gtp_remote_end(struct gtp_remote *r)
{
	unsigned long options = r->s->options;

	if (gtp_stop_again(r->s, r->t))
		return -ESRCH;
	r->t->regs = r->saved;
	if (gtp_stop_set(r->t) || request(PTRACE_SETSIGMASK, r->t, sizeof(r->mask), &r->mask) ||
	    request(PTRACE_SETOPTIONS, r->t, 0, (void *)options))
		return -ESRCH;
	return 0;
}

/* --- the syscall instruction --- */

static u64 find_in(const struct gtp_process *p, const struct gtp_mapping *m)
{
	static u8 bytes[CHUNK];
	static const u8 insn[] = { 0x0f, 0x05 };
	u64 addr, len;
	u8 *at;

	for (addr = m->start; addr < m->end; addr += CHUNK - 1) {
		len = m->end - addr < CHUNK ? m->end - addr : CHUNK;
		if (gtp_process_read(p, bytes, addr, (u32)len))
			return 0;
		at = memmem(bytes, len, insn, sizeof(insn));
		if (at)
			return addr + (u64)(at - bytes);
		if (len < CHUNK)
			break;
	}
	return 0;
}

/*
 * Any two bytes 0f 05 of executable memory are a syscall instruction, whatever instruction they are
 * a part of. Begin at the last mapping: the vDSO is small and has one. The very last mapping may be
 * the vsyscall page, which cannot be read.
 */
u64 gtp_remote_find(const struct gtp_process *p, const struct gtp_maps *maps)
{
	u64 found = 0;
	u32 i;

	for (i = maps->n; i-- && !found;)
		if (maps->mapping[i].exec)
			found = find_in(p, &maps->mapping[i]);
	return found;
}
