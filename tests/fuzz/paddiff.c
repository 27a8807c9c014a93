// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares one random pad with the original code and the interpreter.
 *
 * The original instructions, and then the pad that displaces them, start from the same registers,
 * flags and memory; everything must be equal afterwards. Whether the pad calls pad_hit must be as
 * the interpreter predicts, and pad_hit must see all registers unchanged.
 *
 * A flag that the architecture leaves undefined after an instruction may depend on its previous
 * value. A pad need not keep dead flags, so an undefined flag may differ in the end. If a displaced
 * instruction reads an undefined flag, the test requests a pad that keeps the flags.
 */
#include <stdlib.h>
#include "agentexpr/meaning.h"
#include "tests/fuzz/padcond.h"
#include "tests/fuzz/paddiff.h"
#include "tests/fuzz/padframe.h"
#include "tests/fuzz/padworld.h"
#include "tools/axasm.h"

struct paddiff_stats paddiff_stats;

/* struct piece - an instruction that the fuzzer can put into a region */
struct piece {
	const char *bytes;
	u8 len;
	u8 patch; /* offset of a displacement of @width bytes, which leads to @to */
	u8 width;
	u8 to;	       /* the landing to which the displacement leads; 0: the data */
	u8 set;	       /* 1 + register that must have @to's address; or SET_... */
	bool takes;    /* lowers rsp without writing to the stack there */
	u16 undefined; /* flags that it leaves undefined, by Intel's manual or AMD's */
	u16 defines;   /* flags that it always sets, though the decoder does not report it */
};

enum { SET_STACK = 0x20, SET_DATA };

#define P(text) .bytes = text, .len = sizeof(text) - 1

enum {
	CF = GTP_FLAG_CF,
	PF = GTP_FLAG_PF,
	AF = GTP_FLAG_AF,
	ZF = GTP_FLAG_ZF,
	SF = GTP_FLAG_SF,
	OF = GTP_FLAG_OF,
};

