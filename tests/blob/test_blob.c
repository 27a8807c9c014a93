// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests the agent in a process that is its own host: frames and counters are compared with what the
 * probed functions were called with.
 */
#define _GNU_SOURCE
#include <err.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/blob/case.h"

enum { THREADS = 8 };

struct world w;
long sink;

/* --- threads --- */

void *call_add(void *arg)
{
	struct job *job = arg;

	for (u32 i = 0; i < job->calls; i++)
		job->sum += place_add(i, job->id);
	return NULL;
}

/* Call place_add(i, thread) in threads; check what it returns. */
static void run_threads(u32 n, u32 calls)
{
	struct job job[64];
	long each = (long)calls * (calls - 1L) / 2 + calls;

	for (u32 i = 0; i < n; i++) {
		job[i] = (struct job){ .id = i, .calls = calls };
		if (pthread_create(&job[i].thread, NULL, call_add, &job[i]))
			errx(1, "pthread_create");
	}
	for (u32 i = 0; i < n; i++) {
		pthread_join(job[i].thread, NULL);
		equal(job[i].sum, each + (long)calls * i, "the sum of what the function returned");
	}
}

/* --- frames --- */

/* Return the n-th collected register of a frame, whose only block is one of registers. */
u64 reg_of(const struct gtp_frame *f, u32 n)
{
	const struct gtp_block *b = gtp_frame_next_block(f, NULL);
	u64 value = 0;

	if (b && b->type == GTP_BLOCK_REGS)
		memcpy(&value, (const u8 *)(b + 1) + 8 + 8 * (size_t)n, sizeof(value));
	return value;
}

struct gtp_totals totals(void)
{
	struct gtp_totals sum;

	gtp_trace_totals(w.trace, &sum);
	return sum;
}

enum { RSI_RDI = 0x30 };

/*
 * Check the frames of a part: one thread's, in the order of its calls, @step apart; return their
 * number. R masks are stored by number: rsi (4) comes before rdi (5).
 */
static u64 check_part(const struct gtp_cpu *cpu, u64 step, u64 last)
{
	const struct gtp_frame *f = NULL;
	u64 n = 0, a = 0, b = 0, time = 0;

	while ((f = gtp_buffer_next(&cpu->buf, f))) {
		u64 next = reg_of(f, 1);

		check(f->pc == (u64)(unsigned long)place_add && f->tp == 1, "pc and number");
		check(!n || (next == a + step && reg_of(f, 0) == b), "no call is left out");
		check(f->time > time, "the time grows");
		a = next;
		b = reg_of(f, 0);
		time = f->time;
		n++;
	}
	if (n)
		equal(a, last, "the last call");
	return n;
}

static void test_condition(void)
{
	const u32 above = CALLS - 1000;
	u64 n = 0;

	/* 0xf3e58 is CALLS - 1000 */
	equal(above, 0xf3e58, "the constant of the condition");
	world_define(&w, place_add, A_ABOVE("24000f3e57"), "R30");
	world_start(&w);
	run_threads(THREADS, CALLS);
	world_stop(&w);
	for (u32 i = 0; i < w.parts; i++) {
		u64 here = check_part(w.trace->run.cpus[i], 1, CALLS - 1);

		check(!here || here == 1000, "each thread has its frames");
		n += here;
	}
	equal(n, THREADS * 1000, "frames");
	equal(world_hits(&w), n, "hits");
	equal(totals().nested + totals().missed, 0, "lost hits");
}

static void test_all(void)
{
	u64 n = 0, parts = 0;

	w.trace->circular = true;
	world_define(&w, place_add, NULL, "R30");
	world_start(&w);
	run_threads(THREADS, CALLS);
	world_stop(&w);
	for (u32 i = 0; i < w.parts; i++) {
		const struct gtp_cpu *cpu = w.trace->run.cpus[i];
		u64 here = check_part(cpu, 1, CALLS - 1);

		check(here == gtp_buffer_frames(&cpu->buf), "the frames of the part");
		parts += !!here;
		n += cpu->buf.created;
	}
	equal(n, (u64)THREADS * CALLS, "frames that were ever written");
	equal(world_hits(&w), n, "hits");
	check(parts <= THREADS && parts, "a part for each thread");
}

static void test_through_c(void)
{
	w.trace->circular = true;
	world_define(&w, place_add, NULL, "R30");
	world_define(&w, place_add, A_ABOVE("2205"), "R30");
	world_start(&w);
	run_threads(THREADS, CALLS / 10);
	world_stop(&w);
	equal(world_hits(&w), (u64)THREADS * (CALLS / 10), "hits of the first");
	equal(gtp_trace_hits(w.trace, w.trace->tps.first->next).hits,
	      (u64)THREADS * (CALLS / 10 - 6), "hits of the second");
	equal(totals().created, (u64)THREADS * (CALLS / 5 - 6), "frames");
}

/* --- the rest --- */

