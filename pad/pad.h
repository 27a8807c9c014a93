/* SPDX-License-Identifier: GPL-2.0-only */
/* The pad of a jump: the condition on live registers, the call to C, the displaced instructions. */
#ifndef _GTP_PAD_H
#define _GTP_PAD_H

#include "pad/request.h"

/*
 * Control comes by a jmp from the probed place, with everything as it was there. Then
 *
 *	condition, if one can be evaluated here	  false: to "displaced"
 *	push $number; call target->pad_hit; popfq  registers survive it; the number becomes flags
 *   displaced:
 *	the instructions that the jump replaced; jmp behind them
 *
 * At a function's entry control comes by a call instead (ftrace's direct call): nothing is
 * displaced, and it ends with a return. The hit's rsp is then 8 more than the machine's. The
 * arithmetic flags may change, as in any call.
 *
 * A condition is evaluated here when it is made of registers, constants, memory and arithmetic. It
 * is evaluated to the end only when all its loads are fast ones that succeed; in every other case
 * (an address at or above the limit, a fault, a division by zero) control goes to pad_hit with
 * another number, and C code evaluates the condition again and reports what is wrong. A condition
 * has no side effects, so evaluating it twice does no harm.
 *
 * With @frame the pad also writes the frame when the condition holds, as hit/hit.h does it for the
 * plainest of hits. In every other case it leaves nothing behind and goes to pad_hit, as if it had
 * not tried; see pad/frame.c.
 *
 * With @gates the pad may call the rest of the function, to be there when it returns. pad_hit then
 * chooses by the flags that it leaves in the number's place: without carry and zero all goes on as
 * above; else control goes to a gate, which calls the displaced instructions.
 *
 * With @chain the place has several tracepoints, and a pad for each. Those in front of the last go
 * on to the next one's; where one goes to pad_hit, that does what is left for all of them, and what
 * comes then are the displaced instructions in the last one.
 *
 * The pad is entered in any context, nests, and lives on the interrupted code's stack. Nothing in
 * it may be overwritten or freed while a task may be preempted inside: synchronize_rcu_tasks().
 * A displaced call pushes the original's return address, so no sleeping task returns to a pad.
 */

/*
 * The word that pad_hit finds pushed: @number << 1, plus this if a condition has held.
 * Without it the condition is still to be evaluated, if there is one.
 */
enum { GTP_PAD_HELD = 1 };

/*
 * gtp_pad_can - can the condition be evaluated on live registers? It must be made of nothing but
 * registers up to rip, memory, arithmetic, and variables that take no call and stay with the task.
 */
bool gtp_pad_can(const struct ax_verified *cond, const struct ax_jit_target *target);

/* gtp_pad_work_size - as ax_jit_work_size() */
size_t gtp_pad_work_size(const struct gtp_pad_request *req);

/**
 * gtp_pad_plan() - decide everything but the bytes
 * @work: gtp_pad_work_size() bytes
 * @req: what; copied, but not what it points to
 *
 * A condition takes at most some 300 bytes of the interrupted code's stack, mostly 16.
 *
 * Context: any; allocates nothing.
 * Return: the bytes of code that ax_jit_emit() will write; 0: the frame cannot be written here, or
 * the condition not evaluated (ask again without it), or an instruction of the region cannot be
 * moved.
 */
u32 gtp_pad_plan(struct ax_jit *work, const struct gtp_pad_request *req);

#endif /* _GTP_PAD_H */
