// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compiles the setting of variables that have a table: of aggregations and of pairs.
 *
 * The code does the common cases of gtp_aggr_update() and of gtp_hit_pair() by itself, without a
 * call. Before it has had an effect, it makes sure that this is such a case. Otherwise it goes to
 * its slow code, in which C does the whole operation. These are the common cases:
 *
 *	a histogram without a key, and a value greater than 0 that is neither the smallest nor the
 *	largest so far
 *
 *	mov rcx, [env.local]; mov rax, [rcx + table]
 *	cmp word [rax + kind], hist; jne slow
 *	test rdx, rdx; jle slow
 *	cmp rdx, [rax + min]; jl slow; cmp rdx, [rax + max]; jg slow
 *	add qword [rax + n], 1; add [rax + sum], rdx
 *	bsr rdx, rdx; add qword [rax + 8 * rdx + buckets], 1
 *
 *	a start in an empty bucket, and an end whose start is in slot 0 (see aggregate/pair.c)
 *
 *	mov r9, [env.local]
 *	mov rcx, factor; mov r10, r8; imul r10, rcx		the bucket of the key in r8
 *	mov rdx, r10; shr rdx, 32; xor r10, rdx; imul r10, rcx
 *	mov rdx, [r9 + table]; test rdx, rdx; je slow
 *	mov cl, [rdx + shift]; shr r10, cl; shl r10, 7; add r10, [rdx + bucket]
 *	mov rcx, [env.tsc]; test rcx, rcx; je slow		the time of the hit in ns
 *	mov rax, [env.time]; test rax, rax; jne have
 *	lfence; rdtsc; shl rdx, 32; or rax, rdx; mov [env.time], rax
 * have:
 *	sub rax, [rcx + tsc]; js slow
 *	mov rdx, [rcx + rate]; mul rdx; shrd rax, rdx, 32
 *	add rax, [rcx + ns]; mov rcx, rax
 *
 *	mov rax, [r10]; mov edx, eax; and edx, all slots; jne slow	a start
 *	lea rdx, [rax + version + busy]; lock cmpxchg [r10], rdx; jne slow
 *	mov [r10 + key], r8; mov [r10 + time], rcx
 *	...					the kept values, if there are any
 *	mov rax, rdx; add rdx, version + full - busy; lock cmpxchg [r10], rdx; je done
 *	lock add qword [r10], version - busy; jmp slow
 * done:
 *	mov rax, [r9 + counts]; add qword [rax + started], 1
 *
 *	mov rax, [r10]; mov edx, eax; and edx, full; je slow		an end
 *	cmp r8, [r10 + key]; jne slow
 *	...					the kept values, if there are any
 *	sub rcx, [r10 + time]; jae later; xor ecx, ecx
 * later:
 *	lea rdx, [rax + version - full]; lock cmpxchg [r10], rdx; jne slow
 *	mov rax, [r9 + table]; movzx eax, word [rax + since]; mov [r9 + 8 * rax], rcx
 *	mov rax, [r9 + counts]; add qword [rax + ended], 1
 */
#include "aggregate/pair.h"
#include "aggregate/table.h"
#include "base/cpu.h"
#include "jit/flow.h"
#include "jit/ops_jump.h"
#include "jit/ops_table.h"
#include "jit/record.h"
#include "jit/slow.h"
#include "jit/values.h"
#include "tracepoint/tsv.h"

#define OF_ENV(member) x86_at(JIT_ENV, (s32)offsetof(struct ax_env, member))

/* --- the common parts --- */

/* A jump to the slow code, which is number @slow. */
static void slow_if(struct ax_jit *j, u32 slow, enum x86_cc cc)
{
	jit_jcc(j, cc, &j->slow[slow].at);
}

/*
 * Move the value of a setv to @reg, and spill all other values that are in registers. Then each
 * register is free, except @reg. If the value is used later, it is on the stack as well.
 */
static void take_value(struct ax_jit *j, enum x86_reg reg)
{
	bool dropped = jit_is_dropped(j);

	j->held = dropped;
	jit_spill_all(j);
	jit_claim(j, reg);
	jit_move(j, reg, jit_arg(j, 0));
	if (dropped)
		jit_set_const(j, jit_arg(j, 0), 0);
}

