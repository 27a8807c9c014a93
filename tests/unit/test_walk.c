// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares stacks that gtp_walk() walks by cached steps with an unwinder that, like the kernel's,
 * follows a table. Tables and stacks are made up, and include all special cases.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include "base/regs.h"
#include "hit/walk.h"
#include <cmocka.h>

/* --- the unwinder --- */

enum base { NONE, END, SP, BP, SP_WORD, BP_WORD, R10, BASES };
enum bp { SAME, PREV_SP, BY_BP, BPS };

struct entry {
	enum base base;
	int offset;
	bool regs;
	enum bp bp;
	int bp_offset;
};

enum { ENTRIES = 64, WORDS = 200, DEEP = 16, ROOM = 2 * DEEP };

static const u64 code = 0xffffffff81000000;
static struct entry table[ENTRIES]; /* the entry of code + 16 * i; no other address has one */
static bool is_module[ENTRIES];
static u32 asked, changes;
static bool cannot_ask;

struct state {
	const u8 *begin, *end;
	u64 ip, sp, bp, r10;
	u64 regs;
	bool signal, done, error;
};

static bool read_word(const struct state *s, u64 addr, u64 *to)
{
	if (addr < (u64)(uintptr_t)s->begin || addr > (u64)(uintptr_t)s->end - sizeof(*to))
		return false;
	memcpy(to, (void *)(uintptr_t)addr, sizeof(*to));
	return true;
}

static const struct entry *entry_of(u64 at)
{
	return at - code < 16 * ENTRIES && !(at % 16) ? &table[(at - code) / 16] : NULL;
}

static bool base_of(const struct state *s, const struct entry *e, u64 *to)
{
	switch (e->base) {
	case SP:
		*to = s->sp + e->offset;
		return true;
	case BP:
		*to = s->bp + e->offset;
		return true;
	case SP_WORD:
		if (!read_word(s, s->sp, to))
			return false;
		*to += e->offset;
		return true;
	case BP_WORD:
		return read_word(s, s->bp + e->offset, to);
	default:
		*to = s->r10 + e->offset;
		return s->regs;
	}
}

/* Step to the caller's frame at @sp, which has saved registers or a return address. */
static bool step_to(struct state *s, const struct entry *e, u64 sp)
{
	u64 bp, word;

	if (e->regs) {
		if (!read_word(s, sp, &word) ||
		    !read_word(s, sp + sizeof(struct gtp_regs) - sizeof(word), &word) ||
		    !read_word(s, sp + offsetof(struct gtp_regs, rip), &s->ip) ||
		    !read_word(s, sp + offsetof(struct gtp_regs, rbp), &bp) ||
		    !read_word(s, sp + offsetof(struct gtp_regs, rsp), &s->sp))
			return false;
		s->regs = sp;
		s->bp = bp;
		s->signal = true;
		return true;
	}
	if (!read_word(s, sp - sizeof(word), &s->ip))
		return false;
	s->sp = sp;
	s->regs = 0;
	s->signal = false;
	if (e->bp == SAME)
		return true;
	return read_word(s, (e->bp == PREV_SP ? sp : s->bp) + e->bp_offset, &s->bp);
}

static bool is_userspace(const struct state *s)
{
	u64 cs;

	return s->regs && read_word(s, s->regs + offsetof(struct gtp_regs, cs), &cs) && cs & 3;
}

static void next(struct state *s)
{
	const struct entry *e = entry_of(s->signal ? s->ip : s->ip - 1);
	static const struct entry guess = { .base = BP,
					    .offset = 16,
					    .bp = PREV_SP,
					    .bp_offset = -16 };
	u64 sp, before = s->sp, word;

	if (is_userspace(s)) {
		s->done = true;
		return;
	}
	s->error |= !e;
	e = e ? e : &guess;
	s->done = e->base == END;
	if (s->done)
		return;
	if (e->base == NONE || !base_of(s, e, &sp) || !step_to(s, e, sp) ||
	    (s->sp <= before && read_word(s, s->sp, &word))) {
		s->error = true;
		s->done = true;
	}
}

static bool is_text(u64 addr)
{
	return addr - code < 16 * ENTRIES;
}

/*
 * Walk with the unwinder, like kernel/hit/stack_kernel.c. Return 0 for a stack that gtp_walk() must
 * leave to the unwinder, because it was interrupted or ends with a mark.
 */
