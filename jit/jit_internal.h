/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of one compilation. Only the compiler's own files include this header. */
#ifndef _GTP_JIT_INTERNAL_H
#define _GTP_JIT_INTERNAL_H

#include "jit/jit.h"
#include "jit/x86_emit.h"

struct gtp_pad_chain;
struct gtp_pad_frame;
struct gtp_region;

/* Registers with a fixed role in a snippet. All other caller-saved registers hold values. */
#define JIT_REGS X86_RDI   /* struct gtp_regs *, the first argument */
#define JIT_ENV X86_RSI	   /* struct ax_env *, the second */
#define JIT_RECORD X86_R11 /* in a snippet of actions: env->frame; otherwise it holds values */
#define JIT_CPU X86_R10	   /* in a pad that writes a frame: the struct gtp_cpu */

enum {
	JIT_NR_ALLOC = 7, /* registers that can hold values; one less in a snippet of actions */
	JIT_NR_JOIN = 5,  /* number of values that a join keeps in registers */
	JIT_NR_SLOTS = AX_MAX_DEPTH + 4,
	JIT_STRING_MAX = 64, /* bytes of a string that a pad records; C records longer strings */
};

/* The location of a value that the bytecode has on its stack. */
enum jit_where {
	JIT_CONST, /* a constant: @imm */
	JIT_HIT,   /* register @loc (GDB's number) of the hit, plus @imm */
	JIT_REG,   /* machine register @loc, plus @imm */
	JIT_SLOT,  /* word @loc of the stack frame, plus @imm */
	JIT_FLAGS, /* 1 if condition code @loc holds, else 0; only on top of the stack */
};

/**
 * struct jit_val - one value of the expression's stack, which may not be fully computed yet
 * @where: enum jit_where
 * @loc: the register, slot or condition code that @where names
 * @bits: 64; or 8, 16, 32: the value is the extension of this many low bits of @loc, and @imm is 0
 * @sign: sign-extend these bits; otherwise zero-extend them
 * @zbits: the value is known to be less than 2^zbits
 * @sbits: the value is known to equal its low sbits bits, sign-extended
 * @imm: constant to add; fits 32 bits except for JIT_CONST
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

/* struct jit_place - the offset of code to which a jump leads */
struct jit_place {
	u32 est; /* from pass 1; distances between these are never too small */
	u32 pos; /* from pass 2: the final offset */
};

/* struct jit_label - the code for one byte of bytecode; @used: a jump leads to that byte */
struct jit_label {
	struct jit_place at;
	bool used;
};

struct ax_jit;

/* struct jit_slow - the slow code of an instruction whose fast code may fail */
struct jit_slow {
	struct jit_place at; /* start of the slow code */
	u32 back;	     /* where the fast code goes on */
	u16 pc;
	u8 op;
	u8 dst;	   /* loads: the register that receives the value */
	bool sign; /* loads: sign-extend, because the load includes the following ext */
	u8 base;   /* the address is register base + disp; X86_NO_REG: disp alone */
	s64 disp;
	bool block;   /* the slow code copies a whole block of memory */
	u32 len;      /* with @block: its number of bytes */
	u32 where;    /* with @block: its offset in the trace frame */
	bool keep;    /* with @block: load it into @dst as well */
	u32 progress; /* see struct ax_env */
	/* not NULL: emits this slow code, for the variable @tsv */
	void (*emit)(struct ax_jit *j, const struct jit_slow *s);
	u16 tsv;
};

/* struct jit_load - an access to memory: @bytes at register @base + @disp, or @disp alone */
struct jit_load {
	u8 bytes;
	bool sign;
	u8 dst;
	u8 base; /* X86_NO_REG: none */
	s64 disp;
};

/* The exits of a pad's condition: it is false, it holds, or it was not evaluated. */
enum jit_tail {
	JIT_FALSE,
	JIT_HELD,
	JIT_PUNT,
	JIT_NESTED, /* like JIT_PUNT, before AX_JIT_MARK is added to the task */
	JIT_NR_TAILS,
};

