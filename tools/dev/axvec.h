/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Vectors: test files, each with one expression and its expected behaviour, for every engine that
 * evaluates expressions.
 */
#ifndef _GTP_AXVEC_H
#define _GTP_AXVEC_H

#include "tools/dev/axenv.h"

/*
 * An engine: a function that evaluates an expression like ax_interp() and returns the same values.
 */
typedef int (*axvec_eval)(const struct ax_verified *v, struct ax_env *env, u64 *result);

enum { AXVEC_FULL = AX_NR_ERRORS }; /* for "-- error FULL": expect -ENOSPC */

/**
 * struct axvec - a vector, read from its file
 * @path: the file
 * @code: the expression, @len bytes in a separate allocation
 * @kind: the kind in the section "-- kind"; without that section, a condition if the vector has a
 *	result, otherwise an action
 * @env: the environment in which the expression runs
 * @want: an environment with the log, the printed text and the variables that @env must have
 *	afterwards
 * @error: the expected error, enum ax_err or AXVEC_FULL; AX_OK: none
 * @why: the purpose of the vector
 */
struct axvec {
	char *path;
	u8 *code;
	u32 len;
	bool has_code;
	bool has_kind;
	enum ax_kind kind;
	struct axenv *env;
	struct axenv *want;
	bool has_result;
	u64 result;
	u32 error;
	u32 error_pc;
	u32 error_nargs; /* how many of the error's arguments the vector gives */
	u64 error_arg[2];
	char *why;
};

/**
 * axvec_load() - read a vector
 * @path: the file; tests/vectors/README.md describes the format
 * @msg: receives the error
 * @size: bytes of @msg
 *
 * Return: the vector, for axvec_free(); NULL if the file is not a vector.
 */
struct axvec *axvec_load(const char *path, char *msg, size_t size);

void axvec_free(struct axvec *v);

/**
 * axvec_run() - evaluate a vector's expression with an engine, and compare the effects
 * @v: the vector; may be run again, with another engine
 * @eval: the engine
 * @msg: receives the differences
 * @size: bytes of @msg
 *
 * Verifies the expression first; the vector may expect the verifier's error.
 *
 * Return: true if the error or the result, the collected data, the printed text and the variables
 * are those that the vector expects.
 */
bool axvec_run(struct axvec *v, axvec_eval eval, char *msg, size_t size);

#endif /* _GTP_AXVEC_H */
