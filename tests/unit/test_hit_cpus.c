// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hit writes no cache line that a hit on another CPU accesses, so that hits cost the same on any
 * number of CPUs.
 *
 * As in the kernel, two small objects can share a cache line. All memory of the session is watched,
 * except the stack, which each CPU has for itself.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include "fake_code.h"
#include "hit/hit.h"
#include "hit_case.h"
#include "touched.h"

enum {
	CPUS = 4,
	HITS = 3, /* hits on each CPU; the first one adds keys */
	PAGE = 4096,
	MEMORY = 16 << 20,
	OBJECT = 0x20000000, /* rdi points here; code reads it directly */
	LIMIT = 0x7fff0000,
};

/* --- memory, placed as by kmalloc() --- */

static const u32 class_bytes[] = { 8, 16, 32, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192 };

static struct {
	u8 *mem;
	size_t used;
	struct {
		u8 *at;
		u32 left;
	} slab[ARRAY_SIZE(class_bytes)];
} kernel;

static void *pages(size_t bytes)
{
	void *p = kernel.mem + kernel.used;

	kernel.used += (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
	assert_true(kernel.used <= MEMORY);
	return p;
}

static void *kernel_alloc(size_t bytes)
{
	u32 i = 0;
	u8 *p;

	while (i < ARRAY_SIZE(class_bytes) && class_bytes[i] < bytes)
		i++;
	if (i == ARRAY_SIZE(class_bytes))
		return pages(bytes);
	if (!kernel.slab[i].left) {
		kernel.slab[i].at = pages(2 * PAGE);
		kernel.slab[i].left = 2 * PAGE / class_bytes[i];
	}
	p = kernel.slab[i].at;
	kernel.slab[i].at += class_bytes[i];
	kernel.slab[i].left--;
	return p;
}

/* Free memory of the session, or memory that malloc() returned before the session. */
static void kernel_free(void *p)
{
	if ((size_t)((u8 *)p - kernel.mem) >= MEMORY)
		free(p);
}

/* --- a machine in this memory --- */

static struct jit_user *arena;

/* Callbacks that write nothing, unlike the fake machine's, which count calls and set clocks. */
static int read_direct(void *ctx, void *dst, u64 addr, u32 len)
{
	memcpy(dst, (const void *)addr, len);
	return 0;
}

static u64 no_clock(void *ctx)
{
	return 1;
}

static const struct gtp_hit_ops quiet_ops = { .read = read_direct, .clock = no_clock };

static struct fake *machine(void)
{
	static const char *const vars[] = {
		"50:0:0:636f756e745f61", /* count_a */
		"51:0:0:686973745f61",	 /* hist_a */
		"53:0:0:6b65795f61",	 /* key_a */
		"56:0:0:705f6e",	 /* p_n */
		"57:0:0:79",		 /* y, shared by all CPUs */
	};
	struct gtp_why why;
	struct fake *f;

	memset(&kernel, 0, sizeof(kernel));
	kernel.mem = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(kernel.mem, MAP_FAILED);
	f = pages(sizeof(*f));
	assert_int_equal(fake_init(f), 0);
	f->obtain = kernel_alloc;
	f->give = kernel_free;
	f->ncpus = CPUS;
	for (u32 i = 0; i < ARRAY_SIZE(vars); i++)
		assert_int_equal(gtp_tsvs_define(&f->trace.run.tsvs, &f->mem, vars[i], &why), 0);
	f->trace.run.hit_ops = &quiet_ops;
	touched_watch(kernel.mem, MEMORY);
	return f;
}

static void scrap(struct fake *f)
{
	assert_int_equal(fake_exit(f), 0);
	assert_int_equal(munmap(kernel.mem, MEMORY), 0);
}

struct one_hit {
	const struct gtp_location *loc;
	struct gtp_cpu *cpu;
};

static void hits(void *arg)
{
	static const struct gtp_regs r = { .rdi = OBJECT, .rsi = 7 };
	struct one_hit *h = arg;

	for (u32 i = 0; i < HITS; i++)
		fake_hit(h->loc, h->cpu, &r, 0);
}

/* Let hits read the time from the processor's counter, as hits on the quick path must. */
static void use_counter(struct fake *f)
{
	static const struct gtp_calibration still;

	for (u32 i = 0; i < CPUS; i++)
		f->trace.run.cpus[i]->env.tsc = &still;
	assert_int_equal(gtp_trace_enable(&f->trace, 1, 0x1000, true), 0);
}

static struct touched by[CPUS];

static void hit_all(struct fake *f, bool compiled)
{
	memset(by, 0, sizeof(by));
	if (compiled)
		fake_code_on(&f->trace, arena);
	start(f);
	if (compiled)
		use_counter(f);
	for (u32 i = 0; i < CPUS; i++) {
		struct one_hit h = { f->trace.locs, f->trace.run.cpus[i] };

		touched_by(&by[i], hits, &h);
		assert_false(by[i].lost);
		assert_true(by[i].n > 0);
	}
}

/* struct row - a tracepoint; @frames: hits leave frames; @counted: hits are counted */
struct row {
	const char *name, *cond, *actions[3];
	bool frames, counted;
};

#define O_A REG("05") REF32
#define ADD_ONE(n) GETV(n) CONST8("01") ADD SETV(n)

static const struct row rows[] = {
	{ "false", O_A CONST8("09") EQUAL END, { NULL }, false, false },
	{ "an empty frame", NULL, { NULL }, true, true },
	{ "a frame", O_A CONST8("2a") EQUAL END, { "M5,0,8", "RFF" }, true, true },
	{ "$p_n = $p_n + 1", NULL, { ADD_ONE("56") END }, true, true },
	{ "count", NULL, { CONST8("01") SETV("50") END }, false, true },
	{ "hist by key", NULL, { O_A SETV("53") END, REG("04") SETV("51") END }, false, true },
};

static void one_row(struct fake *f, const struct row *row, bool compiled)
{
	struct gtp_tracepoint *tp;
	struct gtp_totals sum;
	u64 addr;

	tp = define(f, "1:1000:E:0:0", row->cond, row->actions[0], row->actions[1], NULL);
	hit_all(f, compiled);
	assert_int_equal(gtp_trace_hits(&f->trace, tp).hits, row->counted ? CPUS * HITS : 0);
	gtp_trace_totals(&f->trace, &sum);
	assert_int_equal(sum.created, row->frames ? CPUS * HITS : 0);
	for (u32 i = 0; i < CPUS; i++) {
		assert_true(touched_wrote(&by[i], (u64)(uintptr_t)&f->trace.run.cpus[i]->in_hit));
		for (u32 k = 0; k < i; k++) {
			addr = touched_shared(&by[i], &by[k]);
			if (addr)
				fail_msg("%s, %s: CPUs %u and %u share the line of 0x%llx",
					 row->name, compiled ? "compiled" : "interpreted", k, i,
					 addr);
		}
	}
}

static void all_rows(bool compiled)
{
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fake *f = machine();

		one_row(f, &rows[i], compiled);
		scrap(f);
	}
}

static void no_line_is_shared(void **state)
{
	all_rows(false);
}

static void no_line_is_shared_by_machine_code(void **state)
{
	all_rows(true);
}

/* All CPUs write to $y, so $y = $y + 1 shows that the test finds shared lines. */
static void a_shared_variable_is_noticed(void **state)
{
	for (u32 compiled = 0; compiled < 2; compiled++) {
		struct fake *f = machine();
		const struct gtp_tsv *y = f->trace.run.tsvs.slot[0x57];

		define(f, "1:1000:E:0:0", NULL, ADD_ONE("57") END, NULL);
		hit_all(f, compiled);
		assert_int_equal(y->value, CPUS * HITS);
		assert_true(touched_wrote(&by[0], (u64)(uintptr_t)&y->value));
		assert_true(touched_shared(&by[0], &by[1]));
		scrap(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_line_is_shared),
		cmocka_unit_test(no_line_is_shared_by_machine_code),
		cmocka_unit_test(a_shared_variable_is_noticed),
	};
	int *object = mmap((void *)OBJECT, PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (object != (void *)OBJECT)
		return 1;
	object[0] = 42;
	object[1] = 7;
	arena = jit_user_new(1 << 20, LIMIT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