/**
 * struct jit_pad - the compilation of a pad's condition or frame, which use the machine's registers
 * as the hit's
 * @on: true if a pad's condition or frame is compiled; otherwise the members after @open are unused
 * @region: the displaced instructions; NULL: the probed place calls the pad
 * @number: the number that pad_hit receives
 * @keep_flags: true if pad_hit needs the hit's arithmetic flags
 * @copies: receives the offsets of the displaced instructions' copies, or NULL
 * @held, @open: addresses to go to instead of calling pad_hit, see struct gtp_pad_request
 * @gates: the gates through which the pad calls the rest of the function, or NULL
 * @chain: the pad's place in a chain, see struct gtp_pad_request
 * @frame: the frame to write, see pad/frame.c; NULL: this is a condition
 * @flags: true if the pad must restore the arithmetic flags
 * @read: machine registers that the condition reads
 * @touched: machine registers that the code overwrites
 * @usable: machine registers that may hold values
 * @wanted: machine registers that the code of any try so far has overwritten
 * @cs, @ss: in a frame: the values to record for cs and ss
 * @fixed: in a frame: pushed registers that have a fixed role
 * @save: the registers to push, in this order
 * @pos: for each machine register its position among the pushed words, counted from 1; 0: not
 *	pushed
 * @marker: the pushed register that is used to add AX_JIT_MARK to the task; X86_NO_REG: none
 * @nsave: the number of entries in @save
 * @words: the number of all pushed words, flags and slots included
 * @tail: the exits of the condition, indexed by enum jit_tail
 * @has_string: in a frame: true if it has a string, whose length is known only at the hit
 * @string_end: the code that runs when the string's length is known
 * @bytes: in a frame: its size without the string, as found by the previous pass
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
	JIT_PLACE,    /* short jumps if the estimate allows */
	JIT_WRITE,
};

/**
 * struct ax_jit - the state of one compilation
 *
 * @regs and @slots count the references to each register and slot: the stack entries whose value is
 * there, and the emitters that use it at present. Code may overwrite a register only if it holds
 * the only reference.
 */
struct ax_jit {
	struct x86_buf b;
	struct ax_jit_request req;
	const struct ax_verified *v;
	u64 base;
	enum jit_pass pass;
	void (*run_pass)(struct ax_jit *j, enum jit_pass pass);
	bool alive;	     /* control can reach the code being compiled */
	struct ax_insn insn; /* the instruction being compiled */
	u32 next;	     /* pc of the instruction to compile next */
	u32 depth;
	u32 held;	  /* the number of topmost values that are operands of @insn: not spilled */
	bool stack_frame; /* there is a frame, with rbp; decided by the first pass */
	u32 stack_met;	  /* slots of the stack frame used so far */
	u32 stack_slots;  /* the number of slots to reserve, from the first pass */
	u32 planned;	  /* number of bytes of code */
	u32 nslow;
	bool calls;	 /* the fast path has calls */
	bool records;	 /* actions collect data; decided by the first pass */
	bool ends_pair;	 /* actions may leave the snippet before they have collected all */
	bool unsuitable; /* one snippet or pad cannot do all of this */
	u32 item;	 /* action being compiled, from 1 */
	u32 record_used; /* bytes that actions have collected so far */
	u32 progress;	 /* the progress that an error reports */
	u32 nalloc;
	struct jit_pad pad;
	struct ax_jit *frame; /* in a pad: the separate compilation of its frame; NULL: none */
	struct jit_val stack[AX_MAX_DEPTH + 1];
	u8 order[JIT_NR_ALLOC];
	u8 regs[X86_NR_REGS];
	s8 cached[X86_NR_REGS]; /* for each register: the hit's register that it holds, or -1 */
	u8 slots[JIT_NR_SLOTS];
	struct jit_slow *slow;
	struct jit_label label[];
};

/*
 * The bits of the word that describes an instruction for the stubs: the pc in the low 16 bits, the
 * opcode, a load's destination register, whether the load sign-extends, and two flags.
 */
enum {
	JIT_DESC_OP = 16,
	JIT_DESC_REG = 24,
	JIT_DESC_SIGN = 28,
	JIT_DESC_STACK = 29, /* the snippet has a stack frame, which an error must leave */
	JIT_DESC_BLOCK = 30, /* the snippet has pushed two more words */
};

#endif /* _GTP_JIT_INTERNAL_H */
