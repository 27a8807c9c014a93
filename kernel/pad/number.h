/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The numbers that pads push. Each number stands for a tracepoint and those after it at its
 * location.
 */
#ifndef _GTP_PAD_NUMBER_H
#define _GTP_PAD_NUMBER_H

#include "hit/run.h"

enum { GTP_PAD_NUMBERS = 16384 }; /* most numbers in use at a time */

/*
 * Tracepoints by the word that the pad pushes (see pad/pad.h), two words for each number. A
 * tracepoint is removed from this table before it or its location is freed. Interrupts are off
 * during a hit, so an RCU grace period waits for hits that have read the entry before.
 */
extern struct gtp_tracepoint *gtp_pad_number_tracepoints[2 * GTP_PAD_NUMBERS];

extern u32 gtp_pad_number_tickets[GTP_PAD_NUMBERS];

/* gtp_pad_number_find - return the tracepoint that a word stands for, or NULL. Context: a hit */
static __always_inline struct gtp_tracepoint *gtp_pad_number_find(unsigned long word)
{
	return gtp_acquire(&gtp_pad_number_tracepoints[word]);
}

/*
 * gtp_pad_number_ticket - return how many locations have had the number before. A call's record
 * keeps this ticket: if it has not changed when the call returns, the location is still the same.
 * At the entry of a call, read the ticket before gtp_pad_number_find(). Context: a hit
 */
static __always_inline u32 gtp_pad_number_ticket(unsigned long number)
{
	return gtp_acquire(&gtp_pad_number_tickets[number]);
}

/* gtp_pad_number_missed - count a missed hit of the number. Context: a hit */
void gtp_pad_number_missed(u32 number);

/* Context of the functions below: process, under gtp_lock. */

/*
 * gtp_pad_number_take - take a free number; return GTP_PAD_NUMBERS if none is free. _give - free it
 */
u32 gtp_pad_number_take(void);
void gtp_pad_number_give(u32 number);

/*
 * gtp_pad_number_take_spare - like gtp_pad_number_take(), for an optional use: return
 * GTP_PAD_NUMBERS unless more than half of the numbers are free
 */
u32 gtp_pad_number_take_spare(void);

/*
 * gtp_pad_number_connect - make the number stand for @tp and the tracepoints after it; if @tp is
 * NULL, hits of the number are ignored
 */
void gtp_pad_number_connect(u32 number, struct gtp_tracepoint *tp);

/* gtp_pad_number_misses - return how many hits were missed since the number was taken */
u64 gtp_pad_number_misses(u32 number);

#endif /* _GTP_PAD_NUMBER_H */
