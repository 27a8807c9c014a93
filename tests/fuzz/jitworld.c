// SPDX-License-Identifier: GPL-2.0-only
/*
 * An environment for compiled code: memory with pages that fault, a GS segment with the running
 * task, and two arenas. Only code in the first arena may read memory, and $current_task and similar
 * variables, without a call.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "user/jit/exec_user.h"
#include "tests/fuzz/jitworld.h"
#include "tools/axasm.h"

enum {
	PAGE = 4096,
	MEM = 0x20000000, /* address of the memory, which code may read without a call */
	MEM_SIZE = AXGEN_PAGES * PAGE,
	LIMIT = 0x7fff0000,
	ARENA = 8 << 20,
};

#define HIT_PC 0xffffffff81234560ULL

static struct jit_user *fast, *careful;

static struct task {
	u64 self;
	s32 pid;
	u32 contexts;
	u64 regs;
	u32 ring;
} task = { .pid = -5, .contexts = 0x80230102, .ring = 0x33 };

enum {
	HARDIRQS = 0xf0000,
	SOFTIRQS = 0xff00,
	CONTEXTS = 0xf0ffff00,
	REGS_BEHIND = 0x3f58,
};

#define IN_GS(member) ((s32)offsetof(struct task, member))

static const struct ax_jit_var variables[] = {
	[GTP_TSV_CURRENT_TASK] = { .bytes = 8, .gs = (s32)offsetof(struct task, self) },
	[GTP_TSV_CURRENT_TASK_PID] = {
		.bytes = 4,
		.sign = true,
		.follow = 1,
		.gs = (s32)offsetof(struct task, self),
		.offset = (s32)offsetof(struct task, pid),
	},
	[GTP_TSV_HARDIRQ_COUNT] = { .bytes = 4, .gs = IN_GS(contexts), .mask = HARDIRQS },
	[GTP_TSV_SOFTIRQ_COUNT] = {
		.bytes = 4,
		.less_entered = true,
		.gs = IN_GS(contexts),
		.mask = SOFTIRQS,
	},
	[GTP_TSV_IRQ_COUNT] = {
		.bytes = 4,
		.less_entered = true,
		.gs = IN_GS(contexts),
		.mask = CONTEXTS,
	},
	[GTP_TSV_CURRENT_TASK_USER] = {
		.bytes = 4,
		.follow = 2,
		.gs = IN_GS(self),
		.offset = IN_GS(regs),
		.then = IN_GS(ring),
		.mask = 1,
	},
	[GTP_TSV_TASK_PT_REGS] = {
		.bytes = 8,
		.follow = 1,
		.gs = IN_GS(self),
		.offset = IN_GS(regs),
		.add = REGS_BEHIND,
	},
};

static s64 world_builtin(void *ctx, enum gtp_tsv_builtin which, u32 entered)
{
	switch (which) {
	case GTP_TSV_CURRENT_TASK:
		return (s64)task.self;
	case GTP_TSV_HARDIRQ_COUNT:
		return task.contexts & HARDIRQS;
	case GTP_TSV_SOFTIRQ_COUNT:
		return (task.contexts - entered) & SOFTIRQS;
	case GTP_TSV_IRQ_COUNT:
		return (task.contexts - entered) & CONTEXTS;
	case GTP_TSV_CURRENT_TASK_USER:
		return task.ring & 1;
	case GTP_TSV_TASK_PT_REGS:
		return (s64)task.regs + REGS_BEHIND;
	default:
		return task.pid;
	}
}

static void set_up_variables(struct ax_jit_target *target)
{
	task.self = (u64)(uintptr_t)&task;
	task.regs = task.self;
	target->var = variables;
	target->nvars = ARRAY_SIZE(variables);
	jit_user_set_gs(&task);
}

static u8 *const memory = (u8 *)MEM;

static bool is_mapped(u64 offset)
{
	return offset < MEM_SIZE && offset / PAGE != 1 && offset / PAGE != 4;
}

/*
 * One variable is per CPU. Compiled code reads and writes this variable without a call of getv or
 * setv.
 */
static const u8 ways[JITDIFF_TSVS] = { [JITDIFF_PLAIN + 1] = AX_TSV_LOCAL };

