/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Follow the stack of a program: by call frame information where the host has a table of it, and
 * elsewhere along frame pointers.
 */
#ifndef _GTP_USTACK_H
#define _GTP_USTACK_H

#include "hit/cfi.h"

/*
 * The last word of a stored user stack identifies the process. Its most significant byte is
 * GTP_USTACK_TAG, with which no address begins; bits 34 to 55 are the process's id. If the id is 0,
 * there is no stack, and the low bits hold the reason, an enum gtp_ustack_none.
 */
enum {
	GTP_USTACK_TAG = 0x75,
	GTP_USTACK_TAG_SHIFT = 56,
	GTP_USTACK_PID_SHIFT = 34,
	GTP_USTACK_DEPTH = 125, /* most addresses kept of a stack: the innermost ones */
	GTP_USTACK_WORDS = GTP_USTACK_DEPTH + 2,
};

enum gtp_ustack_none {
	GTP_USTACK_KERNEL = 1, /* a kernel thread */
	GTP_USTACK_NARROW,     /* a 32-bit program */
	GTP_USTACK_ENDING,     /* a task that is exiting and has no memory any more */
	GTP_USTACK_IN_PROGRAM, /* in place of a kernel stack: a program was interrupted */
	GTP_USTACK_ENTERING,   /* an NMI came before the program's registers were stored */
};

/*
 * enum gtp_ustack_at - where a function's return address is, judging by the instruction at the hit
 */
enum gtp_ustack_at {
	GTP_USTACK_UNSAID, /* in the word above the one that rbp points to, or unknown */
	GTP_USTACK_FIRST,  /* at rsp: the instruction pushes rbp, begins a function or returns */
	GTP_USTACK_PUSHED, /* in the word above the one at rsp: the instruction moves rsp to rbp */
};

/**
 * struct gtp_ustack_map - a mapping of a file in a process
 * @start: the address of the mapping's first byte
 * @bytes: the size of the mapping
 * @offset: the offset of the first byte in the file
 * @cfi: the file's call frame information; NULL: none is known
 * @to_space: added to an address in the mapping gives the address in the file's space, see
 *	base/space.h; 0 if the file has no space
 */
struct gtp_ustack_map {
	u64 start, bytes;
	u64 offset;
	const struct gtp_cfi *cfi;
	u64 to_space;
};

typedef bool (*gtp_ustack_find)(void *ctx, u64 addr, struct gtp_ustack_map *map);

/**
 * struct gtp_ustack_from - where a program's stack begins
 * @pc: the address of the instruction that was hit
 * @sp: rsp before the instruction
 * @bp: rbp before the instruction
 * @bx: rbx before the instruction; only call frame information uses it
 * @whose: the word that identifies the process, from gtp_ustack_tag(); follows the addresses
 * @at: where the return address is, judging by the instruction; GTP_USTACK_UNSAID after an
 *	interrupt
 * @file: the address at which the code of the file that was hit begins
 * @file_bytes: the size of that code; 0: no file is known
 * @to_space: added to an address in that code gives the address in its file space, see base/space.h
 * @is_hit: true if the instruction at @pc is about to run, so that a call may have led to it just
 *	now
 * @find: finds the mapping of code that contains an address; returns false if there is none or it
 *	cannot be read, and the stack ends then. NULL: no call frame information is known for any
 *	file
 * @find_ctx: passed to @find
 */
struct gtp_ustack_from {
	u64 pc, sp, bp, bx;
	u64 whose;
	u64 file, file_bytes, to_space;
	enum gtp_ustack_at at;
	bool is_hit;
	gtp_ustack_find find;
	void *find_ctx;
};

/* gtp_ustack_tag - return a stack's last word; @pid 0: there is no stack, and @low is the reason */
static inline u64 gtp_ustack_tag(u32 pid, u64 low)
{
	return (u64)GTP_USTACK_TAG << GTP_USTACK_TAG_SHIFT |
	       (u64)(pid & ((1U << (GTP_USTACK_TAG_SHIFT - GTP_USTACK_PID_SHIFT)) - 1))
		       << GTP_USTACK_PID_SHIFT |
	       (low & ((1ULL << GTP_USTACK_PID_SHIFT) - 1));
}

/* gtp_ustack_judge - find out from the bytes of an instruction where the return address is */
enum gtp_ustack_at gtp_ustack_judge(const u8 *code, u32 n);

/**
 * gtp_ustack_take() - follow a program's stack
 * @from: where the stack begins; if its @pc is 0, only its last word is stored
 * @read: copies the program's memory; returns 0, or -EFAULT if an address cannot be read
 * @ctx: passed to @read
 * @to: receives GTP_USTACK_WORDS at most: @from's pc, the return addresses, and @from's last word;
 * @cut: set to true if the stack is deeper
 *
 * A program may have put anything into its stack. Each frame must begin above the previous frame,
 * so the loop over the frames ends. If the stack does not end with a frame that has no caller (a
 * zero in the frame says so), GTP_STACKS_LOST is stored before the last word.
 *
 * A function that has not set rbp yet has no frame. The instruction at the hit shows where the
 * return address is. The address is accepted only if the instruction before it is a call. If the
 * instruction shows nothing, there are two more cases. If the top of the stack is a return address
 * whose call leads to @pc, the instruction is the function's first. If the top of the stack equals
 * rbp, and the next word is a return address whose call leads to a place shortly before @pc, the
 * instruction is between the push of rbp and the move to rbp.
 *
 * Return: the number of words.
 */
u32 gtp_ustack_take(const struct gtp_ustack_from *from,
		    int (*read)(void *ctx, void *dst, u64 addr, u32 len), void *ctx, u64 *to,
		    bool *cut);

#endif /* _GTP_USTACK_H */
