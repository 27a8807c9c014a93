/* SPDX-License-Identifier: GPL-2.0-only */
/* C expressions whose values, computed by gcc, are compared with the results of gdbtp's scripts. */
#ifndef _GTP_TARGET_EXPR_H
#define _GTP_TARGET_EXPR_H

#include <linux/types.h>

enum gtp_target_mood {
	GTP_TARGET_SAD = -2,
	GTP_TARGET_CALM = 3,
	GTP_TARGET_MERRY = 70000,
};

/* struct gtp_target_shape - members that GDB's agent compiler rejects, or compiles unlike C */
struct gtp_target_shape {
	u8 byte;
	s8 small;
	u16 half;
	s16 shorty;
	u32 word;
	int number;
	u64 wide;
	long big;
	unsigned int one : 1;
	unsigned int three : 3;
	int signed_five : 5;
	unsigned int crossing : 27;
	u64 forty : 40;
	u8 nibble : 4;
	bool flag_bit : 1;
	enum gtp_target_mood mood_bits : 20;
	bool on;
	enum gtp_target_mood mood;
	union {
		struct {
			u16 low_port, high_port;
			union {
				u8 deep[4];
				u32 all;
			};
			unsigned int hidden : 9;
			int below : 7;
			bool yes : 1;
		};
		u64 pair;
	};
	char name[16];
	char tight[5];
	int grid[3][4];
	struct {
		int x, y;
	} points[3];
	const char *text;
	struct gtp_target_shape *next, *prev;
	struct inner {
		long first;
		struct list_head link;
	} inside;
	int (*call)(int n);
	void *opaque;
};

/* One row: the text of the expression, and the value that gcc computed. */
struct gtp_target_expr {
	const char *text;
	long value;
};

extern struct gtp_target_expr gtp_target_exprs[];
extern const unsigned int gtp_target_exprs_count;

/*
 * gtp_target_expr - compute all rows. The expressions use the names of the arguments, so that they
 * can also be evaluated by a tracepoint at the first instruction
 */
long gtp_target_expr(struct gtp_target_shape *s, int n, unsigned int u, long l, unsigned long m,
		     signed char c);

/* gtp_target_expr_call - call gtp_target_expr() with values derived from @seed */
void gtp_target_expr_call(unsigned int seed);

#endif /* _GTP_TARGET_EXPR_H */
