/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Goes through all orders in which a few CPUs can interleave their steps.
 *
 * A CPU is a coroutine, which yields before each step. One run follows a list of choices; the next
 * run changes the last choice that has an alternative left.
 */
#ifndef _GTP_ORDERS_H
#define _GTP_ORDERS_H

#include "base/base.h"

enum { ORDERS_CPUS = 3 };

/**
 * struct orders - what is run in all orders
 * @prepare: make everything as it is before a run
 * @takes_part: true if the CPU does anything
 * @cpu: does what the CPU does; calls orders_yield() before each step
 * @check: look at the outcome of a run
 * @depth: the most steps that a run may have, ORDERS_DEPTH at most
 */
struct orders {
	void (*prepare)(void);
	bool (*takes_part)(u32 cpu);
	void (*cpu)(u32 cpu);
	void (*check)(void);
	u32 depth;
};

enum { ORDERS_DEPTH = 200 };

/* orders_run_all - make a run for each order, and fail if there are less than @least of them */
void orders_run_all(const struct orders *what, u32 least);

/* orders_now - return the CPU that is running; ORDERS_CPUS: none, so nothing yields */
u32 orders_now(void);

/* orders_yield - let another CPU run, or the same again; called by a CPU */
void orders_yield(void);

/* orders_step - return how many times this run has let a CPU run; it grows with each step */
u32 orders_step(void);

/* orders_print - print the choices of this run */
void orders_print(void);

#endif /* _GTP_ORDERS_H */