/* clang-format off */
static const struct piece plain[] = {
	{ P("\x90") },                     /* nop */
	{ P("\x66\x90") },                 /* nop */
	{ P("\x0f\x1f\x44\x00\x00") },     /* nop */
	{ P("\x48\x89\xc3") },             /* mov rbx, rax */
	{ P("\x49\x89\xfe") },             /* mov r14, rdi */
	{ P("\x31\xc0"), .undefined = AF }, /* xor eax, eax */
	{ P("\x48\x01\xd8") },             /* add rax, rbx */
	{ P("\x4c\x29\xf9") },             /* sub rcx, r15 */
	{ P("\x48\x83\xec\x18"), .takes = true }, /* sub rsp, 24 */
	{ P("\x48\x83\xe4\xf0"), .takes = true, .undefined = AF }, /* and rsp, -16 */
	{ P("\x48\x8d\x54\x24\x08") },     /* lea rdx, [rsp + 8] */
	{ P("\x48\x8b\x4c\x24\x10") },     /* mov rcx, [rsp + 16] */
	{ P("\x48\x89\x44\x24\x08") },     /* mov [rsp + 8], rax */
	{ P("\x48\x85\xc0"), .undefined = AF }, /* test rax, rax */
	{ P("\x83\xff\x05") },             /* cmp edi, 5 */
	{ P("\x48\x81\xfe\x00\x10\x00\x00") }, /* cmp rsi, 4096 */
	{ P("\x55") },                     /* push rbp */
	{ P("\x41\x57") },                 /* push r15 */
	{ P("\x54") },                     /* push rsp */
	{ P("\x58") },                     /* pop rax */
	{ P("\x41\x5c") },                 /* pop r12 */
	{ P("\x48\x89\xe5") },             /* mov rbp, rsp */
	{ P("\x0f\x94\xc0") },             /* sete al */
	{ P("\x0f\x42\xd1") },             /* cmovb edx, ecx */
	{ P("\x19\xd2") },                 /* sbb edx, edx */
	{ P("\x48\x11\xc8") },             /* adc rax, rcx */
	{ P("\xff\xc3") },                 /* inc ebx */
	{ P("\x48\xff\xc9") },             /* dec rcx */
	{ P("\xc1\xe0\x05"), .undefined = OF | AF, .defines = SF | ZF | PF | CF }, /* shl eax, 5 */
	{ P("\x48\xd3\xe8"), .undefined = OF | AF }, /* shr rax, cl; nothing when cl is 0 */
	{ P("\xd1\xda"), .defines = OF | CF }, /* rcr edx, 1 */
	{ P("\x48\xf7\xd8") },             /* neg rax */
	{ P("\x48\xf7\xd2") },             /* not rdx */
	{ P("\x48\x0f\xaf\xc2"), .undefined = SF | ZF | AF | PF }, /* imul rax, rdx */
	{ P("\x48\x98") },                 /* cdqe */
	{ P("\x48\x99") },                 /* cqo */
	{ P("\x9c") },                     /* pushfq */
	{ P("\xf8") },                     /* clc */
	{ P("\xf9") },                     /* stc */
	{ P("\xf5") },                     /* cmc */
	{ P("\x0f\xa3\xc8"), .undefined = OF | SF | ZF | AF | PF }, /* bt eax, ecx; ZF: AMD's */
	{ P("\x48\xb8\x01\x23\x45\x67\x89\xab\xcd\xef") }, /* movabs rax, ... */
	{ P("\xc7\x44\x24\x08\x78\x56\x34\x12") },         /* mov dword [rsp + 8], ... */
	{ P("\x66\xbb\x34\x12") },         /* mov bx, 0x1234 */
	/* Instructions with operands relative to the instruction's end. */
	{ P("\x48\x8b\x05\0\0\0\0"), .patch = 3, .width = 4 },         /* mov rax, [data] */
	{ P("\x4c\x8d\x25\0\0\0\0"), .patch = 3, .width = 4 },         /* lea r12, [data] */
	{ P("\x83\x3d\0\0\0\0\x07"), .patch = 2, .width = 4 },         /* cmp dword [data], 7 */
	{ P("\x48\x01\x0d\0\0\0\0"), .patch = 3, .width = 4 },         /* add [data], rcx */
	{ P("\x66\x81\x05\0\0\0\0\x34\x12"), .patch = 3, .width = 4 }, /* add word [data], ... */
	{ P("\xc6\x05\0\0\0\0\x2a"), .patch = 2, .width = 4 },         /* mov byte [data], 42 */
	{ P("\xff\x35\0\0\0\0"), .patch = 2, .width = 4 },             /* push qword [data] */
	/* Branches to landings. */
	{ P("\x74\0"), .patch = 1, .width = 1, .to = PADWORLD_NEAR },         /* je */
	{ P("\x7f\0"), .patch = 1, .width = 1, .to = PADWORLD_NEAR },         /* jg */
	{ P("\x0f\x82\0\0\0\0"), .patch = 2, .width = 4, .to = PADWORLD_FAR }, /* jb */
	{ P("\x0f\x8a\0\0\0\0"), .patch = 2, .width = 4, .to = PADWORLD_FAR }, /* jp */
	{ P("\xe2\0"), .patch = 1, .width = 1, .to = PADWORLD_NEAR },         /* loop */
	{ P("\xe1\0"), .patch = 1, .width = 1, .to = PADWORLD_NEAR },         /* loope */
	{ P("\xe3\0"), .patch = 1, .width = 1, .to = PADWORLD_NEAR },         /* jrcxz */
};

static const struct piece ends[] = {
	{ P("\xe8\0\0\0\0"), .patch = 1, .width = 4, .to = PADWORLD_FAR },  /* call */
	{ P("\xe9\0\0\0\0"), .patch = 1, .width = 4, .to = PADWORLD_FAR },  /* jmp */
	{ P("\xeb\0"), .patch = 1, .width = 1, .to = PADWORLD_NEAR },       /* jmp */
	{ P("\xff\xe0"), .to = PADWORLD_FAR, .set = 1 + X86_RAX },          /* jmp rax */
	{ P("\xff\xd3"), .to = PADWORLD_FAR, .set = 1 + X86_RBX },          /* call rbx */
	{ P("\x41\xff\xd3"), .to = PADWORLD_FAR, .set = 1 + X86_R11 },      /* call r11 */
	{ P("\x41\xff\xd4"), .to = PADWORLD_FAR, .set = 1 + X86_R12 },      /* call r12 */
	{ P("\xff\x15\0\0\0\0"), .patch = 2, .width = 4, .to = PADWORLD_FAR, .set = SET_DATA },
	{ P("\xff\x25\0\0\0\0"), .patch = 2, .width = 4, .to = PADWORLD_FAR, .set = SET_DATA },
	{ P("\xc3"), .to = PADWORLD_FAR, .set = SET_STACK },                /* ret */
};

