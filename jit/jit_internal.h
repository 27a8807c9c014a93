/* SPDX-License-Identifier: GPL-2.0-only */
/* Inside the compiler: the state of one compilation, which all of its files work on. */
#ifndef _GTP_JIT_INTERNAL_H
#define _GTP_JIT_INTERNAL_H

#include "jit/jit.h"
#include "jit/x86_emit.h"

struct gtp_pad_chain;
struct gtp_pad_frame;
struct gtp_region;

/* Fixed roles in a snippet. Every other caller-saved register holds values. */
#define JIT_REGS X86_RDI   /* struct gtp_regs *, the first argument */
#define JIT_ENV X86_RSI	   /* struct ax_env *, the second */
#define JIT_RECORD X86_R11 /* with actions: env->frame; holds values otherwise */
#define JIT_CPU X86_R10	   /* with a frame in a pad: this CPU's part */

enum {
	JIT_NR_ALLOC = 7, /* one less with actions */
	JIT_NR_JOIN = 5,  /* values that a join keeps in registers */
	JIT_NR_SLOTS = AX_MAX_DEPTH + 4,
	JIT_STRING_MAX = 64, /* bytes of a string that a pad records; a longer one is C's */
};

/* Where a value of the expression's stack is. */
enum jit_where {
	JIT_CONST, /* known: @imm */
	JIT_HIT,   /* register @loc (GDB's number) of the hit, plus @imm */
	JIT_REG,   /* machine register @loc, plus @imm */
	JIT_SLOT,  /* word @loc of the stack frame, plus @imm */
	JIT_FLAGS, /* 1 when condition @loc holds, else 0; only on top, and only for a moment */
};

/**
 * struct jit_val - one value of the expression's stack, as far as it has been computed
 * @where: enum jit_where
 * @loc: see there
 * @bits: 64, or 8, 16, 32: only the low bits of the location count, the value is their extension;
 *	@imm is 0
 * @sign: which extension
 * @zbits: the value is known to be less than 2^zbits
 * @sbits: the value is known to be what its low sbits bits are, sign-extended
 * @imm: to be added; fits 32 bits except for JIT_CONST
 */
struct jit_val {
	u8 where;
	u8 loc;
	u8 bits;
	bool sign;
	u8 zbits;
	u8 sbits;
	s64 imm;
};

/* struct jit_place - where code that is jumped to begins: an offset in the code */
struct jit_place {
	u32 est; /* pass 1: at least as far from every other as in the end */
	u32 pos; /* pass 2: where it will be */
};

/* struct jit_label - one byte of the expression; @used: a jump leads there */
struct jit_label {
	struct jit_place at;
	bool used;
};

/* struct jit_slow - an instruction that may have to leave the fast path */
struct jit_slow {
	struct jit_place at; /* where its slow code begins */
	u32 back;	     /* where the fast code goes on */
	u16 pc;
	u8 op;
	u8 dst;	   /* loads: register that receives the value */
	bool sign; /* loads: the following ext is part of it */
	u8 base;   /* the address is register base + disp; X86_NO_REG: disp alone */
	s64 disp;
	bool block;   /* a block's memory, copied as a whole */
	u32 len;      /* of that */
	u32 where;    /* in the trace frame */
	bool keep;    /* and it is wanted in @dst as well */
	u32 progress; /* as struct ax_env has it */
};

/* struct jit_load - an access to memory: @bytes at register @base + @disp, or @disp alone */
struct jit_load {
	u8 bytes;
	bool sign;
	u8 dst;
	u8 base; /* X86_NO_REG: none */
	s64 disp;
};

/* Where a pad goes on when its condition has been evaluated, or cannot be. */
enum jit_tail {
	JIT_FALSE,
	JIT_HELD,
	JIT_PUNT,
	JIT_NESTED, /* the same, before the task was marked */
	JIT_NR_TAILS,
};

