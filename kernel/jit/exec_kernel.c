// SPDX-License-Identifier: GPL-2.0-only
/*
 * Executable memory in the kernel for snippets (compiled expressions) and jump pads.
 *
 * The arena is part of the module's own text: mapped executable and never writable, in reach of
 * direct calls to the module and the kernel, and with exception table entries (see arena.S). The
 * arena is written through a second mapping of its pages, which is never executable, and which is
 * removed after the write.
 */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>
#include <asm/sync_core.h>
#include <asm/text-patching.h>
#include <asm/vsyscall.h>

#include "base/compat.h"
#include "kernel/base/mem_kernel.h"
#include "kernel/jit/arena.h"
#include "kernel/jit/exec_kernel.h"
#include "tracepoint/tsv.h"

extern u8 gtp_jit_arena[GTP_JIT_ARENA], gtp_jit_returns[GTP_JIT_LINE];

enum {
	SNIPPETS = GTP_JIT_ARENA - GTP_JIT_PAD_BYTES, /* bytes, at the arena's beginning */
	PAD_UNITS = GTP_JIT_PAD_BYTES / AX_JIT_CODE_ALIGN,
};

static struct {
	struct ax_jit_target target;
	u32 begin;    /* offset of the end of the common stubs */
	u32 used;     /* bytes in use, the stubs included */
	u8 *writable; /* the second mapping; NULL: the arena is closed */
	bool ready;
} arena;

static DECLARE_BITMAP(pads, PAD_UNITS);
static DECLARE_BITMAP(freed, PAD_UNITS); /* also set in @pads: freed, but not yet wiped */
static u32 pad_units;			 /* the number of bits set in pads */

/* Return the target of the sample return at @offset if it is a jump; 0 if it is a plain return. */
static u64 return_at(u32 offset)
{
	const u8 *p = gtp_jit_returns;

	OPTIMIZER_HIDE_VAR(p); /* keep objtool from seeing addresses inside functions */
	p += offset;
	if (p[0] != 0xe9) /* jmp rel32 */
		return 0;
	return (u64)(p + 5) + (u64)(s64)(s32)gtp_get_le(p + 1, 4);
}

/*
 * Find out which form returns and indirect branches in generated code must have. Processors with
 * ITS (indirect target selection) are safe if such a branch ends in the upper half of a cache line,
 * and the kernel leaves such a branch plain. Generated code may be at any address, so its returns
 * use the thunk if any return of the kernel does.
 */
static void describe_branches(struct ax_jit_target *w)
{
	u64 lower = return_at(GTP_JIT_RETURN_LOWER), upper = return_at(GTP_JIT_RETURN_UPPER);

	w->return_thunk = lower ? lower : upper;
	w->upper_half = lower != upper || gtp_its_branches();
	w->lfence = boot_cpu_has(X86_FEATURE_RETPOLINE_LFENCE);
}

/*
 * Fill freed pads with int3: a task that still reaches one must trap, and not execute the rest of
 * the pad.
 */
static void wipe_freed(void)
{
	u8 *at = arena.writable + SNIPPETS;
	unsigned long from, to;

	for_each_set_bitrange(from, to, freed, PAD_UNITS) {
		memset(at + from * AX_JIT_CODE_ALIGN, INT3_INSN_OPCODE,
		       (to - from) * AX_JIT_CODE_ALIGN);
		bitmap_clear(pads, from, to - from);
		pad_units -= to - from;
	}
	bitmap_zero(freed, PAD_UNITS);
}

int gtp_jit_open(void)
{
	static struct page *pages[GTP_JIT_ARENA / PAGE_SIZE]; /* one caller at a time */
	u32 i;

	for (i = 0; i < ARRAY_SIZE(pages); i++)
		pages[i] = vmalloc_to_page(gtp_jit_arena + i * PAGE_SIZE);
	arena.writable = vmap(pages, ARRAY_SIZE(pages), VM_MAP, PAGE_KERNEL);
	if (!arena.writable)
		return -ENOMEM;
	wipe_freed();
	return 0;
}

static void see_new_code(void *unused)
{
	sync_core();
}

void gtp_jit_close(void)
{
	/* A processor may have fetched the old bytes. */
	on_each_cpu(see_new_code, NULL, 1);
	vunmap(arena.writable);
	arena.writable = NULL;
}