/* clang-format on */

/**
 * struct test - one pad and its region
 * @takes: a piece of the region lowers rsp without writing to the stack there
 * @undefined: flags that are undefined after the last piece
 * @undefined_at: for each landing, the flags that are undefined when control arrives there
 * @reads_undefined: an instruction reads one of the undefined flags
 */
struct test {
	struct gtp_region region;
	struct gtp_pad_request req;
	struct gtp_pad_chain chain;
	struct padworld_regs in;
	u8 data[PADWORLD_DATA_SIZE];
	u8 stack[512];
	bool takes;
	u16 undefined;
	u16 undefined_at[PADWORLD_NR_LANDINGS];
	bool reads_undefined;
	u64 entry, original;
	u32 len;
	struct ax_verified v;
	const struct axgen *g;
};

static void complain(const struct test *t, const char *what)
{
	fprintf(stderr, "pad: %s\n", what);
	for (u32 i = 0; i < X86_NR_REGS; i++)
		fprintf(stderr, "reg %u = 0x%llx\n", i, t->in.gpr[i]);
	fprintf(stderr, "flags 0x%llx, %s%sseed %u, at 0x%llx\nregion:", t->in.flags,
		t->region.flags_dead ? "dead, " : "", t->req.region ? "" : "called, ", t->req.seed,
		t->req.at);
	for (u32 i = 0; i < t->region.len; i++)
		fprintf(stderr, " %02x", t->region.bytes[i]);
	fprintf(stderr, "\npad at 0x%llx:", t->entry);
	for (u32 i = 0; i < t->len; i++)
		fprintf(stderr, " %02x", ((const u8 *)(uintptr_t)t->entry)[i]);
	fputc('\n', stderr);
	if (t->req.cond)
		axasm_listing(t->v.code, t->v.len, NULL, stderr);
	if (t->req.frame)
		padframe_complain();
	abort();
}

static u64 data_at(void)
{
	return padworld_at() - PADWORLD_AT + PADWORLD_DATA + 8;
}

static void set_word(struct test *t, const struct piece *p)
{
	u64 to = padworld_landing(p->to);

	if (p->set == SET_STACK)
		memcpy(t->stack, &to, 8);
	else if (p->set == SET_DATA)
		memcpy(t->data + 8, &to, 8);
	else if (p->set)
		t->in.gpr[p->set - 1] = to;
}

/*
 * Return the flags that the instruction itself reads. If it leaves the region, the decoder reports
 * all flags as read, because the code at the target may read them.
 */
static u16 looked_at(const struct gtp_insn *insn)
{
	bool itself = insn->kind <= GTP_INSN_RIP || insn->kind == GTP_INSN_JCC ||
		      insn->kind == GTP_INSN_LOOP;

	return itself ? insn->flags_in : 0;
}

static void follow_flags(struct test *t, const struct piece *p, const struct gtp_insn *insn)
{
	t->reads_undefined |= (t->undefined & looked_at(insn)) != 0;
	t->undefined &= ~(insn->flags_out | p->defines);
	t->undefined |= p->undefined;
	if (p->to)
		t->undefined_at[p->to] |= t->undefined;
}

static void add_piece(struct test *t, const struct piece *p)
{
	struct gtp_region *r = &t->region;
	u8 *to = r->bytes + r->len;
	u64 end = padworld_at() + r->len + p->len;
	u64 target = p->set == SET_DATA || !p->to ? data_at() : padworld_landing(p->to);

	memcpy(to, p->bytes, p->len);
	if (p->width)
		gtp_put_le(to + p->patch, target - end, p->width);
	r->len += p->len;
	if (gtp_insn_decode(&r->insn[r->n], to, p->len) || r->insn[r->n].len != p->len)
		complain(t, "the decoder does not know the last piece");
	set_word(t, p);
	follow_flags(t, p, &r->insn[r->n]);
	t->takes |= p->takes;
	r->n++;
}

