// SPDX-License-Identifier: GPL-2.0-only
/*
 * The processes that the tests patch. Usage: victim MODE [NUMBER]
 *
 * Prints "ready PID", runs until "stop" arrives on standard input, and prints "done" with what it
 * has counted. It counts wrong results in "wrong".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "victim.h"
#include "work.h"

enum { THREADS_MAX = 4096 };

atomic_int stopping;
atomic_ulong wrong, counted;
static atomic_ulong rounds;
static pthread_t thread[THREADS_MAX];
static char **words;

void die(const char *what)
{
	perror(what);
	exit(1);
}

void say(const char *text, unsigned long number)
{
	char line[100];
	int n = snprintf(line, sizeof(line), "%s %lu\n", text, number);

	if (write(1, line, (size_t)n) != n)
		_exit(1);
}

void blame(const char *what, long value)
{
	dprintf(2, "%s: %ld\n", what, value);
	wrong++;
}

/* Wait for a line on standard input, as a program would that is not traced: no call is repeated. */
void await_stop(void)
{
	char line[100];
	ssize_t n = read(0, line, sizeof(line));

	if (n < 0)
		blame("read fails", errno);
	stopping = 1;
}

static void *work(void *arg)
{
	unsigned int input = (unsigned int)(unsigned long)arg;
	unsigned long bad = 0;

	while (!stopping) {
		bad += work_round(input++);
		rounds++;
	}
	wrong += bad;
	return NULL;
}

void start(int n, void *(*fn)(void *arg))
{
	pthread_attr_t attr;
	long i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 << 10);
	for (i = 0; i < n; i++)
		if (pthread_create(&thread[i], &attr, fn, (void *)i))
			die("pthread_create");
}