static u32 aligned(u32 bytes)
{
	return (bytes + AX_JIT_CODE_ALIGN - 1) & ~(AX_JIT_CODE_ALIGN - 1U);
}

static int emit(struct ax_jit *work, struct gtp_jit_code *code)
{
	const u8 *at = gtp_jit_arena + arena.used;
	int err;

	if (!code->len)
		return -EOPNOTSUPP;
	err = ax_jit_emit(work, (u64)at, arena.writable + arena.used, SNIPPETS - arena.used);
	if (err)
		return err;
	arena.used = min_t(u32, arena.used + aligned(code->len), SNIPPETS);
	code->fn = (ax_jit_fn)at;
	code->frame_bytes = ax_jit_frame_bytes(work);
	return 0;
}

int gtp_jit_compile(struct ax_jit_request *req, struct gtp_jit_code *code)
{
	struct ax_jit *work = gtp_mem_alloc(ax_jit_work_size(req));
	int err;

	if (!work)
		return -ENOMEM;
	if (!req->target)
		req->target = &arena.target;
	code->len = ax_jit_plan(work, req);
	err = emit(work, code);
	gtp_mem_free(work);
	return err;
}

void gtp_jit_rewind(u32 used)
{
	arena.used = used;
}

void gtp_jit_reset(void)
{
	arena.used = arena.begin;
}

/* --- the memory for jump pads --- */

int gtp_jit_pad_emit(struct ax_jit *work, u32 len, enum gtp_jit_share share,
		     struct gtp_jit_pad *pad)
{
	u32 n = aligned(len) / AX_JIT_CODE_ALIGN, at, offset;
	int err;

	if (pad_units + n > PAD_UNITS >> share)
		return -ENOSPC;
	at = bitmap_find_next_zero_area(pads, PAD_UNITS, 0, n, 0);
	if (at >= PAD_UNITS)
		return -ENOSPC;
	offset = SNIPPETS + at * AX_JIT_CODE_ALIGN;
	pad->addr = (u64)gtp_jit_arena + offset;
	err = ax_jit_emit(work, pad->addr, arena.writable + offset, n * AX_JIT_CODE_ALIGN);
	if (err)
		return err;
	pad->len = len;
	bitmap_set(pads, at, n);
	pad_units += n;
	return 0;
}

void gtp_jit_pad_free(const struct gtp_jit_pad *pad)
{
	u32 n = aligned(pad->len) / AX_JIT_CODE_ALIGN;

	bitmap_set(freed, (pad->addr - (u64)gtp_jit_arena - SNIPPETS) / AX_JIT_CODE_ALIGN, n);
	if (arena.writable)
		wipe_freed();
}

void gtp_jit_pads_wipe(void)
{
	if (!arena.writable && !bitmap_empty(freed, PAD_UNITS) && !gtp_jit_open())
		gtp_jit_close();
}

void gtp_jit_pad_usage(u32 *used, u32 *size)
{
	*used = pad_units * AX_JIT_CODE_ALIGN;
	*size = GTP_JIT_PAD_BYTES;
}

bool gtp_jit_ready(void)
{
	return arena.ready;
}

const struct ax_jit_target *gtp_jit_target(void)
{
	return &arena.target;
}

void gtp_jit_usage(u32 *used, u32 *size)
{
	*used = arena.used;
	*size = SNIPPETS;
}

static struct ax_jit_var contexts(u32 mask)
{
	return (struct ax_jit_var){
		.bytes = 4,
		.less_entered = true,
		.gs = GTP_PREEMPT_COUNT,
		.mask = mask,
	};
}

/*
 * Describe how to read the kernel's hardirq_count(), softirq_count() and irq_count(). PREEMPT_RT
 * counts softirqs elsewhere. Whenever a task can move to another CPU, all of these counts are 0,
 * before and after the move.
 */
static void describe_contexts(struct ax_jit_var *var)
{
	var[GTP_TSV_HARDIRQ_COUNT] = contexts(HARDIRQ_MASK);
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return;
	var[GTP_TSV_SOFTIRQ_COUNT] = contexts(SOFTIRQ_MASK);
	var[GTP_TSV_IRQ_COUNT] = contexts(NMI_MASK | HARDIRQ_MASK | SOFTIRQ_MASK);
}

