// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does things that are dangerous for a process with tracepoints. It obeys these lines, and prints a
 * number for each: "filter" ends the process at the next process_vm_readv() or gettid() of any
 * thread; "limit" limits the addresses of the process; "lock" locks a page; "share" makes a thread
 * with the FS segment of its maker; "flip" makes a thread that protects and unprotects victim_page
 * for ever; "look N" calls victim_look(), which does nothing, N times, "spin" for ever, in four
 * threads; "leap N" leaves victim_look() by siglongjmp() from a handler until N of them have
 * succeeded; "nap N" sleeps N times in a handler on top of a hit; "fork" prints the number of a
 * child that calls victim_look() for ever.
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "odd.h"

long *victim_page;
static long looks;

/* Called with the address of memory that may not be there. */
__attribute__((noipa)) long victim_look(const long *page, long n)
{
	__atomic_fetch_add(&looks, 1, __ATOMIC_RELAXED);
	return n + !page;
}

static long look(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += victim_look(victim_page, i);
	return sum;
}

static int filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_gettid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
			    &program);
}

/* Make a thread that only waits, and that has no data of its own. */
static int share(void)
{
	const long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			   CLONE_SYSVSEM;
	char *stack = malloc(65536);
	long tid;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 2f\n"
			 "1:\n\t"
			 "mov %[pause], %%eax\n\t"
			 "syscall\n\t"
			 "jmp 1b\n"
			 "2:"
			 : "=a"(tid)
			 : "a"(SYS_clone), "D"(flags), "S"(stack + 65536),
			   "d"(0), [pause] "i"(SYS_pause)
			 : "rcx", "r11", "memory");
	return tid > 0 ? 0 : -1;
}

static void *flip(void *arg)
{
	for (;;) {
		mprotect(victim_page, 4096, PROT_NONE);
		mprotect(victim_page, 4096, PROT_READ | PROT_WRITE);
	}
	return arg;
}

static int start_flip(void)
{
	pthread_t t;

	victim_page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*victim_page = 4712;
	return pthread_create(&t, NULL, flip, NULL);
}

static void *spin(void *arg)
{
	for (;;)
		look(1000);
	return arg;
}

static int start_spin(void)
{
	enum { THREADS = 4 };
	pthread_t t;
	int err = 0;

	for (int i = 0; !err && i < THREADS; i++)
		err = pthread_create(&t, NULL, spin, NULL);
	return err;
}

static sigjmp_buf back;
static bool inside;

/* Another thread may get the signal. */
static void on_alarm(int sig)
{
	(void)sig;
	if (__atomic_load_n(&inside, __ATOMIC_RELAXED) && gettid() == getpid())
		siglongjmp(back, 1);
}

static long leap(long n)
{
	const struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = { 0 };
	static long leaps;

	leaps = -1;
	signal(SIGALRM, on_alarm);
	sigsetjmp(back, 1);
	__atomic_store_n(&inside, false, __ATOMIC_RELAXED);
	setitimer(ITIMER_REAL, &often, NULL);
	if (++leaps < n) {
		__atomic_store_n(&inside, true, __ATOMIC_RELAXED);
		for (;;)
			victim_look(victim_page, 0);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	return leaps;
}

extern const char __executable_start[], etext[];
static long naps;

/* Sleep on top of a hit: the program's own code is interrupted elsewhere. */
static void on_nap(int sig, siginfo_t *info, void *context)
{
	const char *at = (const char *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)sig;
	(void)info;
	if (gettid() != getpid() || (at >= __executable_start && at < etext))
		return;
	naps++;
	usleep(100000);
}

static long nap(long n)
{
	const struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = { 0 };
	const struct sigaction act = { .sa_sigaction = on_nap, .sa_flags = SA_SIGINFO };

	naps = 0;
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (__atomic_load_n(&naps, __ATOMIC_RELAXED) < n)
		victim_look(victim_page, 0);
	setitimer(ITIMER_REAL, &never, NULL);
	return naps;
}

static int start_child(void)
{
	pid_t child = fork();

	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		victim_look(victim_page, 0);
}

bool odd_obey(const char *line)
{
	if (!strcmp(line, "filter"))
		printf("%d\n", filter());
	else if (!strcmp(line, "limit"))
		printf("%d\n", setrlimit(RLIMIT_AS, &(struct rlimit){ 8L << 30, 8L << 30 }));
	else if (!strcmp(line, "lock"))
		printf("%d\n", mlock(&victim_page, sizeof(victim_page)));
	else if (!strcmp(line, "share"))
		printf("%d\n", share());
	else if (!strcmp(line, "flip"))
		printf("%d\n", start_flip());
	else if (!strcmp(line, "spin"))
		printf("%d\n", start_spin());
	else if (!strncmp(line, "look ", 5))
		printf("%ld\n", look(atol(line + 5)));
	else if (!strncmp(line, "leap ", 5))
		printf("%ld\n", leap(atol(line + 5)));
	else if (!strncmp(line, "nap ", 4))
		printf("%ld\n", nap(atol(line + 4)));
	else if (!strcmp(line, "fork"))
		printf("%d\n", start_child());
	else
		return false;
	return true;
}