static bool leaves(u8 kind)
{
	return kind == GTP_INSN_RET || kind == GTP_INSN_JMP || kind == GTP_INSN_JMP_REG;
}

/* Find out, as regions/region.c does, whether the region's flags are dead and where it ends. */
static void describe(struct test *t)
{
	struct gtp_region *r = &t->region;
	u32 live = GTP_FLAGS_ARITH;

	r->flags_dead = false;
	for (u32 i = 0; i < r->n && r->insn[i].kind <= GTP_INSN_RIP; i++) {
		if (r->insn[i].flags_in & live)
			break;
		live &= ~r->insn[i].flags_out;
		if (!live)
			r->flags_dead = true;
	}
	r->falls_out = !leaves(r->insn[r->n - 1].kind);
}

/* Fill the region. Before a final ret, no instruction may move rsp from the return address. */
static void choose_region(struct test *t, struct axgen *g)
{
	struct gtp_region *r = &t->region;
	u32 end = axgen_pick(g, 3) ? ARRAY_SIZE(ends) : axgen_pick(g, ARRAY_SIZE(ends));
	const struct piece *p;
	bool few; /* choose a nop, which changes neither rsp nor memory nor registers */

	memset(r, 0, sizeof(*r));
	while (r->len < GTP_REGION_JUMP && r->n < 4) {
		if (end < ARRAY_SIZE(ends) && r->len + ends[end].len >= GTP_REGION_JUMP)
			break;
		few = t->takes || (end < ARRAY_SIZE(ends) && ends[end].set);
		p = &plain[axgen_pick(g, few ? 3 : ARRAY_SIZE(plain))];
		add_piece(t, p);
	}
	if (end < ARRAY_SIZE(ends) && r->len < GTP_REGION_JUMP)
		add_piece(t, &ends[end]);
	if (r->len < GTP_REGION_JUMP)
		add_piece(t, &plain[2]);
	t->undefined_at[PADWORLD_BEHIND] |= t->undefined;
	describe(t);
	for (u32 i = 0; i < r->n; i++)
		paddiff_stats.insns[r->insn[i].kind]++;
}

static void choose_state(struct test *t, struct axgen *g)
{
	for (u32 i = 0; i < X86_NR_REGS; i++)
		t->in.gpr[i] = axgen_value(g);
	t->in.gpr[X86_RSI] = axgen_addr(g);
	t->in.gpr[X86_RDI] = axgen_addr(g);
	t->in.gpr[X86_RBP] = axgen_addr(g);
	t->in.gpr[X86_RSP] = PADWORLD_STACK + PADWORLD_STACK_SIZE - sizeof(t->stack);
	t->in.flags = 0x202 | ((u64)axgen_pick(g, 256) << 4 & GTP_FLAGS_ARITH) |
		      ((u64)axgen_pick(g, 256) & GTP_FLAGS_ARITH);
	for (u32 i = 0; i < sizeof(t->stack); i++)
		t->stack[i] = (u8)axgen_pick(g, 256);
	for (u32 i = 0; i < sizeof(t->data); i++)
		t->data[i] = (u8)axgen_pick(g, 256);
}

/*
 * Make a condition that a pad can evaluate. A pad cannot evaluate most random expressions, so try
 * several.
 */
static void choose_condition(struct test *t, struct axgen *g)
{
	static struct ax_point points[AX_MAX_LEN];
	struct ax_error err;

	for (u32 i = 0; i < 64; i++) {
		padcond_make(g, &t->in);
		if (ax_verify(g->code, g->len, AX_CONDITION, points, &t->v, &err) != AX_OK)
			complain(t, "the verifier refuses what the generator made");
		if (gtp_pad_can(&t->v, &padworld()->code->target, padworld_ways)) {
			t->req.cond = &t->v;
			return;
		}
	}
}

static void reset_memory(const struct test *t)
{
	memcpy(padworld_data(), t->data, sizeof(t->data));
	memcpy((void *)(PADWORLD_STACK + PADWORLD_STACK_SIZE - sizeof(t->stack)), t->stack,
	       sizeof(t->stack));
}

/* struct outcome - everything that a run of the code leaves */
struct outcome {
	struct padworld_regs regs;
	u8 data[PADWORLD_DATA_SIZE];
	u8 stack[2048]; /* the end of the stack; bytes below rsp do not count */
	u32 landing;
	struct padworld_hit hit;
};

