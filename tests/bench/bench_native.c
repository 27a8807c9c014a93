// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cycles of a hit, natively in userspace: a function with a jump to a pad in it, as the kernel has
 * it, the same code for condition, actions and frame, on a fake machine.
 *
 * What is not the kernel's: no cli and clac, the CPU's part is found by a plain variable, and one
 * task that is never GDB's. Cycles are the processor's counter, whose ticks are calibrated in each
 * round by a chain of additions, one a cycle.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "hit/hit.h"
#include "tests/bench/native_entry.h"
#include "tests/fuzz/padmake.h"
#include "tests/unit/fake_code.h"
#include "tests/unit/fake_target.h"

enum {
	ROUNDS = 201,
	CALLS = 2000, /* a round */
	ADDS = 40000, /* in a chain: so many cycles */
	PAGE = 4096,
	OBJECT = 0x20000000,
	LIMIT = 0x7fff0000,
	ARENA = 64 << 10,
	ADDR = 0x1000,	 /* what the tracepoint calls the place */
	FUNCTION_AT = 0, /* in the page of places */
	RETURNS_AT = 0x100,
	COMPARES_AT = 0x200,
	REGION_AT = 3, /* of the function's bytes */
	REGION_LEN = 7,
	NUMBER = 1,
};

struct obj {
	int a, b;
};

typedef long (*place_fn)(struct obj *o, int n);

/* --- the machine --- */

static struct fake fake;
static struct jit_user *code, *place;

/* In the kernel: a word of each CPU, the table of pads' numbers, a process's number. */
static struct gtp_cpu *this_cpu;
static struct gtp_location *numbers[4];
static u32 tgid = 77, self_mask = ~0U, self_value = 78;

/* What the GS segment holds; at 0 there would be no task to mark. */
static struct task {
	u64 none;
	u64 self;
	u32 faults;
} task;

static void die(const char *what, const char *why)
{
	fprintf(stderr, "bench_native: %s: %s\n", what, why);
	exit(1);
}

void bench_hit(struct gtp_regs *regs, u32 word)
{
	struct gtp_location *loc = gtp_acquire(&numbers[word]);
	struct gtp_cpu *cpu = READ_ONCE(this_cpu);

	if (unlikely(!(regs->eflags & 0x200)))
		return;
	if (likely(loc && cpu) && likely((READ_ONCE(tgid) & READ_ONCE(self_mask)) != self_value))
		gtp_hit_inline(loc, cpu, regs, word & GTP_PAD_HELD, 0);
}

/* --- the place --- */

/* long f(struct obj *o, int n) { long sum = n; sum += 0x12345; return sum + o->a; } */
static const u8 function[] = {
	0x48, 0x63, 0xc6,			  /* movsxd rax, esi */
	0x48, 0x8d, 0x80, 0x45, 0x23, 0x01, 0x00, /* lea rax, [rax + 0x12345] */
	0x48, 0x63, 0x17,			  /* movsxd rdx, [rdi] */
	0x48, 0x01, 0xd0,			  /* add rax, rdx */
	0xc3,
};

/* The same behind a comparison as a compiler would put it there, which never jumps. */
static const u8 compares[] = {
	0x48, 0x63, 0xc6, 0x81, 0x3f, 0xe8, 0x03, 0x00, 0x00, /* cmp dword [rdi], 1000 */
	0x7f, 0x0e,					      /* jg to what follows */
	0x48, 0x8d, 0x80, 0x45, 0x23, 0x01, 0x00, 0x48, 0x63,
	0x17, 0x48, 0x01, 0xd0, 0xc3, 0x0f, 0x0b,
};

static const u8 returns[] = { 0xc3 };

static place_fn put(u32 at, const u8 *bytes, u32 len)
{
	memcpy(place->write + at, bytes, len);
	return (place_fn)(uintptr_t)(place->exec + at);
}

/* struct row - tracepoints, their expressions as bare bytecode; are there hits, and frames */
struct row {
	const char *name, *cond, *acts[2];
	bool hits, frames;
	u32 goal;  /* cycles above the bare function; 0: none */
	u32 here;  /* tracepoints at the place, all alike */
	bool pass; /* with a pass count that is never reached */
};

/* clang-format off */
#define IF_A_ABOVE(n)	"260005191620" n "2b1427"	/* o->a > n, as GDB has it */
#define NEVER		IF_A_ABOVE("2303e8")
#define HOLDS		IF_A_ABOVE("2205")
#define A_PLUS_B	"2600050d041916202600052204020d0419162002162027"
#define COUNT		"22012d005127"			/* $count_a = 1 */
#define KEY		"2600051916202d005227"		/* $key_a = o->a */
#define HIST		"2600052204021916202d005327"	/* $hist_a = o->b */
#define PER_CPU		"2c00502201022d005027"		/* $p_n = $p_n + 1 */
/* clang-format on */

