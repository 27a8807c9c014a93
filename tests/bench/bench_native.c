// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure how many cycles a hit takes, natively in userspace. The measured function has a jump to a
 * pad. The pad, the condition, the actions and the frame use the same code as in the kernel, on a
 * fake machine.
 *
 * Each row of the table is measured with a pad that writes the frame itself, if the kernel would
 * make such a pad, and with a pad that calls C to write the frame. The first pad must never call C:
 * if it does so for a single hit, the program ends.
 *
 * The test differs from the kernel in three ways. The assembly that calls C does not execute cli
 * and clac. The only task never belongs to GDB. C finds the CPU's struct gtp_cpu in a plain
 * variable.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "hit/hit.h"
#include "pad/frame.h"
#include "tests/bench/cycles.h"
#include "tests/bench/native_entry.h"
#include "tests/fuzz/padmake.h"
#include "tests/fuzz/padtask.h"
#include "tests/unit/fake_code.h"
#include "tests/unit/fake_target.h"

enum {
	PAGE = 4096,
	OBJECT = 0x20000000,
	LIMIT = 0x7fff0000,
	ARENA = 64 << 10,
	ADDR = 0x1000,	 /* the tracepoint's address */
	FUNCTION_AT = 0, /* offset of the function in its page */
	RETURNS_AT = 0x100,
	COMPARES_AT = 0x200,
	REGION_AT = 3, /* offset in the function */
	REGION_LEN = 7,
	NUMBER = 1,
};

/* enum way - what writes the frame of a hit */
enum way {
	THE_PAD, /* the pad writes the frame */
	THROUGH_C,
	NR_WAYS,
};

/* --- the machine --- */

static struct fake fake;
static struct jit_user *code, *place;

/*
 * These replace three things in the kernel: the per-CPU pointer, the table that maps a pad's number
 * to a tracepoint, and the check whether the current process belongs to GDB.
 */
static struct gtp_cpu *this_cpu;
static struct gtp_tracepoint *numbers[4];
static u32 tgid = 77, self_mask = ~0U, self_value = 78;
static struct padtask task;

/* The name of the row that is being measured. */
static const char *now;

static void die(const char *why)
{
	fprintf(stderr, "bench_native: %s: %s\n", now, why);
	exit(1);
}

void bench_left(void)
{
	die("the pad leaves a hit to C");
}

void bench_hit(struct gtp_regs *regs, u32 word)
{
	struct gtp_tracepoint *tp = gtp_acquire(&numbers[word]);
	struct gtp_cpu *cpu = READ_ONCE(this_cpu);

	if (unlikely(!(regs->eflags & 0x200)))
		return;
	if (likely(tp && cpu) && likely((READ_ONCE(tgid) & READ_ONCE(self_mask)) != self_value))
		gtp_hit_inline(tp, cpu, regs, word & GTP_PAD_HELD, 0);
}

/* --- the traced function --- */

/* long f(struct obj *o, int n) { long sum = n; sum += 0x12345; return sum + o->a; } */
static const u8 function[] = {
	0x48, 0x63, 0xc6,			  /* movsxd rax, esi */
	0x48, 0x8d, 0x80, 0x45, 0x23, 0x01, 0x00, /* lea rax, [rax + 0x12345] */
	0x48, 0x63, 0x17,			  /* movsxd rdx, [rdi] */
	0x48, 0x01, 0xd0,			  /* add rax, rdx */
	0xc3,
};

/*
 * The same function, with a comparison and a branch before the traced instruction. The branch is
 * never taken.
 */
static const u8 compares[] = {
	0x48, 0x63, 0xc6, 0x81, 0x3f, 0xe8, 0x03, 0x00, 0x00, /* cmp dword [rdi], 1000 */
	0x7f, 0x0e,					      /* jg to the ud2 */
	0x48, 0x8d, 0x80, 0x45, 0x23, 0x01, 0x00, 0x48, 0x63,
	0x17, 0x48, 0x01, 0xd0, 0xc3, 0x0f, 0x0b,
};

static const u8 returns[] = { 0xc3 };

static cycles_fn put(u32 at, const u8 *bytes, u32 len)
{
	memcpy(place->write + at, bytes, len);
	return (cycles_fn)(uintptr_t)(place->exec + at);
}

/*
 * struct row - a row of the table; @cond, @acts: the condition and the actions of its tracepoints,
 * as bytecode in hex; @hits: each call is a hit; @frames: each hit leaves a frame
 */
struct row {
	const char *name, *cond, *acts[2];
	bool hits, frames;
	bool pad;  /* a pad can write the frame, if any */
	u32 goal;  /* the most cycles allowed above an empty call; 0: no limit */
	u32 more;  /* number of further, equal tracepoints at the place */
	bool pass; /* the tracepoint has a pass count that is never reached */
};

