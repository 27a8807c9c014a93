// SPDX-License-Identifier: GPL-2.0-only
/* An environment that runs jump pads, with real registers and flags, and pages that fault. */
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/fuzz/padmake.h"
#include "tests/fuzz/padworld.h"

enum {
	PAGE = 4096,
	MEM = 0x28000000,
	MEM_SIZE = AXGEN_PAGES * PAGE,
	ARENA = 4 << 20,
	NEAR_AT = 0xc0,
	FAR_AT = 0xa00,
};

static struct padworld world;
static u64 thunk;

/* The variables below are shared with the assembly. */
struct padworld_regs padworld_out;
struct padworld_hit padworld_seen;
u64 padworld_entry;
u64 padworld_back;
u8 padworld_landed;

/* clang-format off */
#define EACH(X, to)                                                                             \
	X(0, rax, to) X(1, rcx, to) X(2, rdx, to) X(3, rbx, to) X(4, rsp, to) X(5, rbp, to)     \
	X(6, rsi, to) X(7, rdi, to) X(8, r8, to) X(9, r9, to) X(10, r10, to) X(11, r11, to)     \
	X(12, r12, to) X(13, r13, to) X(14, r14, to) X(15, r15, to)
#define STORE(n, reg, to) "	mov	%" #reg ", " to "+8*" #n "(%rip)\n"

__asm__("	.text\n"
	"	.globl	padworld_enter, padworld_exit, padworld_pad_hit\n"
	"padworld_enter:\n"
	"	push	%rbx\n	push	%rbp\n	push	%r12\n	push	%r13\n	push	%r14\n	push	%r15\n"
	"	mov	%rsp, padworld_back(%rip)\n"
	"	pushq	8*16(%rdi)\n"
	"	popfq\n"
	"	mov	8*0(%rdi), %rax\n	mov	8*1(%rdi), %rcx\n	mov	8*2(%rdi), %rdx\n"
	"	mov	8*3(%rdi), %rbx\n	mov	8*4(%rdi), %rsp\n	mov	8*5(%rdi), %rbp\n"
	"	mov	8*6(%rdi), %rsi\n	mov	8*8(%rdi), %r8\n	mov	8*9(%rdi), %r9\n"
	"	mov	8*10(%rdi), %r10\n	mov	8*11(%rdi), %r11\n	mov	8*12(%rdi), %r12\n"
	"	mov	8*13(%rdi), %r13\n	mov	8*14(%rdi), %r14\n	mov	8*15(%rdi), %r15\n"
	"	mov	8*7(%rdi), %rdi\n"
	"	jmp	*padworld_entry(%rip)\n"
	"padworld_exit:\n"
	EACH(STORE, "padworld_out")
	"	mov	padworld_back(%rip), %rsp\n"
	"	pushfq\n"
	"	popq	padworld_out+8*16(%rip)\n"
	"	pushq	$0x202\n"
	"	popfq\n"
	"	pop	%r15\n	pop	%r14\n	pop	%r13\n	pop	%r12\n	pop	%rbp\n	pop	%rbx\n"
	"	ret\n"
	"padworld_pad_hit:\n"
	EACH(STORE, "padworld_seen")
	"	pushfq\n"
	"	popq	padworld_seen+8*16(%rip)\n"
	"	pushfq\n"
	"	mov	16(%rsp), %rax\n"
	"	mov	%rax, padworld_seen+8*17(%rip)\n"
	"	incq	padworld_seen+8*18(%rip)\n"
	"	popq	%rax\n"
	"	mov	%rax, 8(%rsp)\n"
	"	mov	padworld_seen(%rip), %rax\n"
	"	test	%rsp, %rsp\n" /* change flags, as a return thunk may */
	"	stc\n"
	"	ret\n"
);
/* clang-format on */

/* Write a landing: "mov byte [landed], id; jmp exit", which changes no register and no flag. */
static void write_landing(u32 at, u32 id)
{
	u64 base = (u64)(uintptr_t)world.place->exec + at;
	struct x86_buf b = { .p = world.place->write + at, .size = 32 };
	static const u8 opcode[] = { 0xc6, 0x05 };
	u8 imm = (u8)id;

	x86_bytes(&b, opcode, 2);
	x86_disp_far(&b, base, (u64)(uintptr_t)&padworld_landed, 1);
	x86_bytes(&b, &imm, 1);
	x86_jmp_far(&b, base, (u64)(uintptr_t)padworld_exit);
	if (b.failed) {
		fprintf(stderr, "padworld: the landings are out of reach\n");
		exit(1);
	}
}

static bool is_mapped(u64 addr, u64 n)
{
	u64 at = addr - MEM;

	if (addr >= PADWORLD_STACK && addr + n <= PADWORLD_STACK + PADWORLD_STACK_SIZE)
		return true;
	for (u64 i = 0; i < n; i++) {
		u64 page = (at + i) / PAGE;

		if (page >= AXGEN_PAGES || page == 1 || page == 4)
			return false;
	}
	return true;
}

