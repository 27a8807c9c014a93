// SPDX-License-Identifier: GPL-2.0-only
/* Tests that a hit changes nothing of the thread, and reads no memory that is not there. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/blob/case.h"

/* --- registers, flags, stack --- */

/* The ways in which a hit can go: by the pad, without and with a condition, and through C. */
static const struct way {
	const char *name, *cond, *actions;
	u32 n;
	u32 hits; /* of 1 */
} ways[] = {
	{ "a frame of the pad", NULL, "R30", 1, 1 },
	{ "all registers", NULL, "RFFFFF", 1, 1 },
	{ "a condition that holds", A_ABOVE("2205"), "R30", 1, 1 },
	{ "a condition that holds, all registers", A_ABOVE("2205"), "RFFFFF", 1, 1 },
	{ "a condition that is false", A_ABOVE("237fff"), "R30", 1, 0 },
	{ "through C", NULL, "R30", 2, 1 },
	{ "through C, conditions", A_ABOVE("2205"), "RFFFFF", 2, 1 },
};

static void each_way(void (*fn)(const struct way *way), const void *at)
{
	for (u32 i = 0; i < ARRAY_SIZE(ways) * 2; i++) {
		const struct way *way = &ways[i / 2];

		w.own_stacks = i % 2;
		for (u32 n = 0; n < way->n; n++)
			world_define(&w, at, way->cond, way->actions);
		world_start(&w);
		tap_about("%s, %s", way->name, i % 2 ? "own stack" : "the thread's stack");
		fn(way);
		world_stop(&w);
		equal(world_hits(&w), way->hits, "hits");
		equal(totals().created, way->hits * way->n, "frames");
		world_reset(&w);
	}
	tap_about("all");
}

static void flags_once(const struct way *way)
{
	u64 bare, probed = 0;

	__asm__ volatile("cmpq %1, %2\n\tpushfq\n\tpopq %0"
			 : "=r"(bare)
			 : "r"(7L), "r"(100L)
			 : "cc");
	place_flags(100, 7, &probed);
	equal(probed, bare, "flags");
}

static void flags_other(const struct way *way)
{
	u64 bare, probed = 0;

	__asm__ volatile("cmpq %1, %2\n\tpushfq\n\tpopq %0"
			 : "=r"(bare)
			 : "r"(S64_MIN), "r"(100L)
			 : "cc");
	place_flags(100, S64_MIN, &probed);
	equal(probed, bare, "flags");
	check(bare & 0x800, "with an overflow");
}

static void string_once(const struct way *way)
{
	check(place_string(100, 7) & 0x400, "the direction flag");
}

static void red_once(const struct way *way)
{
	equal(place_red(100, 7), 0x12345 - 77, "the red zone");
}

static void regs_once(const struct way *way)
{
	u64 in[14 + 32], out[14 + 32] = { 0 };

	for (u32 i = 0; i < ARRAY_SIZE(in); i++)
		in[i] = 0x0101010101010101 * (i + 3) >> 3;
	in[5] = 100; /* rdi */
	place_regs(in, out);
	for (u32 i = 0; i < ARRAY_SIZE(in); i++)
		equal(out[i], in[i], "a register");
}

void test_registers(void)
{
	each_way(flags_once, place_flags_at);
	each_way(flags_other, place_flags_at);
	each_way(string_once, place_string_at);
	each_way(red_once, place_red_at);
	each_way(regs_once, place_regs_at);
}

/* All collected registers are those of the place, rsp included. */
void test_values(void)
{
	for (u32 n = 1; n <= 2; n++) {
		u64 in[14 + 32], out[14 + 32];
		const struct gtp_frame *f;

		for (u32 i = 0; i < ARRAY_SIZE(in); i++)
			in[i] = 1000 + i;
		for (u32 i = 0; i < n; i++)
			world_define(&w, place_regs_at, NULL, "RFFFFF");
		world_start(&w);
		place_regs(in, out);
		world_stop(&w);
		f = gtp_buffer_next(&w.trace->run.cpus[0]->buf, NULL);
		check(f, "a frame");
		for (u32 i = 0; f && i < 14; i++) {
			/* place_regs() stores them in GDB's order, without rsp. */
			equal(reg_of(f, i < 7 ? i : i + 1), in[i], "a register in the frame");
		}
		if (f) {
			equal(reg_of(f, 15), (u64)(unsigned long)in, "r15");
			/* The function has pushed 7 words and been called; rsp was aligned. */
			equal(reg_of(f, 7) % 16, 0, "rsp, the low bits");
			check((u64)(unsigned long)out - reg_of(f, 7) < 4096, "rsp");
			equal(reg_of(f, 16), (u64)(unsigned long)place_regs_at, "rip");
			equal(reg_of(f, 18), 0x33, "cs");
			equal(reg_of(f, 19), 0x2b, "ss");
		}
		world_reset(&w);
	}
}