/* clang-format off */
#define IF_A_ABOVE(n)	"260005191620" n "2b1427"	/* o->a > n, as GDB compiles it */
#define NEVER		IF_A_ABOVE("2303e8")
#define HOLDS		IF_A_ABOVE("2205")
#define A_PLUS_B	"2600050d041916202600052204020d0419162002162027"
#define COUNT		"22012d005127"			/* $count_a = 1 */
#define KEY		"2600051916202d005227"		/* $key_a = o->a */
#define HIST		"2600052204021916202d005327"	/* $hist_a = o->b */
#define PER_CPU		"2c00502201022d005027"		/* $p_n = $p_n + 1 */
#define FRAMES		.hits = true, .frames = true
#define BY_PAD		FRAMES, .pad = true

static const struct row rows[] = {
	{ "condition o->a > 1000, false", NEVER, .pad = true, .goal = 8 },
	{ "condition o->a > 5, and a + b into a frame", HOLDS, { A_PLUS_B }, BY_PAD, .goal = 60 },
	{ "condition o->a > 5, an empty frame", HOLDS, BY_PAD },
	{ "no condition, an empty frame", NULL, BY_PAD },
	{ "collect *o", NULL, { "M5,0,8" }, BY_PAD },
	{ "collect $regs", NULL, { "RFFFFFF" }, BY_PAD },
	{ "$p_n = $p_n + 1, with its frame", NULL, { PER_CPU }, FRAMES },
	{ "count", NULL, { COUNT }, .hits = true },
	{ "hist of o->b by o->a", NULL, { KEY, HIST }, .hits = true },
	{ "a + b as above, with a pass count", HOLDS, { A_PLUS_B }, BY_PAD, .pass = true },
	{ "a + b as above, 2 tracepoints", HOLDS, { A_PLUS_B }, FRAMES, .more = 1 },
	{ "a + b as above, 10 tracepoints", HOLDS, { A_PLUS_B }, FRAMES, .more = 9 },
	{ "o->a > 1000, false, 64 tracepoints", NEVER, .more = 63 },
};

/* clang-format on */

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
		die("no memory");
	for (u32 i = 0; i < ARRAY_SIZE(vars); i++)
		gtp_tsvs_define(&fake.trace.run.tsvs, &fake.mem, vars[i], &why);
	if (r->cond) {
		strcat(cond, ":");
		add_expr(cond, r->cond);
	}
	for (u32 i = 0; i < ARRAY_SIZE(r->acts) && r->acts[i]; i++)
		add_expr(acts, r->acts[i]);
	for (u32 n = 1; n <= 1 + r->more; n++) {
		snprintf(def, sizeof(def), "%x:1000:E:0:%x%s", n, r->pass ? 0x7fffffff : 0, cond);
		fake_define(&fake, def, *acts ? acts : NULL);
	}
	fake_code_on(&fake.trace, code);
	fake.trace.buffer_bytes = FAKE_BYTES_MAX;
	if (gtp_trace_start(&fake.trace, &why))
		die(why.text);
	this_cpu = fake.trace.run.cpus[0];
	this_cpu->env.tsc = &still;
	task.part = (u64)(uintptr_t)this_cpu;
	/* Enabling recomputes which hits take the short path, which depends on @tsc. */
	for (u32 n = 1; n <= 1 + r->more; n++)
		gtp_trace_enable(&fake.trace, n, ADDR, true);
}

static u64 hits(void)
{
	return gtp_trace_hits(&fake.trace, fake.trace.tps.first).hits;
}

/* Check that control reaches the pad: a call for which the condition holds must be a hit. */
static void check_entered(const struct row *r, cycles_fn fn)
{
	struct cycles_obj *o = (struct cycles_obj *)OBJECT;
	struct cycles_obj was = *o;

	o->a = 2000;
	fn(o, 3);
	*o = was;
	if (hits() != 1)
		die("the pad is not entered");
}

/*
 * Make the pad that kernel/pad/probe.c would make for the location. Return its address, or 0 if the
 * pad has to write frames but cannot.
 */
static u64 make_pad(const struct gtp_location *loc, enum way how)
{
	const struct gtp_expr *cond = loc->first->cond;
	struct ax_jit_item items[FAKE_CODE_ITEMS];
	struct ax_jit_target target = code->target;
	struct gtp_pad_frame frame;
	struct gtp_region region = {
		.len = REGION_LEN,
		.n = 1,
		.flags_dead = true,
		.falls_out = true,
	};
	struct gtp_pad_request req = {
		.region = &region,
		.cond = cond && !loc->first->next_here &&
					gtp_pad_can(&cond->ax, &code->target, NULL) ?
				&cond->ax :
				NULL,
		.target = &target,
		.at = (u64)(uintptr_t)(place->exec + FUNCTION_AT + REGION_AT),
		.number = NUMBER,
	};
	u32 len;

	if (how == THE_PAD && (loc->first->next_here || !gtp_pad_frame_can(loc->first, req.cond)))
		return 0;
	padtask_frame(&frame, loc->first, items, fake_code_items(loc->first, items));
	req.keep_flags = padtask_collects_flags(&frame);
	req.frame = how == THE_PAD ? &frame : NULL;
	target.pad_hit = (u64)(uintptr_t)(how == THE_PAD ? bench_pad_left : bench_pad_hit);
	memcpy(region.bytes, function + REGION_AT, REGION_LEN);
	if (gtp_insn_decode(&region.insn[0], region.bytes, REGION_LEN))
		die("the place is not decoded");
	return padmake(code, &req, &len);
}

