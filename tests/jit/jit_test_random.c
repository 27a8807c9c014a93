// SPDX-License-Identifier: GPL-2.0-only
/* Tests random programs that read kernel memory, and unmapped pages after it. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/vmalloc.h>

#include "kernel/base/mem_kernel.h"
#include "kernel/hit/access_kernel.h"
#include "kernel/jit/exec_kernel.h"
#include "tests/fuzz/jitacts.h"
#include "tests/jit/jit_test_parts.h"
#include "tracepoint/tsv.h"

enum { RANDOM_PC = 0x1234560 };

static int read_carefully(void *ctx, void *dst, u64 addr, u32 len)
{
	return gtp_access_read(NULL, dst, addr, len);
}

s64 jit_test_builtin(enum gtp_tsv_builtin which, u32 entered)
{
	switch (which) {
	case GTP_TSV_CPU_ID:
		return raw_smp_processor_id();
	case GTP_TSV_CURRENT_TASK:
		return (s64)current;
	case GTP_TSV_CURRENT_TASK_PID:
		return current->pid;
	case GTP_TSV_HARDIRQ_COUNT:
		return (u32)(preempt_count() - entered) & HARDIRQ_MASK;
	case GTP_TSV_SOFTIRQ_COUNT:
		return (u32)(preempt_count() - entered) & SOFTIRQ_MASK;
	case GTP_TSV_IRQ_COUNT:
		return (u32)(preempt_count() - entered) & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_MASK);
	case GTP_TSV_CURRENT_TASK_USER:
		return user_mode(task_pt_regs(current));
	case GTP_TSV_TASK_PT_REGS:
		return (s64)task_pt_regs(current);
	default:
		return 0;
	}
}

static s64 builtin(void *ctx, enum gtp_tsv_builtin which, u32 entered)
{
	return jit_test_builtin(which, entered);
}

static int compile(const struct ax_verified *v, struct axgen *g, ax_jit_fn *fn, u32 *len)
{
	*fn = jit_test_compile(v, NULL, RANDOM_PC, len);
	return *fn ? 0 : -ENOSPC;
}

static int request(struct ax_jit_request *req, struct axgen *g, ax_jit_fn *fn, u32 *frame_bytes)
{
	req->seed = axgen_pick(g, 14);
	return jit_test_request(req, fn, frame_bytes);
}

static void tell(const char *who, const struct jitdiff_run *r)
{
	pr_err("%s: returns %d, value 0x%llx, error %u at %u (0x%llx, 0x%llx), %u bytes\n", who,
	       r->ret, r->value, r->env.err.code, r->env.err.pc, r->env.err.arg, r->env.err.arg2,
	       r->len);
}

static void print_code(const u8 *code, u32 len)
{
	u32 i;

	for (i = 0; i < len; i += 32)
		pr_err("%*phN\n", (int)min(len - i, 32U), code + i);
}

static void differ(const struct jitdiff_case *c)
{
	u32 i;

	tell("interpreter", &c->interpreter);
	tell("compiler", &c->compiler);
	for (i = 0; i < GTP_NR_SAVED_REGS; i++)
		pr_err("reg %u = 0x%llx\n", i, gtp_regs_get(&c->regs, i));
	print_code(c->code, c->len);
}

static void complain(const char *what, const struct ax_jit_item *items, u32 nitems,
		     const struct gtp_regs *regs)
{
	const struct ax_jit_item *a;

	pr_err("a tracepoint of %u actions: %s\n", nitems, what);
	for (a = items; a < items + nitems; a++) {
		pr_err("kind %u, mask 0x%llx, base %d, 0x%llx, len %llu, %u bytes of bytecode\n",
		       a->kind, a->mask, a->base, a->offset, a->len, a->v ? a->v->len : 0);
		if (a->v)
			print_code(a->v->code, a->v->len);
	}
}

static const struct jitdiff_world world = {
	.read = read_carefully,
	.builtin = builtin,
	.compile = compile,
	.differ = differ,
	.request = request,
	.forget = gtp_jit_reset,
	.complain = complain,
	.pc = RANDOM_PC,
};

/* Fill memory. A vmalloc area is always followed by a page that is not mapped. */
static void fill(u8 *p, size_t n, u32 factor)
{
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = (u8)(i * factor >> 13);
	for (i = 0; i < n; i += 64)
		*(u64 *)(p + i) = (u64)p + i * 7 % n;
	memset(p + 100, 0, 4);
}

static u64 mix(u64 x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return (x ^ x >> 31) | 1;
}

static void print_stats(u32 programs)
{
	const struct jitacts_stats *a = &jitacts_stats;

	pr_info("%u random programs: %llu values, %llu faults, %llu divisions by zero\n", programs,
		jitdiff_stats.values, jitdiff_stats.errors[AX_E_BAD_ADDRESS],
		jitdiff_stats.errors[AX_E_DIVIDE_BY_ZERO]);
	pr_info("%llu random tracepoints, %llu of one snippet: %llu hits, %llu frames, %llu cut short\n",
		a->tracepoints, a->whole, a->hits, a->frames, a->partial);
}

static int run_one(struct axgen *g, struct jitacts *acts, u32 n)
{
	int err;

	g->rng = mix(n);
	g->tsv = JITDIFF_FIRST_TSV;
	g->plain = JITDIFF_PLAIN;
	g->builtin = JITDIFF_BUILTIN;
	g->nbuiltin = JITDIFF_NBUILTIN;
	axgen_make(g, 5 + axgen_pick(g, axgen_pick(g, 8) ? 40 : 250));
	err = jitdiff(&world, g->code, g->len, g);
	return err ? err : jitacts(acts, &world, g);
}

static int run_programs(struct axgen *g, struct jitacts *acts, u32 first, u32 programs)
{
	u32 n, tries;
	int err = 0;

	for (n = first; n < first + programs && !err; n++) {
		tries = 0;
		do
			err = run_one(g, acts, n);
		while (jit_test_again(err, &tries));
		cond_resched();
	}
	if (err)
		pr_err("random program %u: %d\n", n - 1, err);
	else
		print_stats(programs);
	return err;
}

int jit_test_random(u32 first, u32 programs)
{
	struct axgen *g = kvzalloc(sizeof(*g), GFP_KERNEL);
	struct jitacts *acts = kvzalloc(jitacts_size(), GFP_KERNEL);
	u8 *one = vmalloc(PAGE_SIZE), *two = vmalloc(2 * PAGE_SIZE);
	int err = -ENOMEM;

	if (g && acts && one && two) {
		fill(one, PAGE_SIZE, 2654435761U);
		fill(two, 2 * PAGE_SIZE, 2246822519U);
		g->page[0] = (u64)one;
		g->page[1] = (u64)one + PAGE_SIZE;
		g->page[2] = (u64)two;
		g->page[3] = (u64)two + PAGE_SIZE;
		g->page[4] = (u64)two + 2 * PAGE_SIZE;
		g->alias = 0xffff800000000000; /* a user address */
		err = run_programs(g, acts, first, programs);
		g->tsv = GTP_TSV_CPU_ID;
		g->plain = 0;
		if (!err)
			err = jit_test_pad(g, first, programs);
	}
	vfree(one);
	vfree(two);
	kvfree(acts);
	kvfree(g);
	return err;
}
