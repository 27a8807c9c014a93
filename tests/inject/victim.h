/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of the processes that the tests patch. */
#ifndef _INJECT_VICTIM_H
#define _INJECT_VICTIM_H

#include <stdatomic.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

extern atomic_int stopping; /* true when all threads are to end */
extern atomic_ulong wrong, counted;

/* die - end with a message that has errno */
void die(const char *what);

/* say - write a line to standard output */
void say(const char *text, unsigned long number);

/* blame - report something wrong, and count it */
void blame(const char *what, long value);

/* await_stop - wait for a line on standard input, and set @stopping */
void await_stop(void);

/* start, join - start @n threads, and wait until they have ended */
void start(int n, void *(*fn)(void *arg));
void join(int n);

/* mode_blocked - the mode in blocked.c */
void mode_blocked(int n);

#endif /* _INJECT_VICTIM_H */
