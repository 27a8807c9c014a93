// SPDX-License-Identifier: GPL-2.0-only
/* axrun: run vectors with the interpreter and the compiler; show agent expressions as text. */
#include <stdlib.h>
#include <unistd.h>
#include "tools/axasm.h"
#include "tools/dev/axjit.h"
#include "tools/dev/axkernel.h"
#include "tools/dev/axvec.h"

static int usage(FILE *to, int status)
{
	fputs("axrun FILE.ax...         run vectors, print TAP; exit status 1 when one fails\n"
	      "axrun -k FILE.ax...      the same by the compiler in this kernel (gtp_jit_test.ko)\n"
	      "axrun -c FILE.ax...      disassemble, show what the compiler makes of them\n"
	      "axrun -d FILE.ax...      disassemble; ^ marks what the verifier refuses\n"
	      "axrun -r FILE.ax...      what they do, in a vector's own words\n"
	      "axrun -x HEX             disassemble, verify and evaluate bytes as GDB sends them\n"
	      "axrun -s FOLDER FILE...  write the vectors' bytes to FOLDER, one file each, as fuzzing seeds\n",
	      to);
	return status;
}

static void diagnose(const char *msg)
{
	fputs("# ", stdout);
	for (; *msg; msg++) {
		putchar(*msg);
		if (*msg == '\n')
			fputs("# ", stdout);
	}
	putchar('\n');
}

/* Return a path without its common beginning: "gdb/x.ax" for "tests/vectors/gdb/x.ax". */
static const char *short_name(const char *path)
{
	const char *at = strstr(path, "vectors/");

	return at ? at + strlen("vectors/") : path;
}

static bool in_kernel;

/*
 * Run a vector with the interpreter, then with the compiler for every choice of registers; @engine
 * receives the name of the engine that ran last.
 */
static bool run_engines(struct axvec *v, char *msg, size_t size, const char **engine)
{
	u32 seed;

	*engine = "compiler in the kernel";
	if (in_kernel)
		return axvec_run(v, axkernel_eval, msg, size);
	*engine = "interpreter";
	if (!axvec_run(v, ax_interp, msg, size))
		return false;
	*engine = "compiler";
	for (seed = 0; seed < AXJIT_SEEDS; seed++) {
		axjit_seed(seed);
		if (!axvec_run(v, axjit_eval, msg, size))
			return false;
	}
	return true;
}

static bool run_one(const char *path)
{
	char msg[4096] = "";
	struct axvec *v = axvec_load(path, msg, sizeof(msg));
	const char *engine = "file";
	bool ok = v && run_engines(v, msg, sizeof(msg), &engine);

	printf("%s - %s\n", ok ? "ok" : "not ok", short_name(path));
	if (!ok) {
		diagnose(engine);
		diagnose(msg);
	}
	if (!ok && v)
		diagnose(v->why);
	if (v)
		axvec_free(v);
	return ok;
}

static int run_all(char **paths, int n)
{
	int failed = 0;
	int i;

	printf("1..%d\n", n);
	for (i = 0; i < n; i++)
		failed += !run_one(paths[i]);
	return failed != 0;
}

static enum ax_err verify(const u8 *code, u32 len, enum ax_kind kind, struct ax_verified *v,
			  struct ax_error *err)
{
	static struct ax_point points[AX_MAX_LEN];

	return ax_verify(code, len, kind, points, v, err);
}

static struct axvec *load(const char *path)
{
	char msg[4096] = "";
	struct axvec *v = axvec_load(path, msg, sizeof(msg));

	if (!v)
		fprintf(stderr, "%s\n", msg);
	return v;
}

static int list_one(const char *path, bool code)
{
	struct axvec *vec = load(path);
	struct ax_verified v;
	struct ax_error err;

	if (!vec)
		return 1;
	printf("%s\n", path);
	if (verify(vec->code, vec->len, vec->kind, &v, &err) == AX_OK)
		ax_verify_tsvs(&v, axenv_known, vec->env, &err);
	axasm_listing(vec->code, vec->len, &err, stdout);
	if (code && err.code == AX_OK)
		axjit_listing(&v);
	axvec_free(vec);
	return 0;
}

