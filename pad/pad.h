/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Jump pads. A pad evaluates the condition on live registers, calls C at a hit, and runs the
 * displaced instructions.
 */
#ifndef _GTP_PAD_H
#define _GTP_PAD_H

#include "pad/request.h"

/*
 * A jmp leads here from the probed place, with all registers as they were there. Then
 *
 *	condition, if one can be evaluated here	   if it is false: to "displaced"
 *	frame, if one can be written here	   if it is written: to "displaced"
 *	push $number; call target->pad_hit; popfq  keeps registers; flags replace the number
 *   displaced:
 *	the instructions that the jump replaced; jmp to the instruction after them
 *
 * At a function's entry a call may lead here instead (ftrace's direct call): nothing is displaced,
 * and the pad ends with a return. The hit's rsp is then 8 more than the value of rsp in the pad.
 * The arithmetic flags may change, as in any call.
 *
 * The pad evaluates a condition that consists of registers, constants, memory and arithmetic. The
 * evaluation is completed only if all loads are fast ones that succeed. In every other case (an
 * address at or above the limit, a fault, a division by zero) control goes to pad_hit with another
 * number, and C evaluates the condition again and reports the error. A condition has no side
 * effects, so evaluating it twice does no harm.
 *
 * With @frame the pad also writes the frame if the condition holds, as hit/hit.h does for the
 * simplest hits. In every other case the pad has no effect and goes to pad_hit; see pad/frame.c.
 *
 * With @gates the pad may call the rest of the function, so that the function returns to the gate.
 * pad_hit decides by the flags that it leaves in the number's place: with neither carry nor zero
 * the pad goes on as above, otherwise control goes to a gate, which calls the displaced
 * instructions.
 *
 * With @chain the place has several tracepoints, and a pad for each. A pad that handles its
 * tracepoint goes on to the next pad. If a pad goes to pad_hit, pad_hit handles all remaining
 * tracepoints, and control then goes to the displaced instructions in the last pad.
 *
 * A pad may run in any context, may nest, and uses the interrupted code's stack. A task may be
 * preempted in it, so overwrite or free it only after synchronize_rcu_tasks(). A displaced call
 * pushes the return address that the original would have pushed, so no task that sleeps in the
 * callee returns to a pad.
 */

/*
 * The pad pushes @number << 1 for pad_hit, plus this bit if the condition is true. Without the bit,
 * the condition, if there is one, has not been evaluated yet.
 */
enum { GTP_PAD_HELD = 1 };

/*
 * gtp_pad_can - true if a pad can evaluate the condition on live registers: it must consist only of
 * registers up to rip, memory, arithmetic, and variables that need no call and do not depend on the
 * CPU. @ways: as in struct gtp_pad_request
 */
bool gtp_pad_can(const struct ax_verified *cond, const struct ax_jit_target *target,
		 const u8 *ways);

/* gtp_pad_work_size - return the memory for compiling a pad, like ax_jit_work_size() */
size_t gtp_pad_work_size(const struct gtp_pad_request *req);

/**
 * gtp_pad_plan() - plan a pad: decide everything except the bytes of its code
 * @work: gtp_pad_work_size() bytes
 * @req: the request; the struct is copied, the data it points to is not
 *
 * A condition takes at most some 300 bytes of the interrupted code's stack, mostly 16.
 *
 * Context: any; allocates nothing.
 * Return: the bytes of code that ax_jit_emit() will write; 0 if a pad cannot write the frame or
 * evaluate the condition (ask again without it), or cannot move an instruction of the region.
 */
u32 gtp_pad_plan(struct ax_jit *work, const struct gtp_pad_request *req);

#endif /* _GTP_PAD_H */