static u8 *map(u64 addr, u64 size)
{
	void *p = mmap((void *)addr, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (p != (void *)addr) {
		perror("mmap");
		exit(1);
	}
	return p;
}

/* Write the return thunk, at the start of the pads' arena. */
static void write_thunk(void)
{
	struct jit_user *u = world.code;

	thunk = (u64)(uintptr_t)(u->exec + u->stubs);
	u->write[u->stubs] = 0xc3;
	u->stubs += AX_JIT_CODE_ALIGN;
	jit_user_reset(u);
}

/*
 * Return the target for which to compile. With an odd seed, it needs mitigations for mispredicted
 * returns and branches.
 */
static struct ax_jit_target target(const struct gtp_pad_request *req)
{
	struct ax_jit_target w = world.code->target;

	if (req->seed % 2) {
		w.return_thunk = thunk;
		w.upper_half = true;
		w.lfence = true;
	}
	return w;
}

enum { CONTEXTS = 0xf0ffff00, REGS_BEHIND = 0x3f58 };

static const struct ax_jit_var variables[PADWORLD_NR_VARS] = {
	[PADWORLD_CPU] = { .bytes = 4, .gs = (s32)offsetof(struct padtask, cpu) },
	[PADWORLD_CALLED] = { .bytes = 4, .moves = true },
	[PADWORLD_SELF] = { .bytes = 8, .gs = (s32)offsetof(struct padtask, self) },
	[PADWORLD_PID] = {
		.bytes = 4,
		.sign = true,
		.follow = 1,
		.gs = (s32)offsetof(struct padtask, self),
		.offset = (s32)offsetof(struct padtask, pid),
	},
	[PADWORLD_CONTEXTS] = {
		.bytes = 4,
		.less_entered = true,
		.gs = (s32)offsetof(struct padtask, contexts),
		.mask = CONTEXTS,
	},
	[PADWORLD_RING] = {
		.bytes = 4,
		.follow = 2,
		.gs = (s32)offsetof(struct padtask, self),
		.offset = (s32)offsetof(struct padtask, regs),
		.then = (s32)offsetof(struct padtask, ring),
		.mask = 1,
	},
	[PADWORLD_REGS] = {
		.bytes = 8,
		.follow = 1,
		.gs = (s32)offsetof(struct padtask, self),
		.offset = (s32)offsetof(struct padtask, regs),
		.add = REGS_BEHIND,
	},
};

static void setup(void)
{
	u8 *p = map(MEM, MEM_SIZE);

	for (u64 i = 0; i < MEM_SIZE; i++)
		p[i] = (u8)(i * 2654435761U >> 13);
	for (u64 i = 0; i < PAGE; i += 64)
		*(u64 *)(p + i) = MEM + (i * 7) % MEM_SIZE;
	memset(p + 100, 0, 4);
	mprotect(p + PAGE, PAGE, PROT_NONE);
	mprotect(p + 4 * PAGE, PAGE, PROT_NONE);
	map(PADWORLD_STACK, PADWORLD_STACK_SIZE);
	world.code = jit_user_new(ARENA, PADWORLD_LIMIT);
	world.code->target.pad_hit = (u64)(uintptr_t)padworld_pad_hit;
	world.code->target.lahf = true;
	world.code->target.task_faults = (s32)offsetof(struct padtask, faults);
	world.code->target.var = variables;
	world.code->target.nvars = PADWORLD_NR_VARS;
	write_thunk();
	world.task.cpu = 0xfffffffe;
	world.task.pid = -5;
	world.task.self = (u64)(uintptr_t)&world.task;
	world.task.regs = world.task.self;
	world.task.ring = 0x33;
	world.task.contexts = 0x80230102;
	jit_user_set_gs(&world.task);
	world.place = jit_user_new(PAGE, 0);
	memset(world.place->write, 0xcc, PAGE);
	/*
	 * The page is writable, because it also contains the rip-relative data of the original
	 * code.
	 */
	if (mprotect((void *)world.place->exec, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC)) {
		perror("mprotect");
		exit(1);
	}
	write_landing(NEAR_AT, PADWORLD_NEAR);
	write_landing(FAR_AT, PADWORLD_FAR);
}

struct padworld *padworld(void)
{
	if (!world.code)
		setup();
	return &world;
}

u64 padworld_at(void)
{
	return (u64)(uintptr_t)padworld()->place->exec + PADWORLD_AT;
}

u64 padworld_landing(u32 id)
{
	return (u64)(uintptr_t)padworld()->place->exec + (id == PADWORLD_NEAR ? NEAR_AT : FAR_AT);
}

void padworld_put(const u8 *bytes, u32 len)
{
	memcpy(padworld()->place->write + PADWORLD_AT, bytes, len);
	write_landing(PADWORLD_AT + len, PADWORLD_BEHIND);
}

u8 *padworld_data(void)
{
	return padworld()->place->write + PADWORLD_DATA;
}

u32 padworld_run(struct padworld_regs *regs, u64 entry, struct padworld_hit *hit)
{
	memset(&padworld_seen, 0, sizeof(padworld_seen));
	padworld_landed = 0;
	padworld_entry = entry;
	padworld_enter(regs);
	*regs = padworld_out;
	*hit = padworld_seen;
	hit->regs.gpr[X86_RSP] += 16;
	return padworld_landed;
}

const u8 padworld_ways[GTP_TSV_MAX] = {
	[PADWORLD_TASKS] = AX_TSV_TASK,
	[PADWORLD_TASKS + 1] = AX_TSV_TASK,
};

static u32 *used_words(void)
{
	return (u32 *)(uintptr_t)world.code->target.tasks_used;
}

u32 *padworld_used(void)
{
	return &used_words()[gtp_tasks_bucket(world.task.self)];
}

/*
 * The counts are in the lower 2 GiB or not, which takes other code. Only the count of the running
 * task's bucket may be 0.
 */
static void choose_used(struct axgen *g)
{
	bool low = axgen_pick(g, 2);

	world.code->target.tasks_used =
		(u64)(uintptr_t)(low ? padtask_low()->used : gtp_tasks_used);
	if (!used_words()[0])
		for (u32 i = 0; i < GTP_TASKS_BUCKETS; i++)
			used_words()[i] = 1;
	*padworld_used() = axgen_pick(g, 3) ? 0 : 1 + axgen_pick(g, 5);
}

void padworld_choose_task(struct axgen *g)
{
	struct padworld *w = padworld();

	w->code->target.task = axgen_pick(g, 4) ? (s32)offsetof(struct padtask, self) : 0;
	w->task.faults = axgen_pick(g, 3);
	if (!axgen_pick(g, 8))
		w->task.faults += AX_JIT_MARK;
	choose_used(g);
}

u64 padworld_make(struct gtp_pad_request *req, u32 *len)
{
	struct ax_jit_target w = target(req);
	u64 at;

	req->target = &w;
	at = padmake(padworld()->code, req, len);
	req->target = NULL;
	return at;
}

static int op_read(void *ctx, void *dst, u64 addr, u32 len)
{
	struct padworld_read *r = ctx;
	u64 low = (s64)addr < 0 ? addr & 0x7fffffffff : addr;

	if (addr >= PADWORLD_LIMIT - 8)
		r->careful = true;
	if (!is_mapped(low, len))
		return -EFAULT;
	if (low >= PADWORLD_STACK && low < r->rsp)
		r->below = true;
	memcpy(dst, (const void *)low, len);
	return 0;
}

/*
 * If a task of the bucket has a value, the pad leaves the hit to C at the first variable of tasks.
 */
static s64 get_task(struct padworld_read *r)
{
	r->careful |= *padworld_used() != 0;
	return 0;
}

/* A pad sets nothing: it leaves the hit to C. */
static void op_setv(void *ctx, u16 tsv, s64 value)
{
	((struct padworld_read *)ctx)->careful = true;
}

static s64 op_getv(void *ctx, u16 tsv)
{
	switch (tsv) {
	case PADWORLD_TASKS:
	case PADWORLD_TASKS + 1:
		return get_task(ctx);
	case PADWORLD_CPU:
	case PADWORLD_CALLED: /* has the same value as PADWORLD_CPU; pads read it only for frames */
		return world.task.cpu;
	case PADWORLD_SELF:
		return (s64)world.task.self;
	case PADWORLD_CONTEXTS:
		return world.task.contexts & CONTEXTS;
	case PADWORLD_RING:
		return world.task.ring & 1;
	case PADWORLD_REGS:
		return (s64)world.task.regs + REGS_BEHIND;
	default:
		return world.task.pid;
	}
}

const struct ax_ops padworld_ops = { .read = op_read, .getv = op_getv, .setv = op_setv };

void padworld_gtp_regs(struct gtp_regs *to, const struct padworld_regs *from)
{
	/* Indexed by GDB's register numbers, whose first eight differ from the processor's. */
	static const u8 reg[] = { 0, 3, 1, 2, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15 };

	memset(to, 0, sizeof(*to));
	for (u32 n = 0; n < X86_NR_REGS; n++)
		*(u64 *)((char *)to + gtp_regs_offset(n)) = from->gpr[reg[n]];
	to->eflags = from->flags;
}

void padworld_pages(struct axgen *g)
{
	for (u32 i = 0; i < AXGEN_PAGES; i++)
		g->page[i] = MEM + i * PAGE;
	g->alias = 0xffff888000000000;
	g->tsv = PADWORLD_CPU;
	g->builtin = PADWORLD_CONTEXTS;
	g->nbuiltin = PADWORLD_NR_VARS - PADWORLD_CONTEXTS;
}
