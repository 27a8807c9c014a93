// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compare the speed of the interpreter, of compiled bytecode, and of the code that gcc -O2 makes
 * for the same C expressions. All three start with the same register values and the same memory
 * contents. Only ratios within one run are meaningful.
 */
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "user/jit/exec_user.h"
#include "tests/bench/twins.h"
#include "tools/dev/axvec.h"

enum {
	ROUNDS = 25,  /* number of rounds; the fastest is reported, as other load only adds time */
	CALLS = 4000, /* evaluations in each round */
	LOW_LIMIT = 0x7fff0000,
	ARENA = 64 << 10,
};

/* struct row - the measured times of one expression */
struct row {
	double ns[3];
	double verify_us;
	double compile_us;
	u32 size;
};

enum { INTERPRETER, COMPILER, GCC };

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void die(const char *what, const char *why)
{
	fprintf(stderr, "bench_jit: %s: %s\n", what, why);
	exit(1);
}

/*
 * Map the vector's memory at the addresses that the vector states, so that load instructions can
 * read it.
 */
static void map_world(const struct axenv *e)
{
	for (u32 i = 0; i < e->nmaps; i++) {
		u64 from = e->maps[i].addr & ~4095ULL;
		u64 to = (e->maps[i].addr + e->maps[i].len + 4095) & ~4095ULL;

		for (u64 page = from; page < to; page += 4096) {
			void *p = mmap((void *)page, 4096, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

			if (p == MAP_FAILED && errno != EEXIST)
				die("mmap", strerror(errno));
		}
		memcpy((void *)e->maps[i].addr, e->maps[i].bytes, e->maps[i].len);
	}
}

/* Read memory with the least work that an interpreter needs: one comparison, then a copy. */
static int read_direct(void *ctx, void *dst, u64 addr, u32 len)
{
	if ((s64)addr >= LOW_LIMIT)
		return -EFAULT;
	memcpy(dst, (const void *)addr, len);
	return 0;
}

static const struct ax_verified *verify(struct axvec *vec)
{
	static struct ax_point points[AX_MAX_LEN];
	static struct ax_verified v;
	struct ax_error err;

	if (ax_verify(vec->code, vec->len, vec->kind, points, &v, &err) != AX_OK)
		die(vec->path, ax_error_name(err.code));
	return &v;
}

/* True if a result is an address, or a part of one, and so depends on the linker. */
static bool tells_an_address(const struct axvec *vec, const char *text)
{
	return (vec->result >= 0x400000 && vec->result < 0x500000) ||
	       strstr(text, "(unsigned long)p");
}

static void check(const struct axvec *vec, const char *who, u64 got)
{
	if (got == vec->result)
		return;
	fprintf(stderr, "%s: %s has 0x%llx instead of 0x%llx\n", vec->path, who, got, vec->result);
	exit(1);
}

/* Return 0, but do not let the compiler know that the value is 0. */
static u64 nothing(void)
{
	u64 zero = 0;

	__asm__("" : "+r"(zero));
	return zero;
}

/*
 * Make an evaluation depend on the previous one, as a hit depends on its condition: add 0, computed
 * from the previous result, to the address of the registers.
 */
static const struct gtp_regs *after(const struct gtp_regs *regs, u64 result, u64 zero)
{
	return (const struct gtp_regs *)((const char *)regs + (result & zero));
}

static double time_interpreter(const struct ax_verified *v, struct ax_env *env)
{
	u64 zero = nothing();
	double start = now_ns();
	u64 result;

	for (u32 i = 0; i < CALLS; i++) {
		ax_interp(v, env, &result);
		env->regs = after(env->regs, result, zero);
	}
	return (now_ns() - start) / CALLS;
}

static double time_compiled(ax_jit_fn fn, struct ax_env *env)
{
	const struct gtp_regs *regs = env->regs;
	u64 zero = nothing();
	double start = now_ns();

	for (u32 i = 0; i < CALLS; i++)
		regs = after(regs, fn(regs, env).value, zero);
	return (now_ns() - start) / CALLS;
}

static double time_twin(u64 (*fn)(const struct gtp_regs *regs), const struct gtp_regs *regs)
{
	u64 zero = nothing();
	double start = now_ns();

	for (u32 i = 0; i < CALLS; i++)
		regs = after(regs, fn(regs), zero);
	return (now_ns() - start) / CALLS;
}

static double time_compile(struct jit_user *u, const struct ax_verified *v, u64 pc)
{
	double best = 1e18;

	for (u32 i = 0; i < ROUNDS; i++) {
		double start = now_ns();
		double t;

		jit_user_compile(u, v, pc, 0, NULL);
		t = now_ns() - start;
		if (t < best)
			best = t;
		jit_user_reset(u);
	}
	return best / 1000;
}

static double time_verify(struct axvec *vec)
{
	double best = 1e18;

	for (u32 i = 0; i < ROUNDS; i++) {
		double start = now_ns();
		double t;

		verify(vec);
		t = now_ns() - start;
		if (t < best)
			best = t;
	}
	return best / 1000;
}

static void keep_best(double *best, double t)
{
	if (!*best || t < *best)
		*best = t;
}

static struct row measure(struct jit_user *u, struct axvec *vec, const struct twin *twin)
{
	double verify_us = time_verify(vec);
	const struct ax_verified *v = verify(vec);
	struct ax_ops ops = axenv_ops;
	struct ax_env env = vec->env->ax;
	struct gtp_regs regs = *env.regs;
	struct row r = {
		.verify_us = verify_us,
		.compile_us = time_compile(u, v, env.pc),
	};
	ax_jit_fn fn = jit_user_compile(u, v, env.pc, 0, &r.size);
	u64 result;

	map_world(vec->env);
	ops.read = read_direct;
	env.ops = &ops;
	twins_regs(&regs);
	ax_interp(v, &env, &result);
	check(vec, "the interpreter", result);
	ax_jit_run(fn, &env, &result);
	check(vec, "the compiler", result);
	if (!tells_an_address(vec, twin->text))
		check(vec, "gcc", twin->eval(&regs));
	/* Let the three take turns, so that a busy moment of the machine affects all of them. */
	for (u32 i = 0; i < ROUNDS; i++) {
		keep_best(&r.ns[INTERPRETER], time_interpreter(v, &env));
		keep_best(&r.ns[COMPILER], time_compiled(fn, &env));
		keep_best(&r.ns[GCC], time_twin(twin->eval, &regs));
	}
	jit_user_reset(u);
	return r;
}

/* struct totals - sums over all expressions; @slower, @faster: sums of logarithms of ratios */
struct totals {
	double slower, faster, worst, compile_us, verify_us, worst_load_us;
	u32 n, bytes, aligned, above, long_loads;
};

static void add(struct totals *t, const struct row *r)
{
	double slower = r->ns[COMPILER] / r->ns[GCC];
	double load = r->verify_us + r->compile_us;

	t->slower += log(slower);
	t->faster += log(r->ns[INTERPRETER] / r->ns[COMPILER]);
	t->compile_us += r->compile_us;
	t->verify_us += r->verify_us;
	if (slower > t->worst)
		t->worst = slower;
	t->above += slower > 1.15;
	t->long_loads += load > 1;
	if (load > t->worst_load_us)
		t->worst_load_us = load;
	t->bytes += r->size;
	t->aligned += (r->size + AX_JIT_CODE_ALIGN - 1) & ~(AX_JIT_CODE_ALIGN - 1U);
	t->n++;
}

static void print_row(const struct row *r, const char *text)
{
	printf("%8.2f %7.2f %7.2f %7.2f %8.1f %6u %7.2f  %s\n", r->ns[INTERPRETER], r->ns[COMPILER],
	       r->ns[GCC], r->ns[COMPILER] / r->ns[GCC], r->ns[INTERPRETER] / r->ns[COMPILER],
	       r->size, r->compile_us, text);
}

static void print_totals(const struct totals *t, u32 stubs)
{
	printf("%u expressions, geometric means: compiler / gcc -O2 %.2f ", t->n,
	       exp(t->slower / t->n));
	printf("(worst %.2f, %u above 1.15), ", t->worst, t->above);
	printf("interpreter / compiler %.1f\n", exp(t->faster / t->n));
	printf("code: %.1f bytes each, stubs %u, %u such fit in 64 KiB\n", (double)t->bytes / t->n,
	       stubs, (ARENA - stubs) / (t->aligned / t->n));
	printf("load time: %.2f us each to verify, %.2f us to compile; both at most %.2f us, ",
	       t->verify_us / t->n, t->compile_us / t->n, t->worst_load_us);
	printf("%u above 1 us\n", t->long_loads);
}

int main(int argc, char **argv)
{
	struct jit_user *u = jit_user_new(ARENA, LOW_LIMIT);
	struct totals t = { .n = 0 };
	char path[4096], msg[4096];

	printf("interp.ns  jit.ns  gcc.ns jit/gcc  int/jit  bytes comp.us  expression\n");
	for (u32 i = 0; i < ntwins; i++) {
		struct axvec *vec;
		struct row r;

		snprintf(path, sizeof(path), "%s/%s", argc > 1 ? argv[1] : "tests/vectors/gdb",
			 twins[i].vector);
		vec = axvec_load(path, msg, sizeof(msg));
		if (!vec)
			die(path, msg);
		r = measure(u, vec, &twins[i]);
		print_row(&r, twins[i].text);
		add(&t, &r);
		axvec_free(vec);
	}
	print_totals(&t, u->stubs);
	return 0;
}
