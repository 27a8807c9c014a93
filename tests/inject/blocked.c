// SPDX-License-Identifier: GPL-2.0-only
/* A process whose threads wait: each system call has the result and takes the time as if alone. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "victim.h"

enum { BLOCK_MS = 1500 };

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int ends[2], sockets[2], semaphore, epoll;
static atomic_int word;

static void call_read(void)
{
	char byte;

	if (read(ends[0], &byte, 1) != 1)
		blame("read of a pipe", errno);
}

static void call_nanosleep(void)
{
	const struct timespec time = { BLOCK_MS / 1000, BLOCK_MS % 1000 * 1000000 };

	if (nanosleep(&time, NULL))
		blame("nanosleep", errno);
}

static void call_futex(void)
{
	const struct timespec time = { BLOCK_MS / 1000, BLOCK_MS % 1000 * 1000000 };

	if (syscall(SYS_futex, &word, FUTEX_WAIT, 0, &time, NULL, 0) != -1 || errno != ETIMEDOUT)
		blame("futex", errno);
}

static void call_poll(void)
{
	struct pollfd fd = { .fd = ends[1], .events = POLLIN };

	if (poll(&fd, 1, BLOCK_MS))
		blame("poll", errno);
}

static void call_select(void)
{
	struct timeval time = { BLOCK_MS / 1000, BLOCK_MS % 1000 * 1000 };

	if (select(0, NULL, NULL, NULL, &time))
		blame("select", errno);
}

static void call_epoll(void)
{
	struct epoll_event event = { .events = EPOLLIN };

	epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event);
	if (epoll_wait(epoll, &event, 1, -1) != 1)
		blame("epoll_wait", errno);
}

static void call_sigwait(void)
{
	sigset_t set;
	siginfo_t info;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 5);
	if (sigwaitinfo(&set, &info) != SIGRTMIN + 5)
		blame("sigwaitinfo", errno);
}

static void call_semaphore(void)
{
	struct sembuf take = { .sem_op = -1 };

	if (semop(semaphore, &take, 1))
		blame("semop", errno);
}

static void call_receive(void)
{
	struct timeval time = { 60, 0 };
	char byte;

	setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
	if (recv(sockets[0], &byte, 1, 0) != 1)
		blame("recv with a time limit", errno);
}

static const struct {
	void (*call)(void);
	int timed; /* it ends by itself after BLOCK_MS */
} blocking[] = {
	{ call_nanosleep, 1 }, { call_futex, 1 },     { call_poll, 1 },
	{ call_select, 1 },    { call_read, 0 },      { call_epoll, 0 },
	{ call_sigwait, 0 },   { call_semaphore, 0 }, { call_receive, 0 },
};

enum { BLOCKING = ARRAY_SIZE(blocking), TIMED = 4 };

static void *block(void *arg)
{
	long i = (long)arg, began = now_ms(), took;

	blocking[i].call();
	took = now_ms() - began;
	if (blocking[i].timed && (took < BLOCK_MS || took > BLOCK_MS + 700))
		blame("it took ms", took);
	counted++;
	return NULL;
}

void mode_blocked(int n)
{
	union sigval value = { 0 };
	sigset_t set;

	epoll = epoll_create1(0);
	if (epoll < 0 || pipe(ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		die("pipe");
	semaphore = semget(IPC_PRIVATE, 1, 0600);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 5);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	start(BLOCKING, block);
	say("ready", (unsigned long)getpid());
	await_stop();
	if (counted != TIMED)
		blame("not just the calls that have a time limit have ended", (long)counted);
	sigqueue(getpid(), SIGRTMIN + 5, value);
	semop(semaphore, &(struct sembuf){ .sem_op = 1 }, 1);
	if (write(ends[1], "12", 2) != 2 || write(sockets[1], "1", 1) != 1)
		die("write");
	join(BLOCKING);
	semctl(semaphore, 0, IPC_RMID);
}
