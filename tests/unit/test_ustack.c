// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests stacks of programs, which are found by frame pointers: complete stacks, functions that have
 * not set up a frame, and arbitrary contents of a program's memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hit/stacks.h"
#include "hit/ustack.h"
#include <cmocka.h>

/* The program's memory has only code, and then the stack. */
enum { WORDS = 4096, TEXT = 0x401000, TEXT_BYTES = 4096, READS = 2 * GTP_USTACK_WORDS };

static const u64 STACK = 0x7ffc00001000;
static const u64 KERNEL = 0xffff888000001000;
static const u64 WHOSE = 0x7500000400000001;
static u64 stack[WORDS];
static u8 text[TEXT_BYTES];
static u64 kernel[4];
static struct {
	u64 addr;
	u32 len;
} reads[READS];
static u32 nreads;

static bool copied(void *dst, u64 addr, u32 len, u64 base, const void *from, u64 bytes)
{
	if (addr < base || addr - base > bytes - len)
		return false;
	memcpy(dst, (const char *)from + (addr - base), len);
	return true;
}

static int look(void *ctx, void *dst, u64 addr, u32 len)
{
	assert_ptr_equal(ctx, stack);
	assert_true(nreads < READS);
	reads[nreads].addr = addr;
	reads[nreads++].len = len;
	if (copied(dst, addr, len, STACK, stack, sizeof(stack)) ||
	    copied(dst, addr, len, TEXT, text, sizeof(text)) ||
	    copied(dst, addr, len, KERNEL, kernel, sizeof(kernel)))
		return 0;
	memset(dst, 0x5a, len);
	return -EFAULT;
}

static u64 at(u32 word)
{
	return STACK + word * sizeof(u64);
}

static void frame(u32 word, u64 next, u64 ret)
{
	stack[word] = next;
	stack[word + 1] = ret;
}

/* Return the addresses of the stack that is taken, as text. */
static const char *taken(struct gtp_ustack_from from)
{
	static char line[64 * GTP_USTACK_WORDS];
	u64 to[GTP_USTACK_WORDS + 1];
	u32 n, again, i;
	bool cut, cut_again;
	char *p = line;

	from.whose = WHOSE;
	nreads = 0;
	to[GTP_USTACK_WORDS] = 0xeeee;
	n = gtp_ustack_take(&from, look, stack, to, &cut);
	assert_in_range(n, 1, GTP_USTACK_WORDS);
	assert_int_equal(to[GTP_USTACK_WORDS], 0xeeee);
	assert_true(to[n - 1] == WHOSE);
	*p = '\0';
	for (i = 0; i < n - 1; i++)
		p += sprintf(p, "%llx ", (unsigned long long)to[i]);
	if (cut)
		sprintf(p, "cut");
	/* The same memory is read if the caller wants no addresses. */
	again = nreads;
	nreads = 0;
	assert_int_equal(gtp_ustack_take(&from, look, stack, NULL, &cut_again), n);
	assert_int_equal(nreads, again);
	assert_int_equal(cut_again, cut);
	return line;
}

static int clean(void **state)
{
	memset(stack, 0, sizeof(stack));
	memset(text, 0x90, sizeof(text));
	kernel[0] = KERNEL + 16;
	kernel[1] = 0x401500;
	return 0;
}

static void whole(void **state)
{
	struct gtp_ustack_from from = { .pc = 0x401010, .sp = at(0), .bp = at(2) };

	frame(2, at(8), 0x401111);
	frame(8, at(9 + 1), 0x401222);
	frame(10, 0, 0x401333);
	assert_string_equal(taken(from), "401010 401111 401222 401333 ");
	/* The outermost function has no return address. */
	frame(10, at(40), 0);
	assert_string_equal(taken(from), "401010 401111 401222 ");
	from.bp = 0;
	assert_string_equal(taken(from), "401010 ");
	assert_int_equal(nreads, 0);
}

/*
 * The pc and the callers that lie in the traced file are converted to addresses of the file's
 * space.
 */
static void of_the_file(void **state)
{
	struct gtp_ustack_from from = {
		.pc = 0x401010,
		.sp = at(0),
		.bp = at(2),
		.file = 0x401010,
		.file_bytes = 0x100,
		.to_space = 0x4700001000000000 - 0x401000,
	};

	frame(2, at(8), 0x40110f);
	frame(8, at(10), 0x401110);
	frame(10, 0, 0x40100f);
	assert_string_equal(taken(from), "4700001000000010 470000100000010f 401110 40100f ");
}