static void claim(struct ax_jit *j, const u8 *regs, u32 n)
{
	for (u32 i = 0; i < n; i++)
		jit_claim(j, regs[i]);
}

static void release(struct ax_jit *j, const u8 *regs, u32 n)
{
	for (u32 i = 0; i < n; i++)
		jit_unref_reg(j, regs[i]);
}

/* The slow code has called a stub, which preserves only JIT_REGS and JIT_ENV. */
static void end_fast(struct ax_jit *j, u32 slow)
{
	j->slow[slow].back = j->b.len;
	jit_forget_cached(j);
}

/* Load the addresses of this CPU's own variables and of its table of the aggregation. */
static void load_table(struct ax_jit *j, enum x86_reg own, enum x86_reg table, u64 num)
{
	x86_load(&j->b, own, OF_ENV(local), 8, false);
	x86_load(&j->b, table, x86_at(own, 8 * (GTP_TSV_TABLE + (s32)num)), 8, false);
}

/* --- aggregations --- */

#define OF_TABLE(member) x86_at(X86_RAX, (s32)offsetof(struct gtp_aggr_table, member))

/* The words of a histogram's entry that has no key; see gtp_aggr_update(). */
enum { HIST_N, HIST_SUM, HIST_MIN, HIST_MAX, HIST_BUCKETS };

static struct x86_mem in_entry(u32 word)
{
	struct x86_mem m = OF_TABLE(entry);

	m.disp += 8 * (s32)word;
	return m;
}

void jit_count(struct ax_jit *j)
{
	enum x86_reg reg = jit_alloc(j);

	load_table(j, reg, reg, j->insn.operand);
	x86_alu_mem_imm(&j->b, X86_ADD, X86_64,
			x86_at(reg, (s32)offsetof(struct gtp_aggr_table, entry)), 1);
	jit_unref_reg(j, reg);
}

static void update_slowly(struct ax_jit *j, const struct jit_slow *s)
{
	jit_call_stub(j, AX_JIT_UPDATE);
	jit_record_after_call(j);
}

/*
 * The check of the largest value so far also finds an entry without values: there this word is 0,
 * and the value is greater.
 */
void jit_update(struct ax_jit *j)
{
	static const u8 bsr_rdx[] = { 0x48, 0x0f, 0xbd, 0xd2 }; /* bsr rdx, rdx */
	static const u8 regs[] = { X86_RAX, X86_RCX };
	u32 slow = jit_slow_add(j, (struct jit_slow){ .emit = update_slowly });
	struct x86_mem bucket = in_entry(HIST_BUCKETS + 2);

	static_assert(offsetof(struct gtp_aggr_table, key_words) ==
			      offsetof(struct gtp_aggr_table, kind) + 1,
		      "compared together");
	take_value(j, X86_RDX);
	claim(j, regs, ARRAY_SIZE(regs));
	load_table(j, X86_RCX, X86_RAX, j->insn.operand);
	x86_cmp_mem_imm(&j->b, OF_TABLE(kind), GTP_AGGR_HIST, 2);
	slow_if(j, slow, X86_CC_NE);
	x86_test(&j->b, X86_64, X86_RDX, X86_RDX);
	slow_if(j, slow, X86_CC_LE);
	x86_alu_mem(&j->b, X86_CMP, X86_64, X86_RDX, in_entry(HIST_MIN));
	slow_if(j, slow, X86_CC_L);
	x86_alu_mem(&j->b, X86_CMP, X86_64, X86_RDX, in_entry(HIST_MAX));
	slow_if(j, slow, X86_CC_G);
	x86_alu_mem_imm(&j->b, X86_ADD, X86_64, in_entry(HIST_N), 1);
	x86_alu_to_mem(&j->b, X86_ADD, X86_64, in_entry(HIST_SUM), X86_RDX);
	x86_bytes(&j->b, bsr_rdx, sizeof(bsr_rdx));
	bucket.index = X86_RDX;
	bucket.scale = 3;
	x86_alu_mem_imm(&j->b, X86_ADD, X86_64, bucket, 1);
	end_fast(j, slow);
	release(j, regs, ARRAY_SIZE(regs));
	jit_unref_reg(j, X86_RDX);
}