static u32 truth(struct state s, u64 hidden, u64 hidden_bytes, u64 *to, u32 max)
{
	bool interrupted = false;
	u32 n = 0;

	to[n++] = s.ip;
	s.signal = true;
	for (next(&s); !s.done; next(&s)) {
		if (!is_text(s.ip))
			break;
		interrupted = s.regs;
		if (s.ip - hidden < hidden_bytes)
			continue;
		if (n == max)
			return n;
		if (interrupted)
			return 0;
		to[n++] = s.ip;
	}
	if (n == max)
		return n;
	return !s.error && (s.done ? !interrupted : is_userspace(&s)) ? n : 0;
}

/* --- the walker's callbacks --- */

static u64 made_up[GTP_WALK_MADE_UP];

static u32 judged(u64 at)
{
	struct gtp_regs regs = { 0 };
	struct gtp_walk_try try[2];
	u32 i;

	gtp_walk_make_up((u64)(uintptr_t)made_up, try);
	for (i = 0; i < 2; i++) {
		struct state s = { .begin = (u8 *)made_up,
				   .end = (u8 *)(made_up + GTP_WALK_MADE_UP) };

		s.ip = at;
		s.sp = try[i].sp;
		s.bp = try[i].bp;
		s.regs = (u64)(uintptr_t)&regs;
		s.signal = true;
		next(&s);
		try[i].to_sp = s.sp;
		try[i].to_bp = s.bp;
		try[i].to_ip = s.ip;
		try[i].regs = s.regs;
		try[i].done = s.done;
		try[i].error = s.error;
	}
	return gtp_walk_judge((u64)(uintptr_t)made_up, try);
}

static bool ask(void *ctx, u64 at, u32 *step, bool *stays)
{
	asked++;
	*stays = is_text(at) && !is_module[(at - code) / 16];
	*step = is_text(at + 1) ? judged(at) : GTP_WALK_HAND_OVER;
	return !cannot_ask;
}

static const struct gtp_walk_ops ops = { ask, NULL };

static u32 walk(struct gtp_walk *w, const struct state *s, u64 hidden, u64 hidden_bytes, u64 *to,
		u32 max)
{
	const struct gtp_walk_from from = {
		.begin = (u64)(uintptr_t)s->begin,
		.end = (u64)(uintptr_t)s->end,
		.pc = s->ip,
		.sp = s->sp,
		.bp = s->bp,
		.hidden = hidden,
		.hidden_bytes = hidden_bytes,
		.now = changes,
	};

	return gtp_walk_take(w, &ops, &from, to, max);
}