/* A bad frame pointer ends the stack with a mark, after the addresses that are certain. */
static void bad_frames(void **state)
{
	const struct gtp_ustack_from from = { .pc = 0x401010, .sp = at(4), .bp = at(6) };
	const u64 bad[] = {
		at(6),	       /* the same frame */
		at(2),	       /* below the stack pointer */
		at(7),	       /* overlaps the same frame */
		at(10) + 4,    /* not a multiple of 8 */
		at(WORDS),     /* not mapped */
		at(WORDS) - 8, /* half of it is not mapped */
		1,
		KERNEL,
		~0ULL,
		~0ULL - 7,
		0x4700000000401000, /* in a space for files */
		1ULL << 56,
		1ULL << 63,
	};
	u32 i;

	frame(2, 0, 0x401222);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		frame(6, bad[i], 0x401111);
		assert_string_equal(taken(from), "401010 401111 0 ");
	}
}

static void bad_return_addresses(void **state)
{
	const struct gtp_ustack_from from = { .pc = 0x401010, .sp = at(4), .bp = at(6) };
	const u64 bad[] = { 1, 0xfff, KERNEL, 1ULL << 56, ~0ULL, 0x4700000000401000 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		frame(6, at(8), 0x401111);
		frame(8, at(10), bad[i]);
		frame(10, 0, 0x401333);
		assert_string_equal(taken(from), "401010 401111 0 ");
	}
}

/* Addresses of the kernel are not read, although they can be: no program's stack is there. */
static void never_the_kernels(void **state)
{
	struct gtp_ustack_from from = { .pc = 0x401010, .sp = KERNEL, .bp = KERNEL };
	u32 how;

	for (how = GTP_USTACK_UNSAID; how <= GTP_USTACK_PUSHED; how++) {
		from.at = how;
		assert_string_equal(taken(from), "401010 0 ");
		assert_int_equal(nreads, 0);
	}
}

static void deep(void **state)
{
	struct gtp_ustack_from from = { .pc = 0x401010, .sp = at(0), .bp = at(0) };
	const char *text;
	u32 i;

	for (i = 0; i < GTP_USTACK_DEPTH - 1; i++)
		frame(2 * i, at(2 * i + 2), 0x401100);
	frame(2 * i, 0, 0);
	text = taken(from);
	assert_null(strstr(text, "cut"));
	assert_int_equal(strlen(text), 7 * GTP_USTACK_DEPTH);
	frame(2 * i, 0, 0x401100);
	text = taken(from);
	assert_non_null(strstr(text, "cut"));
	assert_int_equal(strlen(text), 7 * GTP_USTACK_DEPTH + 3);
}

/* --- functions without a frame yet --- */

static void put_call(u64 ret, const char *bytes, u32 n)
{
	memset(text, 0x90, sizeof(text));
	memcpy(text + (ret - n - TEXT), bytes, n);
}

static void put_direct(u64 ret, u64 target)
{
	u32 by = (u32)(target - ret);
	char call[5] = { (char)0xe8 };

	memcpy(call + 1, &by, 4);
	put_call(ret, call, 5);
}

/*
 * At "push %rbp" and at "mov %rsp,%rbp" rbp is still the caller's. The return address is on top of
 * the stack, or one word above.
 */
static void caller_without_a_frame(void **state)
{
	struct gtp_ustack_from from = { .pc = 0x401200,
					.sp = at(0),
					.bp = at(4),
					.at = GTP_USTACK_FIRST,
					.is_hit = true };

	frame(4, 0, 0x401333);
	stack[0] = 0x401100;
	put_direct(0x401100, 0x401200);
	assert_string_equal(taken(from), "401200 401100 401333 ");
	from.sp = at(1);
	stack[1] = 0xbbbb;
	stack[2] = 0x401100;
	from.at = GTP_USTACK_PUSHED;
	assert_string_equal(taken(from), "401200 401100 401333 ");
	/* A frame cannot overlap the return address. */
	from.bp = at(2);
	assert_string_equal(taken(from), "401200 401100 0 ");
	/* In an interrupt, unlike in a hit, the instruction has already been executed. */
	from.is_hit = false;
	from.bp = at(4);
	assert_string_equal(taken(from), "401200 401333 ");
}

/*
 * If the instruction at the pc does not show that a function begins there, the word on top of the
 * stack shows it: that word is the return address if the call before it leads to the pc.
 */