/* --- pairs --- */

#define KEY X86_R8
#define OWN X86_R9 /* the CPU's own variables */
#define BUCKET X86_R10
#define OF_BUCKET(member) x86_at(BUCKET, (s32)offsetof(struct gtp_pair_bucket, member))

static const u8 pair_regs[] = { X86_RAX, X86_RCX, X86_RDX, OWN, BUCKET };

static struct x86_mem of_pair(enum x86_reg pair, size_t offset)
{
	return x86_at(pair, (s32)offset);
}

static struct x86_mem own_word(u32 word)
{
	return x86_at(OWN, 8 * (s32)word);
}

static void load_pair(struct ax_jit *j, enum x86_reg reg)
{
	x86_load(&j->b, reg, own_word(GTP_TSV_TABLE + (u32)j->insn.operand), 8, false);
}

/* Emit code that sets BUCKET to the address of the bucket for KEY. */
static void find_bucket(struct ax_jit *j, u32 slow)
{
	struct x86_buf *b = &j->b;

	static_assert(sizeof(struct gtp_pair_bucket) == 1 << 7, "multiplied by a shift");
	x86_load(b, OWN, OF_ENV(local), 8, false);
	x86_mov_imm(b, X86_RCX, GTP_PAIR_FACTOR);
	x86_mov(b, BUCKET, KEY);
	x86_imul(b, X86_64, BUCKET, X86_RCX);
	x86_mov(b, X86_RDX, BUCKET);
	x86_shift(b, X86_SHR, X86_64, X86_RDX, 32);
	x86_alu(b, X86_XOR, X86_64, BUCKET, X86_RDX);
	x86_imul(b, X86_64, BUCKET, X86_RCX);
	load_pair(j, X86_RDX);
	x86_test(b, X86_64, X86_RDX, X86_RDX);
	slow_if(j, slow, X86_CC_E);
	x86_load(b, X86_RCX, of_pair(X86_RDX, offsetof(struct gtp_pair, shift)), 1, false);
	x86_shift_cl(b, X86_SHR, X86_64, BUCKET);
	x86_shift(b, X86_SHL, X86_64, BUCKET, 7);
	x86_alu_mem(b, X86_ADD, X86_64, BUCKET,
		    of_pair(X86_RDX, offsetof(struct gtp_pair, bucket)));
}

/* Emit code that sets rcx to the time of the hit in ns, as gtp_hit_time_ns() finds it. */
static void find_time(struct ax_jit *j, u32 slow)
{
	static const u8 shrd[] = { 0x48, 0x0f, 0xac, 0xd0, 32 }; /* shrd rax, rdx, 32 */
	struct x86_buf *b = &j->b;
	u32 have;

	x86_load(b, X86_RCX, OF_ENV(tsc), 8, false);
	x86_test(b, X86_64, X86_RCX, X86_RCX);
	slow_if(j, slow, X86_CC_E);
	x86_load(b, X86_RAX, OF_ENV(time), 8, false);
	x86_test(b, X86_64, X86_RAX, X86_RAX);
	have = x86_skip_if(b, X86_CC_NE);
	x86_lfence(b); /* the clock is not read before earlier instructions have finished */
	x86_rdtsc(b);
	x86_shift(b, X86_SHL, X86_64, X86_RDX, 32);
	x86_alu(b, X86_OR, X86_64, X86_RAX, X86_RDX);
	x86_store(b, OF_ENV(time), X86_RAX, 8);
	x86_land(b, have);
	x86_alu_mem(b, X86_SUB, X86_64, X86_RAX,
		    x86_at(X86_RCX, (s32)offsetof(struct gtp_calibration, tsc)));
	slow_if(j, slow, X86_CC_S);
	x86_load(b, X86_RDX, x86_at(X86_RCX, (s32)offsetof(struct gtp_calibration, rate)), 8,
		 false);
	x86_unary(b, X86_MUL, X86_64, X86_RDX);
	x86_bytes(b, shrd, sizeof(shrd));
	x86_alu_mem(b, X86_ADD, X86_64, X86_RAX,
		    x86_at(X86_RCX, (s32)offsetof(struct gtp_calibration, ns)));
	x86_mov(b, X86_RCX, X86_RAX);
}