static void run(const struct test *t, u64 entry, struct outcome *o)
{
	u64 top = PADWORLD_STACK + PADWORLD_STACK_SIZE, from = top - sizeof(o->stack), rsp;

	reset_memory(t);
	o->regs = t->in;
	o->landing = padworld_run(&o->regs, entry, &o->hit);
	memcpy(o->data, padworld_data(), sizeof(o->data));
	memcpy(o->stack, (const void *)from, sizeof(o->stack));
	rsp = t->takes ? t->in.gpr[X86_RSP] : o->regs.gpr[X86_RSP];
	if (rsp > from && rsp <= top)
		memset(o->stack, 0, rsp - from);
}

/* Return the flags that the code of a condition may change before pad_hit or the region runs. */
static u64 lost_flags(const struct test *t)
{
	bool dead = !t->req.region || t->region.flags_dead;

	return dead && !t->req.keep_flags && t->req.cond ? GTP_FLAGS_ARITH : 0;
}

/* Return the flags that may differ at the landing: if there is a region, only undefined flags. */
static u64 loose_flags(const struct test *t, u32 landing)
{
	return t->req.region ? lost_flags(t) & t->undefined_at[landing] : lost_flags(t);
}

static void compare_ends(const struct test *t, const struct outcome *a, const struct outcome *b)
{
	if (a->landing != b->landing)
		complain(t, "arrives elsewhere");
	if (memcmp(a->regs.gpr, b->regs.gpr, sizeof(a->regs.gpr)))
		complain(t, "registers differ in the end");
	if ((a->regs.flags ^ b->regs.flags) & ~loose_flags(t, a->landing))
		complain(t, "flags differ in the end");
	if (memcmp(a->data, b->data, sizeof(a->data)))
		complain(t, "data differ");
	if (memcmp(a->stack, b->stack, sizeof(a->stack)))
		complain(t, "the stack differs");
}

/* True if the task is already in a pad that reads memory, and this pad would read memory, too. */
static bool nested(const struct test *t)
{
	const struct padworld *w = padworld();

	return t->v.flags & AX_F_READS_MEM && w->code->target.task && w->task.faults >= AX_JIT_MARK;
}

/* Interpret. Return 1 + the number for pad_hit; 0: pad_hit must not be called; -1: not known. */
static int expected(const struct test *t, const struct gtp_regs *regs)
{
	static u64 stack[AX_MAX_DEPTH];
	struct padworld_read read = { .rsp = regs->rsp };
	struct ax_env env = { .ops = &padworld_ops,
			      .ctx = &read,
			      .regs = regs,
			      .stack = stack,
			      .pc = t->req.at };
	u64 value;
	int ret;

	if (!t->req.cond)
		return 1 + (int)(PADWORLD_NUMBER << 1);
	ret = ax_interp(&t->v, &env, &value);
	if (read.below)
		return -1;
	if (ret || read.careful || nested(t))
		return 1 + (int)(PADWORLD_NUMBER << 1);
	return value ? 1 + (int)(PADWORLD_NUMBER << 1 | GTP_PAD_HELD) : 0;
}

/* Check the frame of a pad that can write frames. Return the same value as expected(). */
static int check_frame(const struct test *t, const struct gtp_regs *regs, int want, bool to_c)
{
	int holds = 1 + (int)(PADWORLD_NUMBER << 1 | (t->req.cond ? GTP_PAD_HELD : 0));
	int written = want == holds ? padframe_make(regs, t->req.at) : want < 0 ? -1 : 0;
	const char *wrong = padframe_check(written, to_c);

	if (wrong)
		complain(t, wrong);
	return written ? written < 0 ? -1 : 0 : want;
}

