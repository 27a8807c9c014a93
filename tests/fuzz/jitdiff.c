// SPDX-License-Identifier: GPL-2.0-only
/* Interpreter against compiler, over memory that is really there and really faults. */
#include <stdlib.h>
#include <sys/mman.h>

#include "jit/exec_user.h"
#include "tests/fuzz/jitdiff.h"
#include "tools/axasm.h"

enum {
	PAGE = 4096,
	LOG_MAX = 8192,
	TSVS = 5,
	TRACE_MAX = 4096, /* a longer trace is -E2BIG */
	ARENA = 8 << 20,
	RUNS = 2, /* of each program, in different worlds */
};

/* Everything that an evaluation changes. */
struct outcome {
	s64 tsv[TSVS];
	u32 room;
	u32 len;
	u8 log[LOG_MAX];
};

struct jitdiff_stats jitdiff_stats;

static struct jit_user *fast, *careful;
static u8 *const memory = (u8 *)AXGEN_MEM;

/* Pages 1 and 4 are holes. */
static bool is_mapped(u64 offset)
{
	return offset < AXGEN_MEM_SIZE && offset / PAGE != 1 && offset / PAGE != 4;
}

static void setup(void)
{
	u8 *p = mmap(memory, AXGEN_MEM_SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (p != memory || mprotect(p + PAGE, PAGE, PROT_NONE) ||
	    mprotect(p + 4 * PAGE, PAGE, PROT_NONE)) {
		perror("mmap");
		exit(1);
	}
	for (u64 i = 0; i < AXGEN_MEM_SIZE; i++)
		if (is_mapped(i))
			p[i] = (u8)(i * 2654435761U >> 13);
	/* Some pointers to follow, and a string's end. */
	for (u64 i = 0; i < PAGE; i += 64)
		*(u64 *)(p + i) = AXGEN_MEM + (i * 7) % AXGEN_MEM_SIZE;
	memset(p + 100, 0, 4);
	fast = jit_user_new(ARENA, 0x7fff0000);
	careful = jit_user_new(ARENA, 0);
	careful->world.endbr = true;
}

/* The upper half of the address space is the lower one again, for who asks carefully. */
static u64 offset_of(u64 addr)
{
	if ((s64)addr < 0)
		addr &= 0x7fffffffff;
	return addr - AXGEN_MEM;
}

static int op_read(void *ctx, void *dst, u64 addr, u32 len)
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

static int append(struct outcome *o, u8 kind, u64 where, const void *bytes, u32 len)
{
	if (o->len + 9 + len > o->room)
		return -ENOSPC;
	o->log[o->len++] = kind;
	memcpy(o->log + o->len, &where, 8);
	memcpy(o->log + o->len + 8, bytes, len);
	o->len += 8 + len;
	return 0;
}

static int op_trace(void *ctx, u64 addr, u64 len)
{
	u8 bytes[TRACE_MAX];

	if (len > TRACE_MAX)
		return -E2BIG;
	if (op_read(ctx, bytes, addr, (u32)len))
		return -EFAULT;
	return append(ctx, 'M', addr, bytes, (u32)len);
}

static int op_trace_string(void *ctx, u64 addr, u64 max)
{
	u64 n = 0;
	u8 c = 1;

	while (n < max && c) {
		if (n == TRACE_MAX)
			return -E2BIG;
		if (op_read(ctx, &c, addr + n, 1))
			return -EFAULT;
		n++;
	}
	return op_trace(ctx, addr, n);
}

static s64 op_getv(void *ctx, u16 tsv)
{
	return ((struct outcome *)ctx)->tsv[tsv % TSVS];
}

static void op_setv(void *ctx, u16 tsv, s64 value)
{
	((struct outcome *)ctx)->tsv[tsv % TSVS] = value;
}

static int op_tracev(void *ctx, u16 tsv)
{
	return append(ctx, 'V', tsv, &((struct outcome *)ctx)->tsv[tsv % TSVS], 8);
}

static void op_print(void *ctx, const char *text, u32 len)
{
	append(ctx, 'P', len, text, len);
}

static const struct ax_ops ops = {
	.read = op_read,
	.getv = op_getv,
	.setv = op_setv,
	.trace = op_trace,
	.trace_string = op_trace_string,
	.tracev = op_tracev,
	.print = op_print,
};

static void choose_regs(struct gtp_regs *regs, struct axgen *g)
{
	u64 *r = (u64 *)regs;

	for (u32 i = 0; i < sizeof(*regs) / 8; i++)
		r[i] = axgen_value(g);
	regs->rsi = axgen_addr(g);
	regs->rdi = axgen_addr(g);
	regs->rbp = axgen_addr(g);
}

struct evaluation {
	struct outcome out;
	struct ax_env env;
	u64 stack[AX_MAX_DEPTH];
	char text[AX_PRINT_MAX];
	u64 value;
	int ret;
};

static void begin(struct evaluation *e, const struct gtp_regs *regs, u32 room)
{
	e->out.len = 0;
	e->out.room = room;
	for (u32 i = 0; i < TSVS; i++)
		e->out.tsv[i] = (s64)i - 2;
	e->env = (struct ax_env){
		.ops = &ops, .ctx = &e->out, .regs = regs, .pc = 0xffffffff81234560,
		.stack = e->stack, .text = e->text,
	};
}

static bool same_error(const struct ax_error *a, const struct ax_error *b)
{
	return a->code == b->code && a->pc == b->pc && a->op == b->op && a->arg == b->arg &&
	       a->arg2 == b->arg2;
}

static bool same(const struct evaluation *a, const struct evaluation *b)
{
	return a->ret == b->ret && a->value == b->value &&
	       (a->ret != -EINVAL || same_error(&a->env.err, &b->env.err)) &&
	       a->out.len == b->out.len && !memcmp(a->out.log, b->out.log, a->out.len) &&
	       !memcmp(a->out.tsv, b->out.tsv, sizeof(a->out.tsv));
}

static void report_one(const char *who, const struct evaluation *e)
{
	fprintf(stderr, "%s: returns %d, value 0x%llx, error %s at %u (0x%llx, 0x%llx), %u bytes\n",
		who, e->ret, e->value, ax_error_name(e->env.err.code), e->env.err.pc,
		e->env.err.arg, e->env.err.arg2, e->out.len);
}

static void report(const u8 *code, u32 len, const struct gtp_regs *regs, u32 seed, bool is_fast,
		   const struct evaluation *a, const struct evaluation *b)
{
	fprintf(stderr, "interpreter and compiler differ (seed %u, %s loads)\n", seed,
		is_fast ? "fast" : "careful");
	report_one("interpreter", a);
	report_one("compiler", b);
	for (u32 i = 0; i < GTP_NR_SAVED_REGS; i++)
		fprintf(stderr, "reg %u = 0x%llx\n", i, gtp_regs_get(regs, i));
	axasm_listing(code, len, NULL, stderr);
	for (u32 i = 0; i < len; i++)
		fprintf(stderr, "%02x", code[i]);
	fputc('\n', stderr);
}

static void count(const struct evaluation *e)
{
	jitdiff_stats.runs++;
	if (!e->ret)
		jitdiff_stats.values++;
	else if (e->ret == -ENOSPC)
		jitdiff_stats.full++;
	else
		jitdiff_stats.errors[e->env.err.code]++;
}

static ax_jit_fn compile(struct jit_user *u, const struct ax_verified *v, u32 seed)
{
	u32 n;
	ax_jit_fn fn = jit_user_compile(u, v, 0xffffffff81234560, seed, &n);

	if (!fn) {
		jit_user_reset(u);
		fn = jit_user_compile(u, v, 0xffffffff81234560, seed, &n);
	}
	jitdiff_stats.machine_code += n;
	return fn;
}

bool jitdiff(const u8 *code, u32 len, struct axgen *g)
{
	static struct ax_point points[AX_MAX_LEN];
	static struct evaluation a, b;
	u32 seed = axgen_pick(g, 14);
	bool is_fast = axgen_pick(g, 4);
	struct ax_verified v;
	struct gtp_regs regs;
	ax_jit_fn fn;

	if (!fast)
		setup();
	if (ax_verify(code, len, AX_CONDITION, points, &v, &a.env.err) != AX_OK)
		return false;
	fn = compile(is_fast ? fast : careful, &v, seed);
	jitdiff_stats.programs++;
	jitdiff_stats.bytecode += len;
	for (u32 i = 0; i < RUNS; i++) {
		u32 room = axgen_pick(g, 16) ? LOG_MAX : 64 * axgen_pick(g, 16);

		choose_regs(&regs, g);
		begin(&a, &regs, room);
		begin(&b, &regs, room);
		a.ret = ax_interp(&v, &a.env, &a.value);
		b.ret = ax_jit_run(fn, &b.env, &b.value);
		if (!same(&a, &b)) {
			report(code, len, &regs, seed, is_fast, &a, &b);
			abort();
		}
		count(&a);
	}
	return true;
}