void join(int n)
{
	int i;

	for (i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
}

/* --- loop N: N threads compute --- */

static void mode_loop(int n)
{
	start(n, work);
	say("ready", (unsigned long)getpid());
	await_stop();
	join(n);
}

/* --- wait N: N threads wait for nothing, one computes --- */

static void *sleeper(void *arg)
{
	pause();
	return NULL;
}

static void mode_wait(int n)
{
	pthread_t worker;

	start(n, sleeper);
	pthread_create(&worker, NULL, work, NULL);
	say("ready", (unsigned long)getpid());
	await_stop();
	pthread_join(worker, NULL);
}

/* --- signals N: queued signals arrive once each, in order, in N threads that compute --- */

static __thread unsigned long next;
static atomic_ulong ticks;

static void on_queued(int sig, siginfo_t *info, void *context)
{
	if ((unsigned long)info->si_value.sival_ptr != next)
		blame("a signal is lost or doubled", (long)info->si_value.sival_ptr - (long)next);
	next = (unsigned long)info->si_value.sival_ptr + 1;
	counted++;
	wrong += work_round((unsigned int)next);
}

static void on_tick(int sig)
{
	ticks++;
	wrong += work_round((unsigned int)ticks);
}

static atomic_int tids[THREADS_MAX];
static atomic_ulong sent;

static void *signalled(void *arg)
{
	static const size_t size = 64 << 10;
	stack_t stack = { .ss_sp = malloc(size), .ss_size = size };

	sigaltstack(&stack, NULL);
	tids[(long)arg] = (int)syscall(SYS_gettid);
	work(arg);
	return NULL;
}

static void *sender(void *arg)
{
	unsigned long number[THREADS_MAX] = { 0 };
	long i, n = (long)arg;
	siginfo_t info;

	while (!stopping) {
		for (i = 0; i < n; i++) {
			memset(&info, 0, sizeof(info));
			info.si_code = SI_QUEUE;
			info.si_pid = getpid();
			info.si_value.sival_ptr = (void *)number[i];
			if (!syscall(SYS_rt_tgsigqueueinfo, getpid(), tids[i], SIGRTMIN + 1, &info))
				number[i]++;
		}
		usleep(100);
	}
	for (i = 0; i < n; i++)
		sent += number[i];
	return NULL;
}

static void mode_signals(int n)
{
	struct sigaction queued = { .sa_sigaction = on_queued };
	struct sigaction tick = { .sa_handler = on_tick, .sa_flags = SA_RESTART };
	const struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = { 0 };
	pthread_t by;
	int i;

	queued.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
	sigaction(SIGRTMIN + 1, &queued, NULL);
	sigaction(SIGALRM, &tick, NULL);
	start(n, signalled);
	for (i = 0; i < n; i++)
		while (!tids[i])
			usleep(100);
	pthread_create(&by, NULL, sender, (void *)(long)n);
	setitimer(ITIMER_REAL, &often, NULL);
	say("ready", (unsigned long)getpid());
	await_stop();
	setitimer(ITIMER_REAL, &never, NULL);
	pthread_join(by, NULL);
	join(n);
	say("ticks", ticks);
	say("sent", sent);
}

/* --- alone: one thread, which computes and has a timer with a handler on another stack --- */

static void mode_alone(int n)
{
	struct sigaction tick = { .sa_handler = on_tick, .sa_flags = SA_RESTART | SA_ONSTACK };
	const struct itimerval often = { { 0, 200 }, { 0, 200 } };
	struct pollfd in = { .fd = 0, .events = POLLIN };
	stack_t stack = { .ss_sp = malloc(64 << 10), .ss_size = 64 << 10 };
	unsigned int i = 0;

	sigaltstack(&stack, NULL);
	sigaction(SIGALRM, &tick, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	say("ready", (unsigned long)getpid());
	while (poll(&in, 1, 0) <= 0) {
		for (; ++i % 256;)
			wrong += work_round(i);
		rounds += 256;
	}
	say("ticks", ticks);
}

/* --- fork: children compute with the code that they have inherited --- */

static void *forker(void *arg)
{
	unsigned int k, bad;
	int status;
	pid_t child;

	while (!stopping) {
		child = fork();
		if (!child) {
			for (k = bad = 0; k < 200; k++)
				bad += work_round(k);
			_exit(bad ? 1 : 0);
		}
		if (child < 0 || waitpid(child, &status, 0) != child || status)
			blame("a child ends with", status);
		counted++;
	}
	return NULL;
}

static void mode_fork(int n)
{
	start(n, work);
	pthread_create(&thread[n], NULL, forker, NULL);
	say("ready", (unsigned long)getpid());
	await_stop();
	join(n + 1);
}

/* --- spawn: children that share the memory until they execute a program --- */

static void *spawner(void *arg)
{
	while (!stopping) {
		if (system("true"))
			blame("system", errno);
		counted++;
	}
	return NULL;
}

static void mode_spawn(int n)
{
	start(n, work);
	pthread_create(&thread[n], NULL, spawner, NULL);
	say("ready", (unsigned long)getpid());
	await_stop();
	join(n + 1);
}

/* --- churn: threads begin and end all the time --- */

static void *brief(void *arg)
{
	unsigned int k;

	for (k = 0; k < 1000; k++)
		wrong += work_round(k);
	counted++;
	return NULL;
}

static void *maker(void *arg)
{
	pthread_t some[8];
	long i;

	while (!stopping) {
		for (i = 0; i < 8; i++)
			if (pthread_create(&some[i], NULL, brief, (void *)i))
				die("pthread_create");
		for (i = 0; i < 8; i++)
			pthread_join(some[i], NULL);
	}
	return NULL;
}

static void mode_churn(int n)
{
	start(n, maker);
	say("ready", (unsigned long)getpid());
	await_stop();
	join(n);
}

/* --- exec: becomes another program when it gets a line, while other threads compute --- */

static void *exec_again(void *arg)
{
	char *const next_words[] = { words[0], (char *)"loop", (char *)"2", NULL };

	execv("/proc/self/exe", next_words);
	die("execv");
	return NULL;
}

static void mode_exec(int n)
{
	pthread_t by;

	start(n, work);
	say("ready", (unsigned long)getpid());
	stopping = 0;
	if (getchar() == EOF)
		exit(1);
	pthread_create(&by, NULL, exec_again, NULL);
	pthread_join(by, NULL);
}

/* --- seccomp: mmap, munmap and all that the test does not need kills the process --- */

#define ALLOW(nr)                                                                                  \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1),                                           \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void mode_seccomp(int n)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_read),
		ALLOW(SYS_write),
		ALLOW(SYS_getpid),
		ALLOW(SYS_futex),
		ALLOW(SYS_exit),
		ALLOW(SYS_exit_group),
		ALLOW(SYS_restart_syscall),
		ALLOW(SYS_rt_sigprocmask),
		ALLOW(SYS_madvise),
		ALLOW(SYS_rseq),
		ALLOW(SYS_set_robust_list),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { ARRAY_SIZE(code), code };

	start(n, work);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
		die("seccomp");
	say("ready", (unsigned long)getpid());
	await_stop();
	while (n--) /* pthread_join() of glibc would unmap their stacks */
		pthread_join(thread[n], NULL);
}

/* --- leaderless: the first thread ends when it gets a line --- */

static void mode_leaderless(int n)
{
	start(n, work);
	say("ready", (unsigned long)getpid());
	getchar();
	pthread_exit(NULL);
}

/* --- rseq: one thread, which is nearly always in a restartable sequence --- */

static void on_look(int sig)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };

	if (poll(&in, 1, 0) > 0)
		stopping = 1;
}