/**
 * struct jit_pad - a pad and its condition: the hit's registers are still in the machine
 * @on: this is a pad with a condition; what follows @open is unused otherwise
 * @region: what is displaced; NULL: control comes by a call
 * @number: given to pad_hit
 * @keep_flags: pad_hit must see the hit's arithmetic flags
 * @copies: receives where the displaced instructions' copies are, or NULL
 * @held, @open: where to go on with a hit, or 0; see struct gtp_pad_request
 * @gates: ways to the rest of the function that come back, or NULL
 * @chain: see struct gtp_pad_request
 * @frame: this is no condition but a frame to write, see pad/frame.c; NULL: it is one
 * @flags: the arithmetic flags must be put back
 * @read: machine registers that the condition reads
 * @touched: machine registers that code has been made to overwrite
 * @usable: machine registers that values may be in, as in the order of allocation
 * @wanted: machine registers that were touched by any try so far
 * @cs, @ss: a frame's: what these registers read as
 * @fixed: of those: machine registers that have a role of their own
 * @save: what is pushed, in this order
 * @pos: machine register: its place among the words pushed, from 1; 0: it is not pushed
 * @marker: a saved register in which the mark on the task is made; X86_NO_REG: there is none
 * @nsave: entries of @save
 * @words: pushed in all, the flags and the slots included
 * @tail: where the ways out are
 * @has_string: a frame's: a string is in it, whose length the hit tells
 * @string_end: where the code is that knows how long it is
 * @bytes: a frame's: without that string's, as far as known
 */
struct jit_pad {
	bool on;
	const struct gtp_region *region;
	u32 skip;
	u32 number;
	bool keep_flags;
	u32 *copies;
	u64 held, open;
	struct gtp_pad_gates *gates;
	struct gtp_pad_chain *chain;
	const struct gtp_pad_frame *frame;
	bool flags;
	u32 cs, ss;
	u16 read, touched, usable, wanted, fixed;
	u8 save[X86_NR_REGS];
	u8 pos[X86_NR_REGS];
	u8 marker;
	u32 nsave;
	u32 words;
	struct jit_place tail[JIT_NR_TAILS];
	bool has_string;
	struct jit_place string_end;
	u32 bytes;
};

enum jit_pass {
	JIT_ESTIMATE, /* long jumps, largest padding */
	JIT_PLACE,    /* short jumps where the estimate allows */
	JIT_WRITE,
};

/**
 * struct ax_jit - one compilation
 *
 * References: each stack entry that names a register or slot counts in @regs or @slots; so do
 * registers that an emitter holds for itself. A register may be taken over or overwritten only by
 * its single holder.
 */
struct ax_jit {
	struct x86_buf b;
	struct ax_jit_request req;
	const struct ax_verified *v;
	u64 base;
	enum jit_pass pass;
	void (*run_pass)(struct ax_jit *j, enum jit_pass pass);
	bool alive;	     /* the code being compiled can be reached */
	struct ax_insn insn; /* being compiled */
	u32 next;	     /* pc of the one to be compiled after it */
	u32 depth;
	u32 held;	  /* the topmost so many are operands of @insn: never spilled */
	bool stack_frame; /* rbp is pushed and points to it; found out in the first pass */
	u32 stack_met;	  /* slots of the stack frame, as far as met */
	u32 stack_slots;  /* the same, known since the first pass */
	u32 planned;	  /* bytes of code */
	u32 nslow;
	bool calls;	 /* there are calls on the fast path */
	bool records;	 /* actions collect something; known since the first pass */
	bool unsuitable; /* as one snippet of actions, or to a pad */
	u32 item;	 /* action being compiled, from 1 */
	u32 record_used; /* bytes that actions have collected so far */
	u32 progress;	 /* what an error has to say about that */
	u32 nalloc;
	struct jit_pad pad;
	struct ax_jit *frame; /* of a pad: its frame, compiled by itself; NULL: it writes none */
	struct jit_val stack[AX_MAX_DEPTH + 1];
	u8 order[JIT_NR_ALLOC];
	u8 regs[X86_NR_REGS];
	s8 cached[X86_NR_REGS]; /* register of the hit that this one holds unchanged, or -1 */
	u8 slots[JIT_NR_SLOTS];
	struct jit_slow *slow;
	struct jit_label label[];
};

/*
 * The description of an instruction for the stubs: pc, opcode, and for loads the register and
 * whether the value is to be sign-extended.
 */
enum {
	JIT_DESC_OP = 16,
	JIT_DESC_REG = 24,
	JIT_DESC_SIGN = 28,
	JIT_DESC_STACK = 29, /* rbp is the snippet's stack frame, to be left on an error */
	JIT_DESC_BLOCK = 30, /* two more words have been pushed */
};

#endif /* _GTP_JIT_INTERNAL_H */
