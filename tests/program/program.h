/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of the traced program. */
#ifndef PROGRAM_H
#define PROGRAM_H

struct point {
	int x, y;
	const char *name;
};

/* work - count a call; work_total - the calls so far, those of locked() included */
long work(int n, const char *text, struct point *p);
unsigned long work_total(void);

/* work_address - return the address of work, total or label */
unsigned long work_address(const char *name);

void locked(void);
long pushed(long n);

/*
 * call_each - call a function of calls.c or throws.cc for n = 0 to @count - 1; return the sum of
 * its values
 */
long call_each(const char *name, long count);
long two_ends(long n);
long triple(long n);
int narrow(long n);
long depth(long n);
long jumps_out(long n);
long chooses(long n);
long last_of(long n);
long jumps_on(long n);
long other_caller(long n);
long leaves(long n);
long interrupted(long n);
long forks(long n);
long ends_thread(long n);
void nothing(long n);
long becomes(char **argv);
long throws(long n);
long catches(long n);

/*
 * crowd - make @n threads, each in @levels nested calls of stays(); return when all wait there.
 * crowd_goes - let them return; return the sum of the threads' values: 2 * n for the n-th
 */
void crowd(int n, int levels);
long crowd_goes(void);
long stays(long n);

/* slow_sum - return 1 + 2 + ... + @n; compiled without optimisation */
long slow_sum(int n);

#endif /* PROGRAM_H */