static void setup(void)
{
	u8 *p = mmap(memory, MEM_SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (p != memory || mprotect(p + PAGE, PAGE, PROT_NONE) ||
	    mprotect(p + 4 * PAGE, PAGE, PROT_NONE)) {
		perror("mmap");
		exit(1);
	}
	for (u64 i = 0; i < MEM_SIZE; i++)
		if (is_mapped(i))
			p[i] = (u8)(i * 2654435761U >> 13);
	/* Store some pointers that expressions can follow, and the end of a string. */
	for (u64 i = 0; i < PAGE; i += 64)
		*(u64 *)(p + i) = MEM + (i * 7) % MEM_SIZE;
	memset(p + 100, 0, 4);
	fast = jit_user_new(ARENA, LIMIT);
	careful = jit_user_new(ARENA, 0);
	careful->target.endbr = true;
	set_up_variables(&fast->target);
	fast->ways = ways;
	careful->ways = ways;
}

/*
 * Return the offset of an address in the memory. The callbacks that read memory accept also
 * addresses in the upper half.
 */
static u64 offset_of(u64 addr)
{
	if ((s64)addr < 0)
		addr &= 0x7fffffffff;
	return addr - MEM;
}

static int target_read(void *ctx, void *dst, u64 addr, u32 len)
{
	u8 *to = dst;

	for (u32 i = 0; i < len; i++) {
		u64 offset = offset_of(addr + i);

		if (!is_mapped(offset))
			return -EFAULT;
		to[i] = memory[offset];
	}
	return 0;
}

static int world_compile(const struct ax_verified *v, struct axgen *g, ax_jit_fn *fn, u32 *len)
{
	u32 seed = axgen_pick(g, 14);
	struct jit_user *u = axgen_pick(g, 4) ? fast : careful;

	*fn = jit_user_compile(u, v, HIT_PC, seed, len);
	if (*fn)
		return 0;
	jit_user_reset(u);
	*fn = jit_user_compile(u, v, HIT_PC, seed, len);
	return *fn ? 0 : -ENOSPC;
}

static int world_request(struct ax_jit_request *req, struct axgen *g, ax_jit_fn *fn,
			 u32 *frame_bytes)
{
	struct jit_user *u = axgen_pick(g, 4) ? fast : careful;
	u32 len;

	req->seed = axgen_pick(g, 14);
	*fn = jit_user_compile_request(u, req, &len, frame_bytes);
	if (*fn)
		return 0;
	return len ? -ENOSPC : -EOPNOTSUPP;
}

static void world_forget(void)
{
	if (fast->used > ARENA / 2)
		jit_user_reset(fast);
	if (careful->used > ARENA / 2)
		jit_user_reset(careful);
}

static void report(const char *who, const struct jitdiff_run *r)
{
	fprintf(stderr, "%s: returns %d, value 0x%llx, error %s at %u (0x%llx, 0x%llx), %u bytes\n",
		who, r->ret, r->value, ax_error_name(r->env.err.code), r->env.err.pc,
		r->env.err.arg, r->env.err.arg2, r->len);
}

static void world_differ(const struct jitdiff_case *c)
{
	fprintf(stderr, "interpreter and compiler differ\n");
	report("interpreter", &c->interpreter);
	report("compiler", &c->compiler);
	for (u32 i = 0; i < GTP_NR_SAVED_REGS; i++)
		fprintf(stderr, "reg %u = 0x%llx\n", i, gtp_regs_get(&c->regs, i));
	axasm_listing(c->code, c->len, NULL, stderr);
	for (u32 i = 0; i < c->len; i++)
		fprintf(stderr, "%02x", c->code[i]);
	fputc('\n', stderr);
	abort();
}

static void world_complain(const char *what, const struct ax_jit_item *items, u32 nitems,
			   const struct gtp_regs *regs)
{
	fprintf(stderr, "interpreter and compiler differ: %s\n", what);
	for (u32 i = 0; i < GTP_NR_SAVED_REGS; i++)
		fprintf(stderr, "reg %u = 0x%llx\n", i, gtp_regs_get(regs, i));
	for (u32 i = 0; i < nitems; i++) {
		const struct ax_jit_item *a = &items[i];

		fprintf(stderr, "action %u: %u, mask 0x%llx, base %d, 0x%llx, len %llu\n", i + 1,
			a->kind, a->mask, a->base, a->offset, a->len);
		if (a->v)
			axasm_listing(a->v->code, a->v->len, NULL, stderr);
	}
	abort();
}

const struct jitdiff_world *jitworld(struct axgen *g)
{
	static const struct jitdiff_world world = {
		.read = target_read,
		.builtin = world_builtin,
		.compile = world_compile,
		.differ = world_differ,
		.request = world_request,
		.forget = world_forget,
		.complain = world_complain,
		.pc = HIT_PC,
	};

	if (!fast)
		setup();
	for (u32 i = 0; i < AXGEN_PAGES; i++)
		g->page[i] = MEM + i * PAGE;
	g->alias = 0xffff888000000000;
	g->tsv = JITDIFF_FIRST_TSV;
	g->plain = JITDIFF_PLAIN;
	g->builtin = JITDIFF_BUILTIN;
	g->nbuiltin = JITDIFF_NBUILTIN;
	return &world;
}