static const struct row rows[] = {
	{ "condition o->a > 1000, false", NEVER, { NULL }, false, false, 8, 1, false },
	{ "condition o->a > 5, true, an empty frame", HOLDS, { NULL }, true, true, 0, 1, false },
	{ "condition o->a > 5, and a + b into a frame",
	  HOLDS,
	  { A_PLUS_B },
	  true,
	  true,
	  60,
	  1,
	  false },
	{ "no condition, an empty frame", NULL, { NULL }, true, true, 0, 1, false },
	{ "collect *o", NULL, { "M5,0,8" }, true, true, 0, 1, false },
	{ "collect $regs", NULL, { "RFFFFFF" }, true, true, 0, 1, false },
	{ "$p_n = $p_n + 1, with its frame", NULL, { PER_CPU }, true, true, 0, 1, false },
	{ "count", NULL, { COUNT }, true, false, 0, 1, false },
	{ "hist of o->b by o->a", NULL, { KEY, HIST }, true, false, 0, 1, false },
	{ "a + b as above, 2 tracepoints", HOLDS, { A_PLUS_B }, true, true, 0, 2, false },
	{ "a + b as above, 10 tracepoints", HOLDS, { A_PLUS_B }, true, true, 0, 10, false },
	{ "o->a > 1000, false, 64 tracepoints", NEVER, { NULL }, false, false, 0, 64, false },
	{ "a + b as above, with a pass count", HOLDS, { A_PLUS_B }, true, true, 0, 1, true },
};

/* --- time --- */

static u64 ticks(void)
{
	u32 low, high;

	__asm__ volatile("lfence; rdtsc; lfence" : "=a"(low), "=d"(high) : : "memory");
	return (u64)high << 32 | low;
}

/* One cycle each, whatever else the processor can do meanwhile. */
static double ticks_a_cycle(void)
{
	u64 start = ticks(), x = 1;

	for (u32 i = 0; i < ADDS / 100; i++)
		__asm__ volatile(".rept 100\n"
				 "add %0, %0\n"
				 ".endr"
				 : "+r"(x));
	return (double)(ticks() - start) / ADDS;
}

/* Calls on their own; or each waits for what the one before has returned. */
static double calls(place_fn fn, struct obj *o, bool wait)
{
	u64 start, zero = 0;
	struct obj *to = o;

	__asm__("" : "+r"(zero));
	start = ticks();
	for (u32 i = 0; i < CALLS; i++) {
		long sum = fn(to, 3);

		if (wait)
			to = (struct obj *)((char *)o + ((u64)sum & zero));
	}
	return (double)(ticks() - start) / CALLS;
}

/* --- a row --- */

static void add_expr(char *to, const char *hex)
{
	if (*hex == 'R' || *hex == 'M')
		strcat(to, hex);
	else
		sprintf(to + strlen(to), "X%zx,%s", strlen(hex) / 2, hex);
}

static void start(const struct row *r)
{
	static const struct gtp_calibration still;
	static const char *const vars[] = {
		"50:0:0:705f6e",	 /* p_n */
		"51:0:0:636f756e745f61", /* count_a */
		"52:0:0:6b65795f61",	 /* key_a */
		"53:0:0:686973745f61",	 /* hist_a */
	};
	char def[256], acts[512] = "", cond[128] = "";
	struct gtp_why why = { "" };

	if (fake_init(&fake))
		die(r->name, "no memory");
	for (u32 i = 0; i < ARRAY_SIZE(vars); i++)
		gtp_tsvs_define(&fake.trace.run.tsvs, &fake.mem, vars[i], &why);
	if (r->cond) {
		strcat(cond, ":");
		add_expr(cond, r->cond);
	}
	for (u32 i = 0; i < ARRAY_SIZE(r->acts) && r->acts[i]; i++)
		add_expr(acts, r->acts[i]);
	for (u32 n = 1; n <= r->here; n++) {
		snprintf(def, sizeof(def), "%x:1000:E:0:%x%s", n, r->pass ? 0x7fffffff : 0, cond);
		fake_define(&fake, def, *acts ? acts : NULL);
	}
	fake_code_on(&fake.trace, code);
	fake.trace.buffer_bytes = FAKE_BYTES_MAX;
	if (gtp_trace_start(&fake.trace, &why))
		die(r->name, why.text);
	this_cpu = fake.trace.run.cpus[0];
	this_cpu->tsc = &still;
	/* Quick hits, now that there is a counter. */
	for (u32 n = 1; n <= r->here; n++)
		gtp_trace_enable(&fake.trace, n, ADDR, true);
}

/* The way through the pad is there: a call whose condition holds is a hit. */
static void check_way(const struct row *r, place_fn fn)
{
	struct obj *o = (struct obj *)OBJECT;
	struct obj was = *o;

	o->a = 2000;
	fn(o, 3);
	*o = was;
	if (gtp_trace_hits(&fake.trace, fake.trace.tps.first).hits != 1)
		die(r->name, "the pad is not entered");
}

