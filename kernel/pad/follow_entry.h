/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers that C and kernel/pad/follow_entry.S share. */
#ifndef _GTP_PAD_FOLLOW_ENTRY_H
#define _GTP_PAD_FOLLOW_ENTRY_H

#define GTP_FOLLOW_REGS_WORDS 21 /* words of struct gtp_regs */
#define GTP_FOLLOW_HEAD_WORDS 4	 /* words of struct gtp_follow_record before the registers */
#define GTP_FOLLOW_EFLAGS 18	 /* eflags' word among the registers ... */
#define GTP_FOLLOW_CARRY 1	 /* ... and two of its bits */
#define GTP_FOLLOW_ZERO 0x40

/*
 * Where a call continues: the result of gtp_follow_enter(). The assembly compares it with
 * GTP_FOLLOW_FRAMED, the value in the middle.
 */
#define GTP_FOLLOW_NOT 0    /* continue in the displaced instructions */
#define GTP_FOLLOW_FRAMED 1 /* continue in the framed gate */
#define GTP_FOLLOW_BARE 2   /* continue in the bare gate */

#endif /* _GTP_PAD_FOLLOW_ENTRY_H */