static void write_jump(u64 pad)
{
	u8 *at = place->write + FUNCTION_AT + REGION_AT;
	u64 from = (u64)(uintptr_t)(place->exec + FUNCTION_AT + REGION_AT) + 5;

	at[0] = 0xe9;
	gtp_put_le(at + 1, pad - from, 4);
}

static u64 hits_before;

/* Empty the buffer before every round, so that the round writes to memory that is in the cache. */
static void before_round(const void *ctx)
{
	gtp_buffer_init(&this_cpu->buf, this_cpu->buf.mem, this_cpu->buf.size, false);
	hits_before = hits();
}

static void after_round(const void *ctx)
{
	const struct row *r = ctx;
	const struct gtp_tracepoint *tp = fake.trace.tps.first;
	u32 frames = r->frames ? CYCLES_CALLS * (1 + r->more) : 0;
	u32 bytes = (u32)sizeof(struct gtp_frame) + (tp->actions ? tp->frame_bytes : 0);
	struct gtp_totals sum;

	gtp_trace_totals(&fake.trace, &sum);
	if (hits() - hits_before != (r->hits ? CYCLES_CALLS : 0) || sum.created != frames ||
	    this_cpu->buf.head != frames * bytes || !fake.trace.run.active)
		die("not every call was the hit that it had to be");
}

/* Measure a row. Return false if make_pad() refuses to make the pad. */
static bool measure(const struct row *r, enum way how, struct cycles *c)
{
	cycles_fn fn = put(FUNCTION_AT, function, sizeof(function));
	u64 pad;

	now = r->name;
	start(r);
	numbers[NUMBER << 1] = fake.trace.locs->first;
	numbers[NUMBER << 1 | GTP_PAD_HELD] = fake.trace.locs->first;
	pad = make_pad(fake.trace.locs, how);
	if (pad) {
		write_jump(pad);
		check_entered(r, fn);
		*c = cycles_measure(fn, (struct cycles_obj *)OBJECT, before_round, after_round, r);
		put(FUNCTION_AT, function, sizeof(function));
	}
	if (fake_exit(&fake))
		die("memory is left");
	jit_user_reset(code);
	return pad;
}

/* --- the table --- */

static struct cycles empty;

static void print_cycles(struct cycles c)
{
	c = cycles_above(c, empty);
	printf(" %8.1f %8.1f", c.alone, c.waiting);
}

static void print_bare(const char *name, const u8 *bytes, u32 at, u32 len)
{
	printf("%-44s", name);
	print_cycles(
		cycles_measure(put(at, bytes, len), (struct cycles_obj *)OBJECT, NULL, NULL, NULL));
	printf("\n");
}

static void print_row(const struct row *r)
{
	struct cycles c[NR_WAYS];
	bool pad = measure(r, THE_PAD, &c[THE_PAD]);

	if (pad != r->pad)
		die(pad ? "a pad writes this" : "no pad writes this");
	if (!measure(r, THROUGH_C, &c[THROUGH_C]))
		die("no pad");
	printf("%-44s", r->name);
	if (pad)
		print_cycles(c[THE_PAD]);
	else
		printf(" %8s %8s", "-", "-");
	print_cycles(c[THROUGH_C]);
	if (r->goal)
		printf("   goal: %u, %s", r->goal,
		       cycles_above(c[THE_PAD], empty).alone <= r->goal ? "reached" : "missed");
	printf("\n");
	fflush(stdout);
}

static void set_up(void)
{
	struct cycles_obj *o = mmap((void *)OBJECT, PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	now = "mmap";
	if (o != (struct cycles_obj *)OBJECT)
		die(strerror(errno));
	*o = (struct cycles_obj){ 42, 7 };
	place = jit_user_new(PAGE, 0);
	memset(place->write, 0xcc, PAGE);
	code = jit_user_new(ARENA, LIMIT);
	code->target.lahf = true;
	task.self = (u64)(uintptr_t)&task;
	task.tgid = (s32)tgid;
	*padtask_low() = (struct padtask_low){ 1, self_mask, self_value };
	code->target.task = (s32)offsetof(struct padtask, self);
	code->target.task_faults = (s32)offsetof(struct padtask, faults);
	jit_user_set_gs(&task);
}

int main(void)
{
	set_up();
	empty = cycles_measure(put(RETURNS_AT, returns, sizeof(returns)),
			       (struct cycles_obj *)OBJECT, NULL, NULL, NULL);
	printf("cycles of a call above an empty one (%.1f): the fastest of %d rounds of %d\n",
	       empty.alone, CYCLES_ROUNDS, CYCLES_CALLS);
	printf("%-44s %17s %17s\n", "", "by the pad", "through C");
	printf("%-44s %8s %8s %8s %8s\n", "", "alone", "waiting", "alone", "waiting");
	print_bare("the function that is traced, bare", function, FUNCTION_AT, sizeof(function));
	print_bare("with a comparison, predicted", compares, COMPARES_AT, sizeof(compares));
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++)
		print_row(&rows[i]);
	return 0;
}
