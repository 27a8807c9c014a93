/* SPDX-License-Identifier: GPL-2.0-only */
/* Follow the stack of a program by its frame pointers. */
#ifndef _GTP_USTACK_H
#define _GTP_USTACK_H

#include "base/base.h"

/*
 * The last word of a program's stack says whose it is. Its first byte is GTP_USTACK_TAG, and no
 * address begins so; bits 34 to 55 are the process's number. Where that is 0 there is no stack, and
 * the other bits say why: enum gtp_ustack_none.
 */
enum {
	GTP_USTACK_TAG = 0x75,
	GTP_USTACK_TAG_SHIFT = 56,
	GTP_USTACK_PID_SHIFT = 34,
	GTP_USTACK_DEPTH = 125, /* addresses that are kept, the innermost */
	GTP_USTACK_WORDS = GTP_USTACK_DEPTH + 2,
};

enum gtp_ustack_none {
	GTP_USTACK_KERNEL = 1, /* a thread of the kernel */
	GTP_USTACK_NARROW,     /* a program of 32 bits */
	GTP_USTACK_ENDING,     /* a task that exits, and has no memory any more */
};

/* enum gtp_ustack_at - where a function's return address is, as its instruction at the hit says */
enum gtp_ustack_at {
	GTP_USTACK_UNSAID, /* above the word that rbp points to, or unknown */
	GTP_USTACK_FIRST,  /* at rsp: the instruction pushes rbp, begins a function or returns */
	GTP_USTACK_PUSHED, /* above rsp: the instruction moves rsp to rbp */
};

/**
 * struct gtp_ustack_from - where to begin
 * @pc: the instruction
 * @sp: rsp before it
 * @bp: rbp before it
 * @whose: the stack's last word
 * @at: of the instruction; GTP_USTACK_UNSAID for an address that was interrupted
 * @file: where the code of the file that was hit begins
 * @file_bytes: its bytes; 0: no file is known
 * @to_space: what turns an address of it into one of its file space, see base/space.h
 * @is_hit: the instruction is about to run, so a call may have led to it just now
 */
struct gtp_ustack_from {
	u64 pc, sp, bp;
	u64 whose;
	u64 file, file_bytes, to_space;
	enum gtp_ustack_at at;
	bool is_hit;
};

/* gtp_ustack_tag - a stack's last word; @pid 0: there is none, and @low says why */
static inline u64 gtp_ustack_tag(u32 pid, u64 low)
{
	return (u64)GTP_USTACK_TAG << GTP_USTACK_TAG_SHIFT |
	       (u64)(pid & ((1U << (GTP_USTACK_TAG_SHIFT - GTP_USTACK_PID_SHIFT)) - 1))
		       << GTP_USTACK_PID_SHIFT |
	       (low & ((1ULL << GTP_USTACK_PID_SHIFT) - 1));
}

/* gtp_ustack_judge - what the first @n bytes of the instruction at a place say */
enum gtp_ustack_at gtp_ustack_judge(const u8 *code, u32 n);

/**
 * gtp_ustack_take() - take a program's stack
 * @from: where it begins; one without a process has only its last word
 * @read: copy the program's memory; 0, or -EFAULT at any address that is not there
 * @ctx: for @read
 * @to: receives GTP_USTACK_WORDS at most: @from's pc, return addresses, and @from's last word;
 *	addresses of @from's file as those of its file space;
 *	NULL: the memory is only read
 * @cut: set if the stack is deeper
 *
 * The stack is the program's, which may have put anything into it. Each frame must begin above the
 * one before, so it ends. GTP_STACKS_LOST precedes the last word, unless the outermost frame says
 * that there is no other, by a zero.
 *
 * The caller of a function that has not set rbp yet is found by the instruction at the hit, if
 * there is a call in front of the return address. An instruction that says nothing is a function's
 * first one if that call leads to it; it is between the push of rbp and the move to rbp if rbp is
 * on top of the stack, and that call leads to a place shortly before it.
 *
 * Return: how many words.
 */
u32 gtp_ustack_take(const struct gtp_ustack_from *from,
		    int (*read)(void *ctx, void *dst, u64 addr, u32 len), void *ctx, u64 *to,
		    bool *cut);

#endif /* _GTP_USTACK_H */