static void by_the_call(void **state)
{
	struct gtp_ustack_from from = { .pc = 0x401200,
					.sp = at(0),
					.bp = 0,
					.at = GTP_USTACK_UNSAID,
					.is_hit = true };

	stack[0] = 0x401800;
	put_direct(0x401800, 0x401200);
	assert_string_equal(taken(from), "401200 401800 ");
	put_direct(0x401800, 0x401201);
	assert_string_equal(taken(from), "401200 ");
	put_call(0x401800, "\xff\xd0", 2);
	assert_string_equal(taken(from), "401200 ");
	/* A breakpoint has replaced the first byte of the call. */
	put_direct(0x401800, 0x401200);
	text[0x7fb] = 0xcc;
	assert_string_equal(taken(from), "401200 401800 ");
	stack[0] = 0x401003; /* a call that ends here would begin before the program's code */
	assert_string_equal(taken(from), "401200 ");
}

/*
 * After "push %rbp": the saved rbp is on top, and the call leads to an address close before the pc.
 */
static void between(void **state)
{
	struct gtp_ustack_from from = { .pc = 0x401204,
					.sp = at(1),
					.bp = at(4),
					.at = GTP_USTACK_UNSAID,
					.is_hit = true };

	frame(1, at(4), 0x401800);
	frame(4, 0, 0x401333);
	put_direct(0x401800, 0x401200);
	assert_string_equal(taken(from), "401204 401800 401333 ");
	put_direct(0x401800, 0x401205);
	assert_string_equal(taken(from), "401204 401333 ");
	put_direct(0x401800, 0x401204 - 65);
	assert_string_equal(taken(from), "401204 401333 ");
	put_direct(0x401800, 0x401200);
	stack[1] = at(5);
	assert_string_equal(taken(from), "401204 401333 ");
}

/* All forms of call instructions are recognised before a return address, and no other bytes. */
static void calls(void **state)
{
	static const struct {
		const char *bytes;
		u32 n;
		bool is;
	} all[] = {
		{ "\xe8\0\0\0\0", 5, true },
		{ "\xff\xd0", 2, true },	     /* call *%rax */
		{ "\x41\xff\xd4", 3, true },	     /* call *%r12 */
		{ "\xff\x13", 2, true },	     /* call *(%rbx) */
		{ "\xff\x14\x24", 3, true },	     /* call *(%rsp) */
		{ "\xff\x53\x08", 3, true },	     /* call *8(%rbx) */
		{ "\xff\x54\x24\x08", 4, true },     /* call *8(%rsp) */
		{ "\xff\x93\0\1\0\0", 6, true },     /* call *0x100(%rbx) */
		{ "\xff\x94\x24\0\1\0\0", 7, true }, /* call *0x100(%rsp) */
		{ "\xff\x15\0\1\0\0", 6, true },     /* call *0x100(%rip) */
		{ "\xff\x14\xc5\0\1\0\0", 7, true }, /* call *0x100(,%rax,8) */
		{ "\xff\xe0", 2, false },	     /* jmp *%rax */
		{ "\xff\x14", 2, false },	     /* a call without its SIB byte */
		{ "\xe9\0\0\0\0", 5, false },
		{ "\x50\x53", 2, false },
	};
	struct gtp_ustack_from from = { .pc = 0x401200,
					.sp = at(0),
					.bp = 0,
					.at = GTP_USTACK_FIRST,
					.is_hit = true };
	u32 i;

	stack[0] = 0x401800;
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		put_call(0x401800, all[i].bytes, all[i].n);
		assert_string_equal(taken(from), all[i].is ? "401200 401800 " : "401200 ");
	}
}

static void instructions(void **state)
{
	static const struct {
		const char *bytes;
		u32 n;
		enum gtp_ustack_at says;
	} all[] = {
		{ "\x55\x48\x89\xe5", 4, GTP_USTACK_FIRST },
		{ "\x55", 1, GTP_USTACK_FIRST },
		{ "\xf3\x0f\x1e\xfa", 4, GTP_USTACK_FIRST },
		{ "\xf3\x0f\x1e", 3, GTP_USTACK_UNSAID },
		{ "\xc3", 1, GTP_USTACK_FIRST },
		{ "\xc2\x08\0\0", 4, GTP_USTACK_FIRST },
		{ "\xf3\xc3", 2, GTP_USTACK_FIRST },
		{ "\x48\x89\xe5\x90", 4, GTP_USTACK_PUSHED },
		{ "\x48\x8b\xec", 3, GTP_USTACK_PUSHED },
		{ "\x48\x89\xe6", 3, GTP_USTACK_UNSAID },
		{ "\x48\x89", 2, GTP_USTACK_UNSAID },
		{ "\x5d\xc3", 2, GTP_USTACK_UNSAID },
		{ "", 0, GTP_USTACK_UNSAID },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		u8 *exact =
			malloc(all[i].n + !all[i].n); /* exact, so that ASan sees a read past it */

		memcpy(exact, all[i].bytes, all[i].n);
		assert_int_equal(gtp_ustack_judge(exact, all[i].n), all[i].says);
		free(exact);
	}
}

