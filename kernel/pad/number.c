// SPDX-License-Identifier: GPL-2.0-only
/*
 * The numbers that pads push. Each number stands for a tracepoint and those after it at its
 * location.
 */
#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/kprobes.h>

#include "kernel/pad/number.h"
#include "pad/pad.h"

struct gtp_tracepoint *gtp_pad_number_tracepoints[2 * GTP_PAD_NUMBERS];
u32 gtp_pad_number_tickets[GTP_PAD_NUMBERS];
static atomic_long_t missed[GTP_PAD_NUMBERS];
static DECLARE_BITMAP(numbers, GTP_PAD_NUMBERS);

void gtp_pad_number_missed(u32 number)
{
	atomic_long_inc(&missed[number]);
}

NOKPROBE_SYMBOL(gtp_pad_number_missed);

u64 gtp_pad_number_misses(u32 number)
{
	return atomic_long_read(&missed[number]);
}

u32 gtp_pad_number_take(void)
{
	static u32 next;
	u32 number = find_next_zero_bit(numbers, GTP_PAD_NUMBERS, next);

	if (number == GTP_PAD_NUMBERS)
		number = find_first_zero_bit(numbers, GTP_PAD_NUMBERS);
	if (number < GTP_PAD_NUMBERS) {
		__set_bit(number, numbers);
		atomic_long_set(&missed[number], 0);
		next = number + 1;
	}
	return number;
}

u32 gtp_pad_number_take_spare(void)
{
	bool spare = bitmap_weight(numbers, GTP_PAD_NUMBERS) < GTP_PAD_NUMBERS / 2;

	return spare ? gtp_pad_number_take() : GTP_PAD_NUMBERS;
}

void gtp_pad_number_give(u32 number)
{
	__clear_bit(number, numbers);
}

void gtp_pad_number_connect(u32 number, struct gtp_tracepoint *tp)
{
	gtp_publish(&gtp_pad_number_tracepoints[number << 1], tp);
	gtp_publish(&gtp_pad_number_tracepoints[number << 1 | GTP_PAD_HELD], tp);
	if (!tp)
		gtp_publish(&gtp_pad_number_tickets[number], gtp_pad_number_tickets[number] + 1);
}