/*
 * Emit a loop that moves the kept values from this CPU's own variables to the first slot, whose
 * values are at rdx, or back.
 */
static void move_kept(struct ax_jit *j, bool back)
{
	struct x86_mem kept = of_pair(X86_RCX, offsetof(struct gtp_pair, kept) - 2);
	struct x86_mem value = x86_at(X86_RDX, -8), own = x86_at(OWN, 0);
	struct x86_buf *b = &j->b;
	u32 again;

	load_pair(j, X86_RCX);
	x86_load(b, KEY, of_pair(X86_RCX, offsetof(struct gtp_pair, nkept)), 1, false);
	kept.index = KEY;
	value.index = KEY;
	kept.scale = 1;
	value.scale = 3;
	own.scale = 3;
	own.index = X86_RAX;
	again = b->len;
	x86_load(b, X86_RAX, kept, 2, false);
	x86_push_mem(b, back ? value : own);
	x86_pop_mem(b, back ? own : value);
	x86_alu_imm(b, X86_SUB, X86_32, KEY, 1);
	x86_jcc_short(b, X86_CC_NE, again);
}

/* Emit a test whether the pair keeps values. If it does, rdx is the address of those of slot 0. */
static u32 skip_unless_kept(struct ax_jit *j, enum x86_reg reg)
{
	x86_load(&j->b, reg, OF_BUCKET(value), 8, false);
	x86_test(&j->b, X86_64, reg, reg);
	return x86_skip_if(&j->b, X86_CC_E);
}

/* Emit the count of a start or an end. */
static void count_pair(struct ax_jit *j, size_t counter)
{
	x86_load(&j->b, X86_RAX, own_word(GTP_TSV_SECOND + (u32)j->insn.operand), 8, false);
	x86_alu_mem_imm(&j->b, X86_ADD, X86_64, x86_at(X86_RAX, (s32)counter), 1);
}

static void pair_slowly(struct ax_jit *j, const struct jit_slow *s)
{
	x86_mov(&j->b, X86_RDX, KEY);
	x86_mov_imm(&j->b, X86_RAX, s->tsv);
	jit_call_stub(j, AX_JIT_PAIR);
	jit_record_after_call(j);
}

/*
 * In a snippet of actions, leave out the remaining actions if the end has no start. In an
 * expression of its own, C sees to that.
 */
static void end_slowly(struct ax_jit *j, const struct jit_slow *s)
{
	pair_slowly(j, s);
	if (!j->req.nitems)
		return;
	x86_test(&j->b, X86_32, X86_RAX, X86_RAX);
	jit_leave_if(j, X86_CC_NE);
}

static u32 begin_pair(struct ax_jit *j, void (*slowly)(struct ax_jit *, const struct jit_slow *))
{
	u32 slow =
		jit_slow_add(j, (struct jit_slow){ .emit = slowly, .tsv = (u16)j->insn.operand });

	take_value(j, KEY);
	claim(j, pair_regs, ARRAY_SIZE(pair_regs));
	find_bucket(j, slow);
	find_time(j, slow);
	x86_load(&j->b, X86_RAX, OF_BUCKET(state), 8, false);
	x86_mov(&j->b, X86_RDX, X86_RAX);
	return slow;
}

static void end_pair(struct ax_jit *j, u32 slow)
{
	end_fast(j, slow);
	release(j, pair_regs, ARRAY_SIZE(pair_regs));
	jit_unref_reg(j, KEY);
}

static void keep(struct ax_jit *j)
{
	u32 none = skip_unless_kept(j, X86_RAX);

	x86_push(&j->b, X86_RDX);
	x86_mov(&j->b, X86_RDX, X86_RAX);
	move_kept(j, false);
	x86_pop(&j->b, X86_RDX);
	x86_load(&j->b, KEY, OF_BUCKET(key), 8, false);
	x86_land(&j->b, none);
}

