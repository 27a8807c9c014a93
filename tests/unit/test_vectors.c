// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs all vectors of tests/vectors in the interpreter, and checks that the vectors are complete,
 * and that a wrong result is noticed.
 */
#include <ftw.h>
#include "tests/unit/ax_test.h"
#include "tools/axasm.h"
#include "tools/dev/axvec.h"

enum { FILES = 4096 };

static char *files[FILES];
static u32 nfiles;

static int add_file(const char *path, const struct stat *st, int type)
{
	const char *dot = strrchr(path, '.');

	if (type == FTW_F && dot && !strcmp(dot, ".ax") && nfiles < FILES)
		files[nfiles++] = strdup(path);
	return 0;
}

/* make runs the tests in tests/unit; GTP_VECTORS is for runs in another folder. */
static int find_files(void **state)
{
	const char *folder = getenv("GTP_VECTORS");

	return ftw(folder ? folder : "../vectors", add_file, 8);
}

static int forget_files(void **state)
{
	while (nfiles)
		free(files[--nfiles]);
	return 0;
}

static struct axvec *load(const char *path)
{
	char msg[4096];
	struct axvec *v = axvec_load(path, msg, sizeof(msg));

	if (!v)
		fail_msg("%s", msg);
	return v;
}

static void test_interpreter(void **state)
{
	char msg[4096];
	u32 failed = 0;
	u32 i;

	assert_in_range(nfiles, 300, FILES - 1);
	for (i = 0; i < nfiles; i++) {
		struct axvec *v = load(files[i]);

		if (!axvec_run(v, ax_interp, msg, sizeof(msg))) {
			print_error("%s: %s\n", files[i], msg);
			failed++;
		}
		axvec_free(v);
	}
	assert_int_equal(failed, 0);
}

/* An engine with a wrong result, to check that vectors notice it. */
static int wrong_result(const struct ax_verified *v, struct ax_env *env, u64 *result)
{
	int ret = ax_interp(v, env, result);

	*result ^= 1;
	return ret;
}

static int wrong_error(const struct ax_verified *v, struct ax_env *env, u64 *result)
{
	int ret = ax_interp(v, env, result);

	env->err.pc++;
	return ret;
}

static int wrong_log(const struct ax_verified *v, struct ax_env *env, u64 *result)
{
	int ret = ax_interp(v, env, result);

	axenv_log_var(env->ctx, 1, 1);
	return ret;
}

static int wrong_tsvs(const struct ax_verified *v, struct ax_env *env, u64 *result)
{
	int ret = ax_interp(v, env, result);
	struct axenv *e = env->ctx;
	u32 i;

	for (i = 0; i < e->ntsvs; i++)
		e->tsvs[i].value ^= 1;
	return ret;
}

static int wrong_print(const struct ax_verified *v, struct ax_env *env, u64 *result)
{
	int ret = ax_interp(v, env, result);

	env->ops->print(env->ctx, "!", 1);
	return ret;
}

static int wrong_return(const struct ax_verified *v, struct ax_env *env, u64 *result)
{
	return ax_interp(v, env, result) ? 0 : -ENOSPC;
}

static void test_judge(void **state)
{
	const axvec_eval wrong[] = { wrong_log, wrong_print, wrong_return };
	char msg[4096];
	u32 i, k;

	for (i = 0; i < nfiles; i++) {
		struct axvec *v = load(files[i]);

		/* Code that the verifier refuses is not run. */
		if (v->error == AX_OK || v->error >= AX_E_DIVIDE_BY_ZERO)
			for (k = 0; k < ARRAY_SIZE(wrong); k++)
				if (v->env->room > 100 || wrong[k] != wrong_log)
					assert_false(axvec_run(v, wrong[k], msg, sizeof(msg)));
		if (v->has_result)
			assert_false(axvec_run(v, wrong_result, msg, sizeof(msg)));
		if (v->env->ntsvs && (v->error == AX_OK || v->error >= AX_E_DIVIDE_BY_ZERO))
			assert_false(axvec_run(v, wrong_tsvs, msg, sizeof(msg)));
		if (v->error >= AX_E_DIVIDE_BY_ZERO && v->error != AXVEC_FULL)
			assert_false(axvec_run(v, wrong_error, msg, sizeof(msg)));
		axvec_free(v);
	}
}

