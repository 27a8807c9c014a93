/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests to /proc/gtp_jit_test to evaluate code, and the replies to them. */
#ifndef _GTP_JIT_TEST_H
#define _GTP_JIT_TEST_H

#include "tools/dev/axenv.h"

#define JIT_TEST_FILE "/proc/gtp_jit_test"

enum {
	JIT_TEST_MAX = 1 << 18, /* the most bytes of a request, and also of a reply */
};

/* struct jit_test_map - a piece of memory; the bytes of all pieces follow the code, in order */
struct jit_test_map {
	u64 addr;
	u64 len;
};

struct jit_test_tsv {
	s64 value;
	u64 num;
};

/**
 * struct jit_test_request - a request for one evaluation, written by one write()
 * @size: bytes of the whole request, including the code and memory that follow this struct
 * @kind: enum ax_kind
 * @room: bytes that may be collected, see struct axenv
 */
struct jit_test_request {
	u32 size;
	u32 code_len;
	u32 kind;
	u32 room;
	u32 nmaps;
	u32 ntsvs;
	u64 pc;
	struct gtp_regs regs;
	struct jit_test_map maps[AXENV_MAPS];
	struct jit_test_tsv tsvs[AXENV_TSVS];
	u8 bytes[];
};

/*
 * struct jit_test_reply - the result of an evaluation, which read() returns; the log of the
 * collected data and then the printed text follow this struct
 */
struct jit_test_reply {
	s32 ret;
	u32 log_len;
	u64 value;
	struct ax_error err;
	u32 printed_len;
	s64 tsvs[AXENV_TSVS];
	u8 bytes[];
};

#endif /* _GTP_JIT_TEST_H */