/*
 * The start reserves slot 0 of an empty bucket, writes the slot, and makes it full. Only a full
 * slot could have the same key, and there is none unless the state changes meanwhile. Then free the
 * slot, and leave the whole start to C.
 */
void jit_pair_start(struct ax_jit *j)
{
	const s32 busy = (s32)GTP_PAIR_VERSION + GTP_PAIR_BUSY;
	const s32 full = (s32)GTP_PAIR_VERSION + GTP_PAIR_FULL - GTP_PAIR_BUSY;
	const s32 unbusy = (s32)GTP_PAIR_VERSION - GTP_PAIR_BUSY;
	u32 slow = begin_pair(j, pair_slowly), done;
	struct x86_buf *b = &j->b;

	x86_alu_imm(b, X86_AND, X86_32, X86_RDX, (s32)GTP_PAIR_ALL_SLOTS);
	slow_if(j, slow, X86_CC_NE);
	x86_lea(b, X86_64, X86_RDX, x86_at(X86_RAX, busy));
	x86_lock_cmpxchg(b, OF_BUCKET(state), X86_RDX);
	slow_if(j, slow, X86_CC_NE);
	x86_store(b, OF_BUCKET(key), KEY, 8);
	x86_store(b, OF_BUCKET(time), X86_RCX, 8);
	keep(j);
	x86_mov(b, X86_RAX, X86_RDX);
	x86_alu_imm(b, X86_ADD, X86_64, X86_RDX, full);
	x86_lock_cmpxchg(b, OF_BUCKET(state), X86_RDX);
	done = x86_skip_if(b, X86_CC_E);
	x86_lock_add_mem_imm(b, OF_BUCKET(state), unbusy);
	jit_jmp(j, &j->slow[slow].at);
	x86_land(b, done);
	count_pair(j, offsetof(struct gtp_pair_counts, started));
	end_pair(j, slow);
}

static void give_back(struct ax_jit *j)
{
	static const u8 used[] = { X86_RAX, X86_RCX, KEY };
	u32 none = skip_unless_kept(j, X86_RDX);

	for (u32 i = 0; i < ARRAY_SIZE(used); i++)
		x86_push(&j->b, used[i]);
	move_kept(j, true);
	for (u32 i = ARRAY_SIZE(used); i--;)
		x86_pop(&j->b, used[i]);
	x86_land(&j->b, none);
}

/* The values count only if the cmpxchg proves that the slot was full until then. */
void jit_pair_end(struct ax_jit *j)
{
	u32 slow = begin_pair(j, end_slowly), later;
	struct x86_buf *b = &j->b;

	j->ends_pair |= !!j->req.nitems;
	x86_alu_imm(b, X86_AND, X86_32, X86_RDX, GTP_PAIR_FULL);
	slow_if(j, slow, X86_CC_E);
	x86_alu_mem(b, X86_CMP, X86_64, KEY, OF_BUCKET(key));
	slow_if(j, slow, X86_CC_NE);
	give_back(j);
	x86_alu_mem(b, X86_SUB, X86_64, X86_RCX, OF_BUCKET(time));
	later = x86_skip_if(b, X86_CC_AE);
	x86_zero(b, X86_RCX); /* the clocks of two CPUs may differ by some ticks */
	x86_land(b, later);
	x86_lea(b, X86_64, X86_RDX, x86_at(X86_RAX, (s32)GTP_PAIR_VERSION - GTP_PAIR_FULL));
	x86_lock_cmpxchg(b, OF_BUCKET(state), X86_RDX);
	slow_if(j, slow, X86_CC_NE);
	load_pair(j, X86_RAX);
	x86_load(b, X86_RAX, of_pair(X86_RAX, offsetof(struct gtp_pair, since)), 2, false);
	x86_store(b, (struct x86_mem){ .base = OWN, .index = X86_RAX, .scale = 3 }, X86_RCX, 8);
	count_pair(j, offsetof(struct gtp_pair_counts, ended));
	end_pair(j, slow);
}