void test_small_stack(void)
{
	enum { PAGE = 4096, OWN = 800, SHARED = 2048 };
	u8 *pages =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(pages, PAGE, PROT_NONE);
	for (u32 i = 0; i < 4; i++) {
		w.own_stacks = i % 2;
		world_define(&w, place_add, A_ABOVE("2205"), i < 2 ? "R30" : "RFFFFFM5,0,8");
		if (i < 2)
			world_define(&w, place_add, NULL, "R30");
		w.trace->pass_errors = true;
		world_start(&w);
		equal(on_stack(pages + PAGE + (w.own_stacks ? OWN : SHARED), place_add, 10, 7), 18,
		      "the sum");
		world_stop(&w);
		equal(world_hits(&w), 1, "hits");
		world_reset(&w);
	}
	munmap(pages, 2 * PAGE);
}

/* --- signals --- */

enum { SIGNALS = 500 };

static u64 handled;
static bool done;

static void on_signal(int sig)
{
	sink += place_add(1, 99);
	WRITE_ONCE(handled, handled + 1);
}

static void *send_signals(void *arg)
{
	while (!READ_ONCE(done) && READ_ONCE(handled) < SIGNALS)
		pthread_kill(*(pthread_t *)arg, SIGUSR1);
	return NULL;
}

static void hit_in_handlers(u32 n, bool own_stacks)
{
	struct job job = { .id = 3, .calls = CALLS };
	pthread_t self = pthread_self(), sender;
	u64 hits;

	w.trace->circular = true;
	w.own_stacks = own_stacks;
	for (u32 i = 0; i < n; i++)
		world_define(&w, place_add, NULL, "R30");
	handled = 0;
	done = false;
	world_start(&w);
	pthread_create(&sender, NULL, send_signals, &self);
	while (READ_ONCE(handled) < SIGNALS)
		call_add(&job);
	WRITE_ONCE(done, true);
	pthread_join(sender, NULL);
	world_stop(&w);
	hits = world_hits(&w);
	equal(hits + totals().nested,
	      job.calls * (u64)(job.sum / ((long)CALLS * (CALLS - 1L) / 2 + CALLS + 3L * CALLS)) +
		      handled,
	      "hits and nested hits are all calls");
	printf("# %llu signals, %llu of them in a hit\n", handled, totals().nested);
	equal(totals().missed, 0, "missed hits");
	if (n == 1)
		equal(totals().created, hits, "frames");
	world_reset(&w);
}

void test_signals(void)
{
	signal(SIGUSR1, on_signal);
	hit_in_handlers(1, true);
	hit_in_handlers(2, true);
	hit_in_handlers(2, false);
	signal(SIGUSR1, SIG_DFL);
}

/* --- a signal at each instruction --- */

enum { STEPS_MAX = 100000, TRAP_FLAG = 0x100 };

static u32 steps, step_of_hit;
static sigjmp_buf endless;

static void on_step(int sig)
{
	if (++steps == step_of_hit)
		sink += place_add(1, 99);
	if (steps == STEPS_MAX)
		siglongjmp(endless, 1);
}

/* Hit in single steps, each of which is a signal. Return false if the hit does not end. */
static noinline bool step_through_hit(void)
{
	if (sigsetjmp(endless, 1))
		return false;
	steps = 0;
	__asm__ volatile("pushfq\n\torq %0, (%%rsp)\n\tpopfq" : : "i"(TRAP_FLAG) : "cc", "memory");
	sink += place_add(10, 7);
	__asm__ volatile("pushfq\n\tandq %0, (%%rsp)\n\tpopfq"
			 :
			 : "i"(~TRAP_FLAG)
			 : "cc", "memory");
	return true;
}