static void check_hit(const struct test *t, const struct padworld_hit *hit)
{
	struct gtp_regs regs;
	int want;

	reset_memory(t);
	padworld_gtp_regs(&regs, &t->in);
	if (!t->req.region)
		regs.rsp += 8;
	want = expected(t, &regs);
	if (t->req.frame)
		want = check_frame(t, &regs, want, hit->count);
	if (want >= 0 && hit->count != !!want)
		complain(t, want ? "pad_hit was not called" : "pad_hit was called");
	if (want >= 0 && hit->count && hit->number != (u64)(want - 1))
		complain(t, "pad_hit got another number");
	if (!hit->count) {
		paddiff_stats.not_held++;
		return;
	}
	if (hit->number & GTP_PAD_HELD)
		paddiff_stats.held++;
	else
		paddiff_stats.punted++;
	if (memcmp(hit->regs.gpr, t->in.gpr, sizeof(t->in.gpr)))
		complain(t, "pad_hit sees other registers");
	if ((hit->regs.flags ^ t->in.flags) & ~lost_flags(t))
		complain(t, "pad_hit sees other flags");
}

static void compare(const struct test *t)
{
	const u32 faults = padworld()->task.faults;
	static struct outcome a, b;

	run(t, t->original, &a);
	run(t, t->entry, &b);
	if (a.hit.count)
		complain(t, "the original called pad_hit");
	if (padworld()->task.faults != faults)
		complain(t, "the task is left with another mark");
	compare_ends(t, &a, &b);
	check_hit(t, &b.hit);
}

/* Choose a pad that is entered by a call: it displaces no code, and returns to its caller. */
static void choose_called(struct test *t)
{
	u64 to = padworld_landing(PADWORLD_FAR);

	memcpy(t->stack, &to, 8);
	t->region = (struct gtp_region){ .len = 1, .n = 1, .bytes = { 0xc3 } };
	paddiff_stats.called++;
}

static void choose(struct test *t, struct axgen *g)
{
	bool called = !axgen_pick(g, 16);

	choose_state(t, g);
	if (called)
		choose_called(t);
	else
		choose_region(t, g);
	t->req = (struct gtp_pad_request){
		.region = called ? NULL : &t->region,
		.at = padworld_at(),
		.number = PADWORLD_NUMBER,
		.seed = axgen_pick(g, 31),
		.keep_flags = !axgen_pick(g, 4),
		.ways = padworld_ways,
	};
	if (t->region.flags_dead && t->reads_undefined)
		t->req.keep_flags = true;
	padworld()->code->target.lahf = axgen_pick(g, 4);
	padworld_choose_task(g);
	if (axgen_pick(g, 2))
		padframe_choose(g, &t->req);
	if (axgen_pick(g, t->req.frame ? 3 : 16))
		choose_condition(t, g);
	/* Some pads are chained. Here the original instructions stand in for the next pad. */
	t->chain = (struct gtp_pad_chain){ .next = padworld_at(), .after = padworld_at() };
	t->req.chain = axgen_pick(g, 6) ? NULL : &t->chain;
}

/* True if a condition names a variable of tasks. */
static bool names_tasks(const struct ax_verified *v)
{
	struct ax_insn insn = { 0 };

	while (ax_next_reached(v, &insn))
		if (ax_op_info[insn.op].rule == AX_RULE_tsv && insn.operand >= PADWORLD_TASKS)
			return true;
	return false;
}

static void count(const struct test *t)
{
	paddiff_stats.pads++;
	paddiff_stats.bytes += t->len;
	paddiff_stats.without += !t->req.cond;
	paddiff_stats.followed += !!t->req.chain;
	paddiff_stats.dead_flags += t->region.flags_dead;
	paddiff_stats.kept_flags += t->region.flags_dead && t->reads_undefined;
	paddiff_stats.tasks += t->req.cond && names_tasks(&t->v);
	for (u32 i = 0; t->req.cond && i < t->v.len; i++) {
		if (t->v.points[i].flags & AX_P_TARGET) {
			paddiff_stats.joined++;
			break;
		}
	}
}

void paddiff(struct axgen *g)
{
	static struct test t;

	memset(&t, 0, sizeof(t));
	padworld_pages(g);
	choose(&t, g);
	padworld_put(t.region.bytes, t.region.len);
	t.original = padworld_at();
	t.entry = padworld_make(&t.req, &t.len);
	if (!t.entry && t.req.frame)
		t.entry = padframe_make_without(&t.req, &t.len);
	if (!t.entry) {
		if (!t.req.cond || (t.v.max_depth < 8 && __builtin_popcountll(t.v.regs_used) < 13))
			complain(&t, "refused");
		paddiff_stats.refused++;
		return;
	}
	count(&t);
	if (t.req.frame)
		padframe_prepare(g);
	compare(&t);
}
