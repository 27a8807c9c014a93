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

/* work_address - where work, total or label is */
unsigned long work_address(const char *name);

void locked(void);
long pushed(long n);

/* slow_sum - 1 + 2 + ... + @n; compiled without optimisation */
long slow_sum(int n);

#endif /* PROGRAM_H */