/* Let the handler hit at each instruction of a thread's first hit, one after another. */
static void hit_at_each_step(u32 n)
{
	bool ends = true;

	w.trace->circular = true;
	for (u32 i = 0; i < n; i++)
		world_define(&w, place_add, NULL, "R30");
	world_start(&w);
	steps = 1;
	for (step_of_hit = 1; ends && step_of_hit <= steps; step_of_hit++) {
		memset(w.agent->slot, 0, sizeof(w.agent->slot));
		w.shared->claimed = 0;
		ends = step_through_hit();
	}
	world_stop(&w);
	tap_about("step %u of %u", step_of_hit - 1, steps);
	check(ends && steps > 100, "each hit ends");
	equal(world_hits(&w) + totals().nested, 2 * (step_of_hit - 1ULL),
	      "hits and nested hits are all calls");
	equal(totals().missed, 0, "missed hits");
	tap_about("all");
	world_reset(&w);
}

void test_first_hit(void)
{
	signal(SIGTRAP, on_step);
	hit_at_each_step(1);
	hit_at_each_step(2);
	signal(SIGTRAP, SIG_DFL);
}

/* --- memory --- */

struct obj {
	int a, b;
};

static const struct obj constant = { 42, 7 };

void test_memory(void)
{
	struct obj local = { 43, 8 }, *heap = malloc(sizeof(*heap));
	struct obj *two =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct obj *cross = (struct obj *)((char *)two + 4092);
	const struct obj *good[] = { &constant, &local, heap, cross };
	const struct gtp_frame *f = NULL;

	*heap = (struct obj){ 44, 9 };
	*cross = (struct obj){ 45, 10 };
	world_define(&w, place_add, NULL, "M5,0,8");
	world_start(&w);
	for (u32 i = 0; i < ARRAY_SIZE(good); i++)
		sink += place_add((long)good[i], 0);
	world_stop(&w);
	equal(world_hits(&w), ARRAY_SIZE(good), "hits");
	for (u32 i = 0; i < ARRAY_SIZE(good); i++) {
		const struct gtp_block *b;

		f = gtp_buffer_next(&w.trace->run.cpus[0]->buf, f);
		b = f ? gtp_frame_next_block(f, NULL) : NULL;
		check(b && b->type == GTP_BLOCK_MEM && b->len == 8, "a block");
		check(b && !memcmp((const u8 *)(b + 1) + 8, good[i], 8), "the memory in the frame");
	}
	free(heap);
	munmap(two, 8192);
}

void test_bad_memory(void)
{
	char *two = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int file = memfd_create("short", 0);
	char *bus = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
	const long bad[] = { 0,
			     4095,
			     (long)none,
			     (long)bus,
			     (long)(two + 4096 - 4),
			     0x7ffffffffffc,
			     0x800000000000,
			     -4096,
			     -1,
			     S64_MAX,
			     -0xa00000L };

	munmap(two + 4096, 4096);
	w.trace->pass_errors = true;
	world_define(&w, place_add, NULL, "M5,0,8");
	world_define(&w, place_add, "26000519162022052b1427", "R30");
	world_start(&w);
	for (u32 i = 0; i < ARRAY_SIZE(bad); i++)
		equal(place_add(bad[i], 0), bad[i] + 1, "the function goes on");
	world_stop(&w);
	equal(world_hits(&w), ARRAY_SIZE(bad), "hits");
	/* The condition fails, too, except at two + 4096 - 4, where its 4 bytes are 0. */
	equal(totals().failed, 2 * ARRAY_SIZE(bad) - 1, "failures");
	equal(totals().created, ARRAY_SIZE(bad), "frames");
	munmap(two, 4096);
	munmap(none, 4096);
	munmap(bus, 4096);
	close(file);
}

void test_error_ends(void)
{
	world_define(&w, place_add, NULL, "M5,0,8");
	world_start(&w);
	sink += place_add(0, 0);
	sink += place_add(0, 0);
	equal(w.shared->stopping, 1, "the host is asked to end the run");
	world_stop(&w);
	equal(w.trace->stop, GTP_STOP_ERROR, "the reason");
	equal(w.trace->run.failure.error.code, AX_E_BAD_ADDRESS, "the error");
	equal(world_hits(&w), 1, "hits");
}