/* Describe how to find a task's user registers, the kernel's task_pt_regs(), on its stack. */
static void describe_user_regs(struct ax_jit_var *var)
{
	const s32 regs = THREAD_SIZE - TOP_OF_KERNEL_STACK_PADDING - sizeof(struct pt_regs);

	var[GTP_TSV_TASK_PT_REGS] = (struct ax_jit_var){
		.bytes = 8,
		.follow = 1,
		.gs = GTP_CURRENT_TASK,
		.offset = offsetof(struct task_struct, stack),
		.add = regs,
	};
	/* user_mode(): userspace runs in ring 3, and nothing runs in rings 1 and 2. */
	var[GTP_TSV_CURRENT_TASK_USER] = (struct ax_jit_var){
		.bytes = 4,
		.follow = 2,
		.gs = GTP_CURRENT_TASK,
		.offset = offsetof(struct task_struct, stack),
		.then = regs + (s32)offsetof(struct pt_regs, cs),
		.mask = 1,
	};
}

/*
 * Describe how to read the values of gtp_hit_builtin(), and the CPU's number. Fill the descriptions
 * in at run time, because offsets in GS are not constants in C.
 */
static void describe_variables(struct ax_jit_target *w)
{
	static struct ax_jit_var var[GTP_TSV_NR_BUILTIN];

	var[GTP_TSV_CPU_ID] = (struct ax_jit_var){
		.bytes = 4,
		.moves = true,
		.gs = GTP_CPU_NUMBER,
	};
	var[GTP_TSV_CURRENT_TASK] = (struct ax_jit_var){ .bytes = 8, .gs = GTP_CURRENT_TASK };
	var[GTP_TSV_CURRENT_TASK_PID] = (struct ax_jit_var){
		.bytes = sizeof(current->pid),
		.sign = true,
		.follow = 1,
		.gs = GTP_CURRENT_TASK,
		.offset = offsetof(struct task_struct, pid),
	};
	describe_contexts(var);
	describe_user_regs(var);
	w->var = var;
	w->nvars = ARRAY_SIZE(var);
}

static void describe_target(struct ax_jit_target *w)
{
	/*
	 * The whole load must be below the vsyscall page: the kernel treats a fault there like one
	 * at a user address, which no exception table entry fixes. Above that page there is nothing
	 * to read.
	 */
	w->fast = true;
	w->fast_limit = (s32)(VSYSCALL_ADDR - sizeof(u64));
	w->endbr = IS_ENABLED(CONFIG_X86_KERNEL_IBT);
	describe_branches(w);
	w->lahf = boot_cpu_has(X86_FEATURE_LAHF_LM);
	w->task = GTP_CURRENT_TASK;
	w->tasks_used = (u64)gtp_tasks_used;
	w->task_faults = offsetof(struct task_struct, pagefault_disabled);
	describe_variables(w);
}

int gtp_jit_init(void)
{
	u64 base = (u64)gtp_jit_arena;
	u32 n;
	int err;

	BUILD_BUG_ON(GTP_JIT_LOAD_ALIGN != AX_JIT_LOAD_ALIGN);
	BUILD_BUG_ON(GTP_JIT_ARENA % PAGE_SIZE);
	BUILD_BUG_ON(!(GTP_JIT_RETURN_UPPER & AX_JIT_LINE_HALF) ||
		     (GTP_JIT_RETURN_LOWER & AX_JIT_LINE_HALF));
	BUILD_BUG_ON(GTP_JIT_PAD_BYTES % AX_JIT_CODE_ALIGN || GTP_JIT_PAD_BYTES >= GTP_JIT_ARENA);
	if (!IS_ALIGNED(base, PAGE_SIZE) || !IS_ALIGNED((u64)gtp_jit_returns, GTP_JIT_LINE))
		return -EINVAL; /* the second mapping would show other pages than the code's */
	describe_target(&arena.target);
	err = gtp_jit_open();
	if (err)
		return err;
	/* Keep the endbr64 at the beginning of the arena: tools expect it at the arena's symbol. */
	arena.begin = AX_JIT_CODE_ALIGN;
	/* Hide the value from GCC: objtool rejects addresses in the middle of code. */
	OPTIMIZER_HIDE_VAR(base);
	n = ax_jit_stubs(&arena.target, base + arena.begin, arena.writable + arena.begin,
			 SNIPPETS - arena.begin);
	arena.begin += aligned(n);
	gtp_jit_reset();
	gtp_jit_close();
	arena.ready = n;
	return n ? 0 : -ENOSPC;
}