static void no_stack(void **state)
{
	struct gtp_ustack_from from = { .bp = at(2), .sp = at(0) };

	frame(2, 0, 0x401111);
	assert_string_equal(taken(from), "");
	assert_int_equal(nreads, 0);
}

/* --- memory of any kind --- */

static u64 seed;

static u64 roll(u64 below)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (seed >> 33) % below;
}

static u64 any_word(void)
{
	switch (roll(8)) {
	case 0:
		return roll(3) ? TEXT + roll(TEXT_BYTES) : 0;
	case 1:
		return KERNEL + roll(64);
	case 2:
		return seed;
	case 3:
		return ~roll(64);
	case 4:
		return at(0) + roll(sizeof(stack) + 64);
	default:
		return at((u32)roll(WORDS + 4));
	}
}

/* Compute the expected stack separately, by the rules in the header file. */
static void expect(const struct gtp_ustack_from *from, char *line)
{
	u64 bp = from->bp, lowest = from->sp, i, n = 1;
	char *p = line + sprintf(line, "%llx ", (unsigned long long)from->pc);

	for (; bp; n++) {
		bool there = bp >= STACK && bp <= at(WORDS) - 16 && !(bp & 7) && bp >= lowest;

		i = (bp - STACK) / 8;
		if (there && !stack[i + 1])
			return;
		if (!there || stack[i + 1] < 4096 || stack[i + 1] >= 1ULL << 56) {
			sprintf(p, "0 ");
			return;
		}
		if (n == GTP_USTACK_DEPTH) {
			sprintf(p, "cut");
			return;
		}
		p += sprintf(p, "%llx ", (unsigned long long)stack[i + 1]);
		lowest = bp + 16;
		bp = stack[i];
	}
}

static void any_memory(void **state)
{
	char line[64 * GTP_USTACK_WORDS];
	u32 rounds = 300, i, deep_ones = 0;

	seed = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 0) : 1;
	while (rounds--) {
		u64 began = seed;
		struct gtp_ustack_from from = { .pc = 0x401010 };

		for (i = 0; i < WORDS; i++)
			stack[i] = any_word();
		/* The stack begins with a random number of valid frames. */
		for (i = (u32)roll(WORDS / 2); i + 8 < WORDS && roll(200);) {
			u32 next = i + 2 + (u32)roll(6);

			frame(i, at(next), TEXT + roll(TEXT_BYTES));
			if (!from.bp)
				from.bp = at(i);
			i = next;
		}
		from.sp = roll(4) ? at((u32)roll(WORDS / 2)) : any_word();
		if (!roll(4))
			from.bp = any_word();
		expect(&from, line);
		if (strcmp(taken(from), line)) {
			print_message("seed %llu\n", (unsigned long long)began);
			assert_string_equal(taken(from), line);
		}
		for (i = 0; i < nreads; i++)
			assert_true(reads[i].addr >> 56 == 0);
		deep_ones += nreads > 20;
	}
	assert_true(deep_ones > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(whole, clean),
		cmocka_unit_test_setup(of_the_file, clean),
		cmocka_unit_test_setup(bad_frames, clean),
		cmocka_unit_test_setup(bad_return_addresses, clean),
		cmocka_unit_test_setup(never_the_kernels, clean),
		cmocka_unit_test_setup(deep, clean),
		cmocka_unit_test_setup(caller_without_a_frame, clean),
		cmocka_unit_test_setup(by_the_call, clean),
		cmocka_unit_test_setup(between, clean),
		cmocka_unit_test_setup(calls, clean),
		cmocka_unit_test_setup(instructions, clean),
		cmocka_unit_test_setup(no_stack, clean),
		cmocka_unit_test_setup(any_memory, clean),
	};

	return cmocka_run_group_tests_name("ustack", tests, NULL, NULL);
}
