/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A simulated environment for agent expressions: registers, memory with holes, variables, and a log
 * of the expressions' effects.
 */
#ifndef _GTP_AXENV_H
#define _GTP_AXENV_H

#include "agentexpr/ax.h"

enum {
	AXENV_MAPS = 16,
	AXENV_TSVS = 16,
	AXENV_LOG_MAX = 65536,
	AXENV_FRAME_MAX = 1 << 20, /* more bytes in one trace fail with -E2BIG */
};

/* struct axenv_map - memory that can be read; all other addresses fault */
struct axenv_map {
	u64 addr;
	u32 len;
	u8 *bytes; /* a separate allocation */
};

/* struct axenv_tsv - a trace state variable; variables that are not listed are unknown */
struct axenv_tsv {
	u16 num;
	bool read_only;
	s64 initial;
	s64 value;
};

/**
 * struct axenv - the environment, and the effects of an evaluation
 * @ax: the argument of an engine; its ctx is the struct axenv
 * @regs: registers of the hit
 * @room: bytes that @log may have before a collection fails with -ENOSPC; at most AXENV_LOG_MAX
 * @log: the collected data, in order: see axenv_log_text(). Two evaluations have collected the same
 *	data if @log_len and the bytes are the same.
 * @printed: the texts of all printfs, one after the other, NUL-terminated
 */
struct axenv {
	struct ax_env ax;
	struct gtp_regs regs;
	struct axenv_map maps[AXENV_MAPS];
	u32 nmaps;
	struct axenv_tsv tsvs[AXENV_TSVS];
	u32 ntsvs;
	u32 room;
	u32 log_len;
	u32 printed_len;
	u64 stack[AX_MAX_DEPTH];
	char text[AX_PRINT_MAX];
	u8 log[AXENV_LOG_MAX];
	char printed[AXENV_LOG_MAX];
};

/*
 * axenv_new - make an empty environment: no memory, no variables, a different value in every
 * register; never NULL
 */
struct axenv *axenv_new(void);
void axenv_free(struct axenv *e);

/*
 * axenv_map - map @len readable bytes at @addr, copied from @bytes (NULL: zeroes)
 *
 * Return: the copy, which may be written; NULL if there are AXENV_MAPS maps already, or if the new
 * map overlaps another.
 */
u8 *axenv_map(struct axenv *e, u64 addr, const void *bytes, u32 len);

/* axenv_tsv - define a variable; return false if there are AXENV_TSVS already */
bool axenv_tsv(struct axenv *e, u16 num, s64 value, bool read_only);

/* axenv_known - check a variable, for ax_verify_tsvs(); @ctx is the struct axenv */
enum ax_err axenv_known(void *ctx, u16 tsv, bool sets);

/*
 * axenv_reset - prepare for another evaluation: initial values of variables, empty logs, no error
 */
void axenv_reset(struct axenv *e);

/* axenv_read - like read of struct ax_ops: all bytes or none, also across adjoining maps */
int axenv_read(void *ctx, void *dst, u64 addr, u32 len);

/*
 * axenv_log_* - append to a log like an evaluation; return 0 or -ENOSPC. For tests, which build the
 * expected log.
 */
int axenv_log_mem(struct axenv *e, u64 addr, const u8 *bytes, u32 len);
int axenv_log_var(struct axenv *e, u16 num, s64 value);

/*
 * axenv_log_text - return the log as lines "mem ADDR HEX" and "var NUM VALUE"; the caller frees it
 */
char *axenv_log_text(const struct axenv *e);

/* axenv_ops - the functions to which ax.ops of struct axenv points, for tests that replace some */
extern const struct ax_ops axenv_ops;

#endif /* _GTP_AXENV_H */