static void test_fork(void)
{
	for (u32 n = 1; n <= 2; n++) {
		int status = -1;
		pid_t child;

		for (u32 i = 0; i < n; i++)
			world_define(&w, place_add, NULL, "R30");
		world_start(&w);
		sink += place_add(1, 2);
		child = fork();
		if (!child) {
			long sum = 0;

			for (u32 i = 0; i < 1000; i++)
				sum += place_add(i, 5);
			_exit(sum == 999 * 500 + 6000 ? 0 : 1);
		}
		waitpid(child, &status, 0);
		sink += place_add(3, 4);
		world_stop(&w);
		equal(status, 0, "the child");
		equal(world_hits(&w), 2, "hits of the parent");
		equal(totals().missed, 0, "missed hits");
		equal(w.shared->claimed, 1, "parts");
		world_reset(&w);
	}
}

static void test_no_part(void)
{
	w.parts = 2;
	w.trace->circular = true;
	world_define(&w, place_add, NULL, "R30");
	world_start(&w);
	{
		struct job job[4];

		/* All threads live at the same time, so each has a key of its own. */
		for (u32 i = 0; i < 4; i++) {
			job[i] = (struct job){ .id = i, .calls = CALLS };
			pthread_create(&job[i].thread, NULL, call_add, &job[i]);
		}
		for (u32 i = 0; i < 4; i++)
			pthread_join(job[i].thread, NULL);
	}
	world_stop(&w);
	equal(world_hits(&w) + totals().missed, 4ULL * CALLS, "hits and missed hits are all calls");
	equal(totals().missed, w.shared->no_part, "missed for want of a part");
	equal(w.shared->claimed, 2, "parts");
	equal(totals().created, world_hits(&w), "frames");
}

/* Hits must not allocate them: the kernel may end the process for that. */
static void test_pages(void)
{
	struct stat st = { 0 };

	world_define(&w, place_add, NULL, "R30");
	world_start(&w);
	fstat(w.space.fd, &st);
	check((u64)st.st_blocks * 512 >= (u64)w.parts * w.each, "pages for all buffers");
	world_stop(&w);
}

static void define_var(const char *text)
{
	struct gtp_why why = { "" };

	if (gtp_tsvs_define(&w.trace->run.tsvs, &w.trace->mem, text, &why))
		errx(1, "%s", why.text);
}

static void test_variable(void)
{
	define_var("50:0:0:78"); /* x */
	/* $x = $x + $x / 1000000 + 1, which needs the lock */
	world_define(&w, place_add, NULL, world_expr("2c00502c005024000f424005022201022d005027"));
	w.trace->circular = true;
	world_start(&w);
	run_threads(4, CALLS / 10);
	world_stop(&w);
	equal(world_hits(&w) + totals().busy, 4 * (CALLS / 10),
	      "hits and hits that missed the lock");
	equal((u64)w.trace->run.tsvs.slot[0x50]->value, world_hits(&w), "the variable");
}

static void test_builtin(void)
{
	const struct gtp_frame *f;
	const struct gtp_block *b;
	u64 tid = 0;

	/* collect $current_task_pid */
	world_define(&w, place_add, NULL, world_expr("2e000427"));
	world_start(&w);
	sink += place_add(1, 2);
	world_stop(&w);
	f = gtp_buffer_next(&w.trace->run.cpus[0]->buf, NULL);
	b = f ? gtp_frame_next_block(f, NULL) : NULL;
	if (b)
		memcpy(&tid, b + 1, sizeof(tid));
	equal(tid, (u64)gettid(), "the thread's id");
}

static const struct {
	const char *name;
	void (*fn)(void);
} tests[] = {
	{ "tstart allocates the pages of all buffers", test_pages },
	{ "8 threads call 10^6 times: a frame for each call that the condition is true for",
	  test_condition },
	{ "8 threads call 10^6 times: each call is a hit, and the last frames are complete",
	  test_all },
	{ "two tracepoints at a place, which C handles", test_through_c },
	{ "flags, red zone, general and xmm registers are unharmed", test_registers },
	{ "collected registers are those of the place", test_values },
	{ "a hit needs 800 bytes of the thread's stack, or 2,048 without a stack of its own",
	  test_small_stack },
	{ "hits in signal handlers are hits, or counted as nested", test_signals },
	{ "a signal at each instruction of a thread's first hit, whose handler hits, too",
	  test_first_hit },
	{ "memory of the program, the stack, the heap, and across pages", test_memory },
	{ "a bad pointer is an error, and the process lives", test_bad_memory },
	{ "an error ends the run", test_error_ends },
	{ "the jumps of a forked child pass through", test_fork },
	{ "hits of threads without a part are counted as missed", test_no_part },
	{ "a variable that threads share loses no addition", test_variable },
	{ "a thread's id", test_builtin },
};

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(2, "usage: test_blob IMAGE");
	world_init(&w, argv[1]);
	world_place(&w, place_add, true);
	world_place(&w, place_flags_at, false);
	world_place(&w, place_red_at, true);
	world_place(&w, place_regs_at, false);
	world_place(&w, place_string_at, true);
	for (u32 i = 0; i < ARRAY_SIZE(tests); i++) {
		tests[i].fn();
		world_reset(&w);
		tap_result(tests[i].name);
	}
	return tap_end();
}
