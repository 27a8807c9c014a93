// SPDX-License-Identifier: GPL-2.0-only
/* Check the results of an engine (an evaluator of expressions) against a vector. */
#include <stdlib.h>
#include "agentexpr/adds.h"
#include "tools/dev/axvec.h"

/* struct judge - collects the differences between an engine's results and those in a vector */
struct judge {
	const struct axvec *v;
	char *msg;
	size_t size;
};

__printf(2, 3) static bool differs(struct judge *j, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(j->msg, j->size, fmt, ap);
	va_end(ap);
	return false;
}

static bool error_agrees(struct judge *j, const struct ax_error *err)
{
	const struct axvec *v = j->v;
	char text[200];
	u32 i;

	ax_error_format(err, text, sizeof(text));
	if (err->code != v->error)
		return differs(j, "wanted %s, got %s: %s", ax_error_name(v->error),
			       ax_error_name(err->code), text);
	if (err->code == AX_OK)
		return true;
	if (err->pc != v->error_pc)
		return differs(j, "wanted %s at byte %u, got: %s", ax_error_name(v->error),
			       v->error_pc, text);
	if (v->len && err->op != v->code[err->pc] && err->code != AX_E_TOO_LONG)
		return differs(j, "the error names opcode 0x%02x, at byte %u is 0x%02x", err->op,
			       err->pc, v->code[err->pc]);
	for (i = 0; i < v->error_nargs; i++)
		if (v->error_arg[i] != (i ? err->arg2 : err->arg))
			return differs(j, "wanted 0x%llx as argument %u, got: %s", v->error_arg[i],
				       i + 1, text);
	return true;
}

static bool log_agrees(struct judge *j)
{
	const struct axenv *got = j->v->env;
	const struct axenv *want = j->v->want;
	char *got_text, *want_text;

	if (got->log_len == want->log_len && !memcmp(got->log, want->log, want->log_len))
		return true;
	got_text = axenv_log_text(got);
	want_text = axenv_log_text(want);
	differs(j, "wanted to collect\n%sgot\n%s", want_text, got_text);
	free(got_text);
	free(want_text);
	return false;
}

static bool tsvs_agree(struct judge *j)
{
	const struct axenv *got = j->v->env;
	const struct axenv *want = j->v->want;
	u32 i, k;

	for (i = 0; i < want->ntsvs; i++) {
		for (k = 0; k < got->ntsvs; k++)
			if (got->tsvs[k].num == want->tsvs[i].num)
				break;
		if (k == got->ntsvs)
			return differs(j, "variable %u is not defined", want->tsvs[i].num);
		if (got->tsvs[k].value != want->tsvs[i].value)
			return differs(j, "wanted variable %u to be %lld, it is %lld",
				       want->tsvs[i].num, want->tsvs[i].value, got->tsvs[k].value);
	}
	return true;
}

static bool outcome_agrees(struct judge *j, int ret, u64 result)
{
	const struct axvec *v = j->v;
	const struct axenv *e = v->env;
	int want = v->error == AXVEC_FULL ? -ENOSPC : v->error ? -EINVAL : 0;

	if (ret != want && ret != -EINVAL)
		return differs(j, "wanted the evaluation to return %d, it returned %d", want, ret);
	if (v->error != AXVEC_FULL && !error_agrees(j, &e->ax.err))
		return false;
	if (ret != want)
		return differs(j, "wanted the evaluation to return %d, it returned %d", want, ret);
	if (v->has_result && result != v->result)
		return differs(j, "wanted 0x%llx, got 0x%llx", v->result, result);
	if (e->printed_len != v->want->printed_len ||
	    memcmp(e->printed, v->want->printed, e->printed_len))
		return differs(j, "wanted to print\n%s\ngot\n%s", v->want->printed, e->printed);
	return log_agrees(j) && tsvs_agree(j);
}

static bool run(struct judge *j, axvec_eval eval, const struct ax_verified *verified)
{
	const struct axvec *v = j->v;
	u64 result = ~v->result; /* so that an engine that sets no result fails */
	int ret;

	axenv_reset(v->env);
	ret = eval(verified, &v->env->ax, &result);
	return outcome_agrees(j, ret, result);
}

/*
 * Check an engine. If the expression only adds to a variable, check the engine again with atomic
 * adding (AX_F_ADDS), which must have the same results.
 */
static bool verify_and_run(struct judge *j, axvec_eval eval, struct ax_point *points)
{
	const struct axvec *v = j->v;
	struct ax_verified verified;
	struct ax_error err;

	if (ax_verify(v->code, v->len, v->kind, points, &verified, &err) != AX_OK ||
	    ax_verify_tsvs(&verified, axenv_known, v->env, &err) != AX_OK)
		return error_agrees(j, &err);
	if (!run(j, eval, &verified))
		return false;
	if (!ax_adds_to(&verified, &verified.adds))
		return true;
	verified.flags |= AX_F_ADDS;
	return run(j, eval, &verified);
}

bool axvec_run(struct axvec *v, axvec_eval eval, char *msg, size_t size)
{
	struct judge j = { .v = v, .msg = msg, .size = size };
	struct ax_point *points = calloc(v->len + 1, sizeof(*points));
	bool ok = verify_and_run(&j, eval, points);

	free(points);
	return ok;
}
