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
	AXENV_FRAME_MAX = 1 << 20, /* a trace of more bytes fails with -E2BIG */
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
 * @ax: the argument of an engine (an evaluator of expressions); its ctx points to this struct
 * @regs: registers of the hit
 * @room: the size that @log may reach, at most AXENV_LOG_MAX; a collection that exceeds it fails
 *	with -ENOSPC
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

/* axenv_tsv - define a variable; return false if AXENV_TSVS variables are defined already */
bool axenv_tsv(struct axenv *e, u16 num, s64 value, bool read_only);

/* axenv_known - check a variable, for ax_verify_tsvs(); @ctx is the struct axenv */
enum ax_err axenv_known(void *ctx, u16 tsv, bool sets);

/*
 * axenv_reset - prepare for another evaluation: initial values of variables, empty logs, no error
 */
void axenv_reset(struct axenv *e);

/*
 * axenv_read - implement ->read of struct ax_ops: read all bytes, also across adjacent maps, or
 * fail
 */
int axenv_read(void *ctx, void *dst, u64 addr, u32 len);

/*
 * axenv_log_* - append an entry to the log, as an evaluation that collects the data does; return 0
 * or -ENOSPC. Tests use these functions to build the expected log.
 */
int axenv_log_mem(struct axenv *e, u64 addr, const u8 *bytes, u32 len);
int axenv_log_var(struct axenv *e, u16 num, s64 value);

/*
 * axenv_log_text - return the log as lines "mem ADDR HEX" and "var NUM VALUE"; the caller frees it
 */
char *axenv_log_text(const struct axenv *e);

/*
 * axenv_ops - the functions that axenv_new() stores in ax.ops; a test may copy this and replace
 * some
 */
extern const struct ax_ops axenv_ops;

#endif /* _GTP_AXENV_H */
