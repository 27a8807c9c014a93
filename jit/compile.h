/* SPDX-License-Identifier: GPL-2.0-only */
/* Inside the compiler: symbolic values, the state of one compilation, who emits what. */
#ifndef _GTP_COMPILE_H
#define _GTP_COMPILE_H

#include "jit/pad.h"
#include "jit/x86_emit.h"

/* Fixed roles in a snippet. Every other caller-saved register holds values. */
#define JIT_REGS X86_RDI /* struct gtp_regs *, the first argument */
#define JIT_ENV X86_RSI  /* struct ax_env *, the second */
#define JIT_RECORD X86_R11 /* with actions: env->frame; holds values otherwise */

enum {
	JIT_NR_ALLOC = 7, /* one less with actions */
	JIT_NR_JOIN = 5, /* values that a join keeps in registers */
	JIT_NR_SLOTS = AX_MAX_DEPTH + 4,
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
 * @imm: to be added; fits 32 bits but for JIT_CONST
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

/* struct jit_label - one byte of the expression; positions are offsets in the code */
struct jit_label {
	u32 est; /* pass 1: at least as far from every other as in the end */
	u32 pos; /* pass 2: where it will be */
	bool used;
};

/* struct jit_slow - an instruction that may have to leave the fast path */
struct jit_slow {
	u32 est, pos; /* where its slow code begins */
	u32 back;     /* where the fast code goes on */
	u16 pc;
	u8 op;
	u8 dst;     /* loads: register that receives the value */
	bool sign;  /* loads: the following ext is part of it */
	u8 base;    /* the address is register base + disp; X86_NO_REG: disp alone */
	s64 disp;
	bool block; /* a block's memory, copied as a whole */
	u32 len;    /* of that */
	u32 where;  /* in the trace frame */
	bool keep;  /* and it is wanted in @dst as well */
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
 * @req: what was asked for
 * @on: this is a pad; the rest is unused otherwise
 * @flags: the arithmetic flags must be put back
 * @read: machine registers that the condition reads
 * @touched: machine registers that code has been made to overwrite
 * @usable: machine registers that values may be in, as in the order of allocation
 * @wanted: machine registers that were touched by any try so far
 * @save: what is pushed, in this order
 * @pos: machine register: its place among the words pushed, from 1; 0: it is not pushed
 * @marker: a saved register in which the mark on the task is made; X86_NO_REG: there is none
 * @words: pushed in all, the flags and the slots included
 * @tail: where the ways out are
 */
struct jit_pad {
	struct gtp_pad_request req;
	bool on;
	bool flags;
	u16 read, touched, usable, wanted;
	u8 save[X86_NR_REGS];
	u8 pos[X86_NR_REGS];
	u8 marker;
	u32 nsave;
	u32 words;
	struct jit_label tail[JIT_NR_TAILS];
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
	bool stack_frame; /* found out in the first pass */
	bool alive;     /* the code being compiled can be reached */
	struct ax_insn insn; /* being compiled */
	u32 next;       /* pc of the one to be compiled after it */
	u32 depth;
	u32 held;       /* the topmost entries are operands of @insn: they keep their registers */
	u32 stack_met;   /* slots of the stack frame, as far as met */
	u32 stack_slots; /* the same, known since the first pass */
	u32 planned;     /* bytes of code */
	u32 nslow;
	bool calls;      /* there are calls on the fast path */
	bool unsuitable; /* as one snippet of actions */
	u32 item;        /* action being compiled, from 1 */
	u32 record_used;  /* bytes that actions have collected so far */
	u32 progress;    /* what an error has to say about that */
	u32 nalloc;
	struct jit_pad pad;
	struct jit_val stack[AX_MAX_DEPTH + 1];
	u8 order[JIT_NR_ALLOC];
	u8 regs[X86_NR_REGS];
	s8 cached[X86_NR_REGS]; /* register of the hit that this one holds unchanged, or -1 */
	u8 slots[JIT_NR_SLOTS];
	struct jit_slow *slow;
	struct jit_label label[];
};

/* values.c: the stack, registers, and getting values into them. Flags survive all of these. */

static inline struct jit_val *jit_arg(struct ax_jit *j, u32 from_top)
{
	return &j->stack[j->depth - 1 - from_top];
}

static inline bool jit_is_const(const struct jit_val *v)
{
	return v->where == JIT_CONST;
}

static inline bool jit_is_power_of_2(u64 v)
{
	return v && !(v & (v - 1));
}

static inline bool jit_fits32(s64 v)
{
	return v == (s32)v;
}

struct jit_val jit_const(u64 value);
struct jit_val jit_in_reg(enum x86_reg reg);
struct jit_val jit_hit_val(struct ax_jit *j, u32 n); /* the caller's reference */
void jit_push(struct ax_jit *j, struct jit_val v); /* takes over the reference */
void jit_pop(struct ax_jit *j);
void jit_set(struct ax_jit *j, struct jit_val *v, struct jit_val to); /* releases the old one */
void jit_set_const(struct ax_jit *j, struct jit_val *v, u64 value);
void jit_know(struct jit_val *v, u32 zbits, u32 sbits);
void jit_ref(struct ax_jit *j, const struct jit_val *v);
void jit_unref_reg(struct ax_jit *j, enum x86_reg reg);

enum x86_reg jit_alloc(struct ax_jit *j);              /* a register, held by the caller */
void jit_claim(struct ax_jit *j, enum x86_reg reg);    /* this register, held by the caller */
void jit_move(struct ax_jit *j, enum x86_reg dst, const struct jit_val *v); /* only emits */
void jit_force(struct ax_jit *j, struct jit_val *v);   /* now a whole register, perhaps shared */
void jit_force_base(struct ax_jit *j, struct jit_val *v); /* the same, but keeps @imm apart */
enum x86_reg jit_own(struct ax_jit *j, struct jit_val *v); /* a whole register, not shared */
void jit_own_in(struct ax_jit *j, struct jit_val *v, enum x86_reg reg); /* this register */
enum x86_reg jit_own_low(struct ax_jit *j, struct jit_val *v); /* only its low 32 bits matter */
void jit_force_low(struct ax_jit *j, struct jit_val *v);
void jit_spill_all(struct ax_jit *j);                  /* before a call */
void jit_forget_cached(struct ax_jit *j);
void jit_canonical(struct ax_jit *j);                  /* as joins want it */
void jit_after_join(struct ax_jit *j, u32 depth);      /* what is known behind one */
struct x86_mem jit_slot(const struct ax_jit *j, u32 slot);
struct x86_mem jit_hit(const struct ax_jit *j, const struct jit_val *v);
enum x86_reg jit_cached(const struct ax_jit *j, u32 hit);

/* stubs.c */
void jit_return(const struct ax_jit_target *w, struct x86_buf *b, u64 base);

/* compile.c */
void jit_begin(struct ax_jit *j, const struct ax_jit_request *req);
void jit_begin_pass(struct ax_jit *j, enum jit_pass pass);
bool jit_is_near(const struct ax_jit *j, u32 est); /* from the instruction being compiled */
bool jit_peek(struct ax_jit *j, struct ax_insn *insn); /* the next, if nothing jumps to it */
bool jit_low_is_enough(struct ax_jit *j);              /* it only wants 32 bits */
void jit_expr(struct ax_jit *j, const struct ax_verified *v); /* of an action */
void jit_jcc_slow(struct ax_jit *j, enum x86_cc cc, u32 slow);
u32 jit_slow_add(struct ax_jit *j, struct jit_slow s);

/* pad_cond.c */
void jit_pad_cond_begin(struct ax_jit *j);
bool jit_pad_cond_choose(struct ax_jit *j);
void jit_pad_pin(struct ax_jit *j);
struct jit_val jit_pad_val(struct ax_jit *j, enum x86_reg reg);
enum x86_reg jit_pad_reg(u32 n);
struct x86_mem jit_pad_saved(const struct ax_jit *j, enum x86_reg reg);
void jit_pad_cond_enter(struct ax_jit *j);
void jit_pad_cond_unmark(struct ax_jit *j);
void jit_pad_cond_leave(struct ax_jit *j);
void jit_pad_cond_mark(struct ax_jit *j, enum jit_tail tail);
void jit_pad_cond_jcc(struct ax_jit *j, enum x86_cc cc, enum jit_tail tail);
void jit_pad_cond_end(struct ax_jit *j);

/* compile_mem.c */
void jit_take_address(struct ax_jit *j, struct jit_val *v, struct jit_load *l, u32 span);
bool jit_may_be_fast(const struct ax_jit *j, const struct jit_load *l, u32 span);
void jit_align_load(struct ax_jit *j, const struct jit_load *check, u32 span, u32 slow);
void jit_address(struct ax_jit *j, enum x86_reg dst, const struct jit_load *l);
void jit_jump_back(struct ax_jit *j, u32 to);
void jit_op_ref(struct ax_jit *j);
void jit_slow_paths(struct ax_jit *j);
u32 jit_desc(const struct ax_jit *j, u32 pc, u32 op, u32 reg, bool sign);

/* compile_alu.c */
void jit_op_arithmetic(struct ax_jit *j);
void jit_op_compare(struct ax_jit *j);
void jit_op_log_not(struct ax_jit *j);
void jit_op_bit_not(struct ax_jit *j);
void jit_op_extend(struct ax_jit *j);
enum x86_cc jit_test(struct ax_jit *j, struct jit_val *v); /* condition that says: not zero */

struct jit_val jit_flags(enum x86_cc cc); /* of a comparison that has just been made */

/* compile_fuse.c */
bool jit_fuse_compare(struct ax_jit *j, const struct jit_load *l);

/* compile_shift.c */
void jit_op_shift(struct ax_jit *j);
void jit_shift_const(struct ax_jit *j, enum ax_op op, struct jit_val *v, u64 count);

/* compile_div.c */
u32 jit_log2_up(u64 d);
void jit_op_divide(struct ax_jit *j);

/* compile_call.c */
void jit_call(struct ax_jit *j, enum ax_jit_stub stub);
void jit_op_getv(struct ax_jit *j);
void jit_op_setv(struct ax_jit *j);
void jit_op_tracev(struct ax_jit *j);
void jit_op_trace(struct ax_jit *j);
void jit_op_trace_short(struct ax_jit *j);
void jit_op_printf(struct ax_jit *j);

/* compile_frame.c */
void jit_actions(struct ax_jit *j);
u32 jit_record_size(const struct ax_jit *j);
void jit_record_mem(struct ax_jit *j, struct jit_val *addr, u64 len);
void jit_record_var(struct ax_jit *j, u32 tsv);
void jit_record_after_call(struct ax_jit *j);
void jit_record_progress(struct ax_jit *j, u32 progress);
void jit_slow_block(struct ax_jit *j, const struct jit_slow *s);

/*
 * What the stubs are told about the instruction: pc, opcode, and for loads the register and whether
 * the value is to be sign-extended.
 */
enum {
	JIT_DESC_OP = 16,
	JIT_DESC_REG = 24,
	JIT_DESC_SIGN = 28,
	JIT_DESC_STACK = 29, /* rbp is the snippet's stack frame, to be left on an error */
	JIT_DESC_BLOCK = 30,  /* two more words have been pushed */
};

#endif /* _GTP_COMPILE_H */