/* The pad that probe/jump/ would make for the location. */
static u64 make_pad(const struct gtp_location *loc, u32 *len)
{
	const struct gtp_expr *cond = loc->first->cond;
	struct gtp_region region = {
		.len = REGION_LEN,
		.n = 1,
		.flags_dead = true,
		.falls_out = true,
	};
	struct gtp_pad_request req = {
		.region = &region,
		.cond = cond && !loc->first->next_here && gtp_pad_can(&cond->ax, &code->target) ?
				&cond->ax :
				NULL,
		.target = &code->target,
		.at = (u64)(uintptr_t)(place->exec + FUNCTION_AT + REGION_AT),
		.number = NUMBER,
	};

	memcpy(region.bytes, function + REGION_AT, REGION_LEN);
	if (gtp_insn_decode(&region.insn[0], region.bytes, REGION_LEN))
		die("the place", "not decoded");
	return padmake(code, &req, len);
}

static void write_jump(u64 pad)
{
	u8 *at = place->write + FUNCTION_AT + REGION_AT;
	u64 from = (u64)(uintptr_t)(place->exec + FUNCTION_AT + REGION_AT) + 5;

	at[0] = 0xe9;
	gtp_put_le(at + 1, pad - from, 4);
}

/* Every round begins with an empty buffer, which then is in the cache. */
static void empty_buffer(struct gtp_cpu *cpu)
{
	gtp_buffer_init(&cpu->buf, cpu->buf.mem, cpu->buf.size, false);
}

static void check(const struct row *r, u64 before)
{
	struct gtp_totals sum;

	gtp_trace_totals(&fake.trace, &sum);
	if (gtp_trace_hits(&fake.trace, fake.trace.tps.first).hits - before !=
		    (r->hits ? CALLS : 0) ||
	    sum.created != (r->frames ? CALLS * r->here : 0) || !fake.trace.run.active)
		die(r->name, "not every call was the hit that it had to be");
}

/* struct figures - cycles of a call: on its own, and waiting for the one before */
struct figures {
	double alone, waiting;
};

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Medians. @r: what is hit, NULL: nothing */
static struct figures measure(place_fn fn, const struct row *r)
{
	static double found[2][ROUNDS];
	u64 before = 0;

	for (u32 i = 0; i < ROUNDS * 2; i++) {
		double cycle = ticks_a_cycle();

		if (r) {
			empty_buffer(this_cpu);
			before = gtp_trace_hits(&fake.trace, fake.trace.tps.first).hits;
		}
		found[i % 2][i / 2] = calls(fn, (struct obj *)OBJECT, i % 2) / cycle;
		if (r)
			check(r, before);
	}
	for (u32 i = 0; i < 2; i++)
		qsort(found[i], ROUNDS, sizeof(**found), by_size);
	return (struct figures){ found[0][ROUNDS / 2], found[1][ROUNDS / 2] };
}

static void print(const char *name, struct figures f, struct figures bare, u32 goal)
{
	printf("%-44s %8.1f %8.1f %8.1f %8.1f", name, f.alone, f.alone - bare.alone, f.waiting,
	       f.waiting - bare.waiting);
	if (goal)
		printf("   goal: %u, %s", goal,
		       f.alone - bare.alone <= goal ? "reached" : "missed");
	printf("\n");
	fflush(stdout);
}

static void measure_row(const struct row *r, struct figures bare)
{
	place_fn fn = put(FUNCTION_AT, function, sizeof(function));
	u64 pad;
	u32 len;

	start(r);
	numbers[NUMBER << 1] = fake.trace.locs;
	numbers[NUMBER << 1 | GTP_PAD_HELD] = fake.trace.locs;
	pad = make_pad(fake.trace.locs, &len);
	if (!pad)
		die(r->name, "no pad");
	write_jump(pad);
	check_way(r, fn);
	print(r->name, measure(fn, r), bare, r->goal);
	put(FUNCTION_AT, function, sizeof(function));
	if (fake_exit(&fake))
		die(r->name, "memory is left");
	jit_user_reset(code);
}

static void set_up(void)
{
	struct obj *o = mmap((void *)OBJECT, PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (o != (struct obj *)OBJECT)
		die("mmap", strerror(errno));
	*o = (struct obj){ 42, 7 };
	place = jit_user_new(PAGE, 0);
	memset(place->write, 0xcc, PAGE);
	code = jit_user_new(ARENA, LIMIT);
	code->target.pad_hit = (u64)(uintptr_t)bench_pad_hit;
	code->target.lahf = true;
	task.self = (u64)(uintptr_t)&task;
	code->target.task = (s32)offsetof(struct task, self);
	code->target.task_faults = (s32)offsetof(struct task, faults);
	jit_user_set_gs(&task);
}

int main(void)
{
	struct figures bare;

	set_up();
	printf("cycles of a call; medians of %d rounds of %d\n", ROUNDS, CALLS);
	printf("%-44s %8s %8s %8s %8s\n", "", "alone", "above", "waiting", "above");
	bare = measure(put(FUNCTION_AT, function, sizeof(function)), NULL);
	print("an empty function", measure(put(RETURNS_AT, returns, sizeof(returns)), NULL), bare,
	      0);
	print("the function that is traced, bare", bare, bare, 0);
	print("with a comparison, predicted",
	      measure(put(COMPARES_AT, compares, sizeof(compares)), NULL), bare, 0);
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++)
		measure_row(&rows[i], bare);
	return 0;
}