static void test_every_refusal(void **state)
{
	bool seen[AX_NR_ERRORS + 1] = { false };
	u32 missing = 0;
	u32 i;

	for (i = 0; i < nfiles; i++) {
		struct axvec *v = load(files[i]);

		/* Vectors of refusals, and only these, are in the folder errors. */
		assert_int_equal(!!strstr(files[i], "/errors/"),
				 v->error != AX_OK && v->error < AX_E_DIVIDE_BY_ZERO);
		seen[v->error] = true;
		axvec_free(v);
	}
	for (i = AX_OK; i <= AXVEC_FULL; i++) {
		if (!seen[i]) {
			print_error("no vector for %s\n", ax_error_name(i));
			missing++;
		}
	}
	assert_int_equal(missing, 0);
}

static void test_every_opcode(void **state)
{
	bool seen[256] = { false };
	struct ax_insn insn;
	u32 i, pc, missing = 0;

	for (i = 0; i < nfiles; i++) {
		struct axvec *v = load(files[i]);

		for (pc = 0; pc < v->len; pc = insn.next) {
			if (ax_decode(v->code, v->len, pc, &insn) != AX_OK)
				break;
			seen[insn.op] = true;
		}
		axvec_free(v);
	}
	for (i = 0; i < 256; i++) {
		if (ax_op_info[i].name && !seen[i]) {
			print_error("no vector with %s\n", ax_op_info[i].name);
			missing++;
		}
	}
	assert_int_equal(missing, 0);
}

/* If code is disassembled and the text is assembled again, the result is the same code. */
static void test_round_trip(void **state)
{
	static u8 again[2 * AX_MAX_LEN];
	char text[2048], why[200];
	struct ax_insn insn;
	u32 i, pc;

	for (i = 0; i < nfiles; i++) {
		struct axvec *v = load(files[i]);

		for (pc = 0; pc < v->len; pc = insn.next) {
			if (ax_decode(v->code, v->len, pc, &insn) != AX_OK)
				break;
			assert_true(ax_disasm(&insn, text, sizeof(text)) < (int)sizeof(text));
			assert_int_equal(axasm(text, again, sizeof(again), why, sizeof(why)),
					 insn.next - pc);
			assert_memory_equal(again, v->code + pc, insn.next - pc);
		}
		axvec_free(v);
	}
}

/* Wrong assembly is refused with the number of the line. */
static void test_assembler_refuses(void **state)
{
	static const struct {
		const char *text;
		const char *why;
	} rows[] = {
		{ "frob", "line 1 of the assembly: \"frob\" is no instruction" },
		{ "add\nadd 1", "line 2 of the assembly: \"1\" is left over behind add" },
		{ "const8", "line 1 of the assembly: a number is expected at \"\"" },
		{ "const8 256", "line 1 of the assembly: 256 does not fit 1 bytes" },
		{ "const8 -129", "line 1 of the assembly: -129 does not fit 1 bytes" },
		{ "goto nowhere", "line 1 of the assembly: label nowhere is nowhere" },
		{ "a: a: end", "line 1 of the assembly: label a is there twice" },
		{ "printf 0 \"abc", "line 1 of the assembly: the format has no closing quote" },
		{ "printf 0 \"\\q\"",
		  "line 1 of the assembly: an escape that is not \\n \\t \\\\ \\\" or \\xHH" },
		{ "%", "line 1 of the assembly: an instruction is expected at \"%\"" },
	};
	char why[200];
	u8 code[16];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(axasm(rows[i].text, code, sizeof(code), why, sizeof(why)), -1);
		assert_string_equal(why, rows[i].why);
	}
	assert_int_equal(axasm("const64 1; const64 2", code, 17, why, sizeof(why)), -1);
	assert_int_equal(axasm(" # nothing\n;;\n", code, 0, why, sizeof(why)), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interpreter),   cmocka_unit_test(test_judge),
		cmocka_unit_test(test_every_refusal), cmocka_unit_test(test_every_opcode),
		cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_assembler_refuses),
	};

	return cmocka_run_group_tests_name("vectors", tests, find_files, forget_files);
}
