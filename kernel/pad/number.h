/* SPDX-License-Identifier: GPL-2.0-only */
/* The numbers that pads push: which tracepoint each is for. */
#ifndef _GTP_PAD_NUMBER_H
#define _GTP_PAD_NUMBER_H

#include "hit/run.h"

enum { GTP_PAD_NUMBERS = 16384 }; /* at a time */

/*
 * Tracepoints by the word that the pad pushes (see pad/pad.h), two words for each number. One is
 * removed here before it or its location is freed; interrupts are off during a hit, so a grace
 * period of RCU waits for hits that read the entry before.
 */
extern struct gtp_tracepoint *gtp_pad_number_tracepoints[2 * GTP_PAD_NUMBERS];

extern u32 gtp_pad_number_tickets[GTP_PAD_NUMBERS];

/* gtp_pad_number_find - the tracepoint that a word is for, or NULL. Context: a hit */
static __always_inline struct gtp_tracepoint *gtp_pad_number_find(unsigned long word)
{
	return gtp_acquire(&gtp_pad_number_tracepoints[word]);
}

/*
 * gtp_pad_number_ticket - goes up when the number's location has gone: of two locations that have
 * had the number, each has had a ticket of its own. At the entry of a call it is read before the
 * location. Context: a hit
 */
static __always_inline u32 gtp_pad_number_ticket(unsigned long number)
{
	return gtp_acquire(&gtp_pad_number_tickets[number]);
}

/* gtp_pad_number_missed - a hit is not seen. Context: a hit */
void gtp_pad_number_missed(u32 number);

/* The following: process context, under gtp_lock. */

/* gtp_pad_number_take - one that is free; GTP_PAD_NUMBERS: none is; _give - back, disconnected */
u32 gtp_pad_number_take(void);
void gtp_pad_number_give(u32 number);

/* gtp_pad_number_take_spare - the same for what can do without: while half of them are free */
u32 gtp_pad_number_take_spare(void);

/* gtp_pad_number_connect - hits of it belong to @tp, and what follows it; NULL: are ignored */
void gtp_pad_number_connect(u32 number, struct gtp_tracepoint *tp);

/* gtp_pad_number_misses - how many gtp_pad_number_missed() since it was taken */
u64 gtp_pad_number_misses(u32 number);

#endif /* _GTP_PAD_NUMBER_H */