static void print_outcome(struct axvec *vec, const struct ax_verified *v)
{
	struct axenv *e = vec->env;
	struct ax_error *err = &e->ax.err;
	char *log;
	u64 result;
	u32 i;

	if (ax_interp(v, &e->ax, &result) == -ENOSPC)
		printf("-- error FULL\n");
	else if (err->code)
		printf("-- error %s @%u 0x%llx %llu\n", ax_error_name(err->code), err->pc, err->arg,
		       err->arg2);
	else
		printf("-- result\n0x%llx\n", result);
	log = axenv_log_text(e);
	if (*log)
		printf("-- collected\n%s", log);
	free(log);
	if (e->printed_len)
		printf("-- printed\n");
	for (i = 0; i < e->printed_len; i++)
		printf("%02x%s", (u8)e->printed[i], i + 1 == e->printed_len ? "\n" : "");
	for (i = 0; i < e->ntsvs; i++)
		if (e->tsvs[i].value != e->tsvs[i].initial)
			printf("-- tsv after\n%u %lld\n", e->tsvs[i].num, e->tsvs[i].value);
}

static int report_one(const char *path)
{
	struct axvec *vec = load(path);
	struct ax_verified v;
	struct ax_error err;

	if (!vec)
		return 1;
	if (verify(vec->code, vec->len, vec->kind, &v, &err) == AX_OK)
		print_outcome(vec, &v);
	else
		printf("-- error %s @%u %llu %llu\n", ax_error_name(err.code), err.pc, err.arg,
		       err.arg2);
	axvec_free(vec);
	return 0;
}

static void evaluate(const struct ax_verified *v, struct ax_error *err)
{
	struct axenv *e = axenv_new();
	u64 result;

	if (ax_interp(v, &e->ax, &result))
		*err = e->ax.err;
	else
		printf("result 0x%llx (%lld), deepest stack %u\n", result, (s64)result,
		       v->max_depth);
	axenv_free(e);
}

/* Verify the bytes as an action, which may do more than a condition. */
static int run_hex(const char *hex)
{
	static u8 code[AX_MAX_LEN + 1];
	int len = axasm_hex(hex, code, sizeof(code));
	struct ax_verified v;
	struct ax_error err;

	if (len < 0) {
		fprintf(stderr, "axrun: -x wants pairs of hex digits, at most %d\n", AX_MAX_LEN);
		return 2;
	}
	if (verify(code, (u32)len, AX_ACTION, &v, &err) == AX_OK)
		evaluate(&v, &err);
	axasm_listing(code, (u32)len, &err, stdout);
	return err.code != AX_OK;
}

/* Write a seed in the format of tests/fuzz/fuzz_ax.c: a byte for the kind, then the bytecode. */
static int write_seed(const char *folder, const char *path, int n)
{
	struct axvec *v = load(path);
	char name[4096];
	FILE *f;

	if (!v)
		return 1;
	snprintf(name, sizeof(name), "%s/%05d", folder, n);
	f = fopen(name, "w");
	if (f) {
		fputc(v->kind, f);
		fwrite(v->code, 1, v->len, f);
	}
	axvec_free(v);
	if (f && !fclose(f))
		return 0;
	perror(name);
	return 1;
}

int main(int argc, char **argv)
{
	int status = 0;
	int i, option;

	option = getopt(argc, argv, "cdkrsxh");
	if (option == 'h')
		return usage(stdout, 0);
	if (option == '?' || optind >= argc)
		return usage(stderr, 2);
	if (option == 'x')
		return run_hex(argv[optind]);
	in_kernel = option == 'k';
	if (option == -1 || in_kernel)
		return run_all(argv + optind, argc - optind);
	for (i = optind + (option == 's'); i < argc; i++) {
		if (option == 's')
			status |= write_seed(argv[optind], argv[i], i);
		else if (option == 'r')
			status |= report_one(argv[i]);
		else
			status |= list_one(argv[i], option == 'c');
	}
	return status;
}