/* Set the sequence, and stay in it until "stop"; after each interruption, begin again. */
static void stay_in_sequence(void)
{
	asm volatile(".pushsection __rseq_cs, \"aw\"\n\t"
		     ".balign 32\n\t"
		     "3: .long 0, 0\n\t"
		     ".quad 1f, 2f - 1f, 4f\n\t"
		     ".popsection\n\t"
		     "0: leaq 3b(%%rip), %%rax\n\t"
		     "movq %%rax, %%fs:8(%1)\n\t"
		     "1: movl %0, %%eax\n\t"
		     "testl %%eax, %%eax\n\t"
		     "jz 1b\n\t"
		     "2: jmp 5f\n\t"
		     ".byte 0x0f, 0xb9, 0x3d\n\t"
		     ".long 0x53053053\n\t" /* the signature that glibc has registered */
		     "4: jmp 0b\n\t"
		     "5:\n\t"
		     :
		     : "m"(stopping), "r"(__rseq_offset)
		     : "rax", "memory", "cc");
}

static void mode_rseq(int n)
{
	struct sigaction look = { .sa_handler = on_look, .sa_flags = SA_RESTART };
	const struct itimerval often = { { 0, 20000 }, { 0, 20000 } };

	sigaction(SIGALRM, &look, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	say("ready", (unsigned long)getpid());
	stay_in_sequence();
}

/* --- masked: all signals are blocked, and SIGTRAP has a handler that must stay --- */

static void on_trap(int sig)
{
	blame("SIGTRAP", sig);
}

static void mode_masked(int n)
{
	struct sigaction trap = { .sa_handler = on_trap };
	struct sigaction now;
	sigset_t all, before, after;

	sigaction(SIGTRAP, &trap, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	pthread_sigmask(SIG_BLOCK, NULL, &before);
	start(n, work);
	say("ready", (unsigned long)getpid());
	await_stop();
	join(n);
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	if (memcmp(&before, &after, 8))
		blame("the mask of signals has changed", 0);
	sigaction(SIGTRAP, NULL, &now);
	if (now.sa_handler != on_trap)
		blame("SIGTRAP has another handler", 0);
}

static const struct {
	const char *name;
	void (*run)(int n);
} modes[] = {
	{ "loop", mode_loop },	     { "wait", mode_wait },	{ "blocked", mode_blocked },
	{ "signals", mode_signals }, { "alone", mode_alone },	{ "fork", mode_fork },
	{ "spawn", mode_spawn },     { "churn", mode_churn },	{ "exec", mode_exec },
	{ "seccomp", mode_seccomp }, { "masked", mode_masked }, { "leaderless", mode_leaderless },
	{ "rseq", mode_rseq },
};

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 2;
	size_t i;

	words = argv;
	setbuf(stdin, NULL);
	work_learn();
	for (i = 0; argc > 1 && i < ARRAY_SIZE(modes); i++) {
		if (strcmp(argv[1], modes[i].name))
			continue;
		modes[i].run(n);
		say("rounds", rounds);
		say("counted", counted);
		say("wrong", wrong);
		return 0;
	}
	fprintf(stderr, "usage: victim MODE [NUMBER]\n");
	return 2;
}