static int setup(void **state)
{
	u32 i;

	for (i = 0; i < GTP_WALK_MADE_UP; i++)
		made_up[i] = GTP_WALK_MARK + i;
	memset(table, 0, sizeof(table));
	memset(is_module, 0, sizeof(is_module));
	asked = 0;
	changes = 1;
	cannot_ask = false;
	*state = calloc(1, sizeof(struct gtp_walk));
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

/* --- single entries --- */

static u32 step_of(const struct entry *e)
{
	table[0] = *e;
	return judged(code);
}

static void what_is_plain(void **state)
{
	static const struct {
		struct entry e;
		u32 step;
	} plain[] = {
		{ { .base = SP, .offset = 8 }, GTP_WALK_STEP(GTP_WALK_BY_SP, 1, 0) },
		{ { .base = SP, .offset = 2040, .bp = PREV_SP, .bp_offset = -16 },
		  GTP_WALK_STEP(GTP_WALK_BY_SP, 255, 2) },
		{ { .base = SP, .offset = 64, .bp = PREV_SP, .bp_offset = -2040 },
		  GTP_WALK_STEP(GTP_WALK_BY_SP, 8, 255) },
		{ { .base = BP, .offset = 16, .bp = PREV_SP, .bp_offset = -16 },
		  GTP_WALK_STEP(GTP_WALK_BY_BP, 2, 2) },
		{ { .base = BP, .offset = 16 }, GTP_WALK_STEP(GTP_WALK_BY_BP, 2, 0) },
		/*
		 * rbp is saved at an offset from rbp, which is also a fixed offset from the
		 * caller's stack.
		 */
		{ { .base = BP, .offset = 16, .bp = BY_BP, .bp_offset = -8 },
		  GTP_WALK_STEP(GTP_WALK_BY_BP, 2, 3) },
		{ { .base = END }, GTP_WALK_END },
		{ { .base = SP, .offset = 0, .regs = true }, GTP_WALK_STEP(GTP_WALK_REGS, 0, 0) },
		{ { .base = SP, .offset = 24, .regs = true }, GTP_WALK_STEP(GTP_WALK_REGS, 3, 0) },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(plain); i++)
		assert_int_equal(step_of(&plain[i].e), plain[i].step);
}

static void what_is_not(void **state)
{
	static const struct entry other[] = {
		{ .base = NONE },
		{ .base = SP, .offset = 0 },
		{ .base = SP, .offset = -8 },
		{ .base = SP, .offset = 12 },
		{ .base = SP, .offset = 2048 },
		{ .base = SP, .offset = 8, .bp = PREV_SP, .bp_offset = -2048 },
		{ .base = SP, .offset = 8, .bp = PREV_SP, .bp_offset = 8 },
		{ .base = SP, .offset = 8, .bp = PREV_SP, .bp_offset = -12 },
		{ .base = SP, .offset = 8, .bp = BY_BP, .bp_offset = 0 },
		{ .base = BP, .offset = 2048 },
		{ .base = BP, .offset = 16, .regs = true },
		{ .base = SP, .offset = -8, .regs = true },
		{ .base = SP_WORD, .offset = 8 },
		{ .base = BP_WORD, .offset = -8 },
		{ .base = R10, .offset = 0 },
		{ .base = R10, .offset = 8, .regs = true },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(other); i++)
		assert_int_equal(step_of(&other[i]), GTP_WALK_HAND_OVER);
	/* For an address without an entry, the unwinder guesses, and reports an error. */
	assert_int_equal(judged(code + 8), GTP_WALK_HAND_OVER);
}

/* --- whole stacks --- */

/* Make a stack with @n callers, each with a frame of @words, that ends at a task's beginning. */
static u64 *chain(struct state *s, u32 n, u32 words)
{
	u64 *stack = calloc(n * words, sizeof(*stack));
	u32 i;

	for (i = 0; i < n; i++) {
		table[i] = (struct entry){ .base = SP, .offset = (int)(words * sizeof(u64)) };
		stack[(i + 1) * words - 1] = code + 16 * (i + 1) + 1;
	}
	table[n] = (struct entry){ .base = END };
	*s = (struct state){ .begin = (u8 *)stack, .end = (u8 *)(stack + n * words) };
	s->ip = code;
	s->sp = (u64)(uintptr_t)stack;
	return stack;
}

static void asks_once(void **state)
{
	u64 to[ROOM];
	struct state s;
	u64 *stack = chain(&s, 10, 3);
	u32 i;

	for (i = 0; i < 3; i++) {
		assert_int_equal(walk(*state, &s, 0, 0, to, ROOM), 11);
		assert_int_equal(asked, 11);
		assert_int_equal(to[0], code);
		assert_int_equal(to[10], code + 161);
	}
	free(stack);
}

/* A walk asks for at most 16 new steps, and then fails; the next walk continues from there. */
static void asks_for_few(void **state)
{
	u64 to[64];
	struct state s;
	u64 *stack = chain(&s, 40, 2);
	u32 rounds = 0, before;

	do {
		before = asked;
		rounds++;
	} while (!walk(*state, &s, 0, 0, to, 64) && asked - before == 16);
	assert_int_equal(rounds, 3);
	assert_int_equal(asked, 41);
	free(stack);
}

static void cannot_be_asked(void **state)
{
	u64 to[ROOM];
	struct state s;
	u64 *stack = chain(&s, 5, 3);

	cannot_ask = true;
	assert_int_equal(walk(*state, &s, 0, 0, to, ROOM), 0);
	cannot_ask = false;
	assert_int_equal(walk(*state, &s, 0, 0, to, ROOM), 6);
	free(stack);
}

static void modules_change(void **state)
{
	struct gtp_walk *w = *state;
	u64 to[ROOM];
	struct state s;
	u64 *stack = chain(&s, 5, 3);

	is_module[2] = true;
	changes = U32_MAX - 3;
	assert_int_equal(walk(w, &s, 0, 0, to, ROOM), 6);
	assert_int_equal(asked, 6);
	/* Steps outside of modules stay cached; a step in a module is asked for again. */
	changes++;
	table[2].base = BP;
	s.bp = s.sp + 16;
	assert_int_equal(walk(w, &s, 0, 0, to, ROOM), 0);
	assert_int_equal(asked, 7);
	table[2].base = SP;
	assert_int_equal(walk(w, &s, 0, 0, to, ROOM), 0);
	assert_int_equal(asked, 7);
	changes++;
	assert_int_equal(walk(w, &s, 0, 0, to, ROOM), 6);
	assert_int_equal(asked, 8);
	/* After too many changes, no steps in modules are cached. */
	changes += GTP_WALK_TAGS;
	assert_int_equal(walk(w, &s, 0, 0, to, ROOM), 0);
	is_module[2] = false;
	assert_int_equal(walk(w, &s, 0, 0, to, ROOM), 6);
	free(stack);
}

/* If the table of steps is full, the walk fails without an error. */
static void a_full_table(void **state)
{
	struct gtp_walk *w = *state;
	u64 to[ROOM];
	struct state s;
	u64 *stack = chain(&s, 5, 3);
	u32 i;

	for (i = 0; i < GTP_WALK_SLOTS; i++)
		w->slot[i] = 1ULL << 32 | 0x12345678;
	assert_int_equal(walk(w, &s, 0, 0, to, ROOM), 0);
	assert_int_equal(asked, 0);
	free(stack);
}

/* --- random tables and stacks --- */

static u32 seed;

static u32 any(u32 below)
{
	seed = seed * 1664525 + 1013904223;
	return (u32)((u64)seed * below >> 32);
}

static struct entry any_entry(void)
{
	struct entry e = { .base = any(40) ? SP : any(BASES), .offset = 8 * (1 + (int)any(6)) };

	if (any(4) == 0)
		e = (struct entry){ .base = BP, .offset = 16, .bp = PREV_SP, .bp_offset = -16 };
	if (any(3) == 0) {
		e.bp = any(30) ? PREV_SP : any(BPS);
		e.bp_offset = -8 * (1 + (int)any(8));
	}
	if (any(40) == 0)
		e.base = END;
	if (any(40) == 0)
		e.offset += (int)any(64) - 32;
	e.regs = any(20) == 0;
	return e;
}

/* Make words that are addresses of code or of the stack, or any numbers. */
static void any_stack(u64 *stack, u32 words)
{
	u32 i;

	for (i = 0; i < words; i++) {
		stack[i] = code + 16 * any(ENTRIES) + 1 + !any(200);
		if (any(6) == 0)
			stack[i] = (u64)(uintptr_t)(stack + any(words + 4));
		if (any(100) == 0)
			stack[i] = any(1000);
	}
}

static void any_stacks_of_any_tables(void **state)
{
	u64 want[ROOM], got[ROOM];
	u32 i, j, k, walked = 0, whole = 0, deep = 0;

	seed = getenv("SEED") ? (u32)atoi(getenv("SEED")) : 1;
	print_message("seed %u\n", seed);
	for (i = 0; i < 300; i++) {
		u32 words = 1 + any(WORDS);
		u64 *stack = malloc(words * sizeof(*stack));

		memset(*state, 0, sizeof(struct gtp_walk));
		for (j = 0; j < ENTRIES; j++)
			table[j] = any_entry();
		for (j = 0; j < 200; j++) {
			struct state s = { .begin = (u8 *)stack, .end = (u8 *)(stack + words) };
			u64 hidden = code + any(16 * ENTRIES), bytes = any(4) ? 0 : any(64);
			u32 n, have, max = 1 + any(DEEP);

			any_stack(stack, words);
			s.ip = code + 16 * any(ENTRIES);
			s.sp = (u64)(uintptr_t)(stack + any(words));
			s.bp = (u64)(uintptr_t)(stack + any(words));
			have = truth(s, hidden, bytes, want, max);
			/*
			 * Each walk looks up only some of the unknown steps: repeat until the walk
			 * succeeds.
			 */
			for (k = 0; k < ENTRIES; k++) {
				n = walk(*state, &s, hidden, bytes, got, max);
				if (n)
					break;
			}
			whole += !!have;
			if (!n)
				continue;
			walked++;
			deep += n > 4;
			if (n != have)
				print_message("table %u, stack %u\n", i, j);
			assert_int_equal(n, have);
			assert_memory_equal(got, want, n * sizeof(*got));
		}
		free(stack);
	}
	print_message("%u of %u by steps, %u of them deep\n", walked, whole, deep);
	assert_true(walked > 5000 && deep > 500);
	assert_true(walked > whole / 2);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(what_is_plain),   T(what_is_not),    T(asks_once),	T(asks_for_few),
		T(cannot_be_asked), T(modules_change), T(a_full_table), T(any_stacks_of_any_tables),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
