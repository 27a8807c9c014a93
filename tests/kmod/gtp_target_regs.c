// SPDX-License-Identifier: GPL-2.0-only
/* Makes calls with known values in all registers, which a hit must show and must not change. */
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <asm/fpu/api.h>
#include <asm/processor-flags.h>

#include "gtp_target.h"
#include "gtp_target_event.h"

enum {
	RBX = 3,
	RSP = 4,
	RBP = 5,
	RDI = 7,
	R12 = 12,
	R15 = 15,
	GPRS = 16,
	XMM_WORDS = 32,
	DEEP = 8, /* nested calls for "deep", each with more than 1024 bytes of stack */
};

/*
 * The number that value() gets for the first register of each set. The tests use the same numbers.
 */
enum { IN = 0, BACK = 32, IN_XMM = 64 };

/* struct gtp_target_regs - registers in the processor's order, for gtp_target_regs_load.S, too */
struct gtp_target_regs {
	u64 gpr[GPRS];
	u64 flags;
	u64 xmm[XMM_WORDS];
};

/*
 * The registers of a call. _in has the values before the call, _seen those inside the function,
 * _back those with which the function returns, _after those after the return.
 */
struct gtp_target_regs gtp_target_regs_in, gtp_target_regs_seen, gtp_target_regs_back,
	gtp_target_regs_after;
void *gtp_target_regs_to;

static const u64 status = X86_EFLAGS_CF | X86_EFLAGS_PF | X86_EFLAGS_AF | X86_EFLAGS_ZF |
			  X86_EFLAGS_SF | X86_EFLAGS_OF;

/*
 * Has a site of the function tracer, and jumps to the next function with all registers unchanged.
 */
GTP_TARGET_FN long gtp_target_regs(long a, long b, long c, long d, long e, long f)
{
	return gtp_target_regs_seen_by(a, b, c, d, e, f);
}

static u64 value(u32 seed, u32 n)
{
	return (seed * 256ULL + n + 1) * 0x9e3779b97f4a7c15ULL;
}

static void fill(struct gtp_target_regs *r, u32 seed, u32 from, u64 mask)
{
	u32 i;

	for (i = 0; i < GPRS; i++)
		r->gpr[i] = value(seed, from + i);
	r->flags = X86_EFLAGS_FIXED | X86_EFLAGS_IF | (value(seed, from + GPRS) & mask);
	for (i = 0; i < XMM_WORDS; i++)
		r->xmm[i] = value(seed, IN_XMM + i);
}

/*
 * Return the differences, as bits. Bits 0 to 15: general registers; 16: the flags; 17 and higher:
 * xmm registers.
 */
static u64 differing(const struct gtp_target_regs *a, const struct gtp_target_regs *b)
{
	u64 mask = 0;
	u32 i;

	for (i = 0; i < GPRS; i++)
		mask |= (u64)(i != RSP && a->gpr[i] != b->gpr[i]) << i;
	mask |= (u64)(a->flags != b->flags) << GPRS;
	for (i = 0; i < XMM_WORDS; i++)
		mask |= (u64)(a->xmm[i] != b->xmm[i]) << (GPRS + 1 + i / 2);
	return mask;
}

static noinline void enter_deep(u32 depth)
{
	char room[1024];

	memset(room, (int)depth, sizeof(room));
	asm volatile("" : : "r"(room) : "memory");
	if (depth)
		enter_deep(depth - 1);
	else
		gtp_target_regs_enter();
	asm volatile("" : : "r"(room) : "memory");
}

/* Prepare to call the first probe of tracepoint gtp_target_count in the same way as the kernel. */
static int aim_at_event(void)
{
	const struct tracepoint_func *first =
		rcu_dereference_sched(__tracepoint_gtp_target_count.funcs);

	if (!first)
		return -ENOENT;
	gtp_target_regs_to = first->func;
	gtp_target_regs_in.gpr[RDI] = (u64)first->data;
	return 0;
}

static int aim(u32 seed, const char *where)
{
	const u64 any = status | X86_EFLAGS_DF | X86_EFLAGS_AC;
	bool body = !strcmp(where, "body");

	fill(&gtp_target_regs_in, seed, IN, body ? any : status);
	fill(&gtp_target_regs_back, seed, BACK, status);
	gtp_target_regs_to = body ? (void *)gtp_target_regs_body : gtp_target_regs;
	if (!strcmp(where, "event"))
		return aim_at_event();
	return body || !strcmp(where, "entry") || !strcmp(where, "deep") ? 0 : -EINVAL;
}

/*
 * kernel_fpu_begin() keeps other code from using the xmm registers, and other tasks from running on
 * this CPU.
 */
int gtp_target_regs_call(u32 seed, const char *where)
{
	int err;

	kernel_fpu_begin();
	err = aim(seed, where);
	if (!err) {
		gtp_target_count(GTP_TARGET_COUNT_regs);
		if (strcmp(where, "deep"))
			gtp_target_regs_enter();
		else
			enter_deep(DEEP);
	}
	kernel_fpu_end();
	return err;
}

u64 gtp_target_regs_wrong_inside(void)
{
	struct gtp_target_regs wanted = gtp_target_regs_in;

	memset(wanted.xmm, 0, sizeof(wanted.xmm)); /* the function does not record xmm registers */
	return differing(&gtp_target_regs_seen, &wanted);
}

/* Preserved registers must be unchanged; scratch registers must be as the function left them. */
u64 gtp_target_regs_wrong_after(void)
{
	struct gtp_target_regs wanted = gtp_target_regs_back; /* xmm: the same values as in _in */
	u32 i;

	for (i = RBX; i <= R15; i++)
		if (i == RBX || i == RBP || i >= R12)
			wanted.gpr[i] = gtp_target_regs_in.gpr[i];
	return differing(&gtp_target_regs_after, &wanted);
}

u64 gtp_target_regs_rsp(void)
{
	return gtp_target_regs_in.gpr[RSP];
}
