// SPDX-License-Identifier: GPL-2.0-only
/* Stores the text of C expressions, and the values that gcc computes for them. Tests read both. */
#include <linux/container_of.h>
#include <linux/list.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include "gtp_target.h"
#include "gtp_target_expr.h"

static struct gtp_target_shape shapes[4];

struct gtp_target_expr gtp_target_exprs[] = {
#define X(expression) { .text = #expression },
#include "gtp_target_rows.inc"
#undef X
};

const unsigned int gtp_target_exprs_count = ARRAY_SIZE(gtp_target_exprs);

GTP_TARGET_FN long gtp_target_expr(struct gtp_target_shape *s, int n, unsigned int u, long l,
				   unsigned long m, signed char c)
{
	struct gtp_target_expr *row = gtp_target_exprs;

	return
#define X(expression) ((row++)->value = (long)(expression)),
#include "gtp_target_rows.inc"
#undef X
		row - gtp_target_exprs;
}

static void fill(struct gtp_target_shape *s, u32 seed)
{
	*s = (struct gtp_target_shape){
		.byte = seed,
		.small = seed >> 3,
		.half = seed * 7,
		.shorty = seed * 13,
		.word = seed * 0x9e3779b1,
		.number = seed * 0x85ebca6b,
		.wide = seed * 0x9e3779b97f4a7c15,
		.big = -(long)seed * 0x51ed270b,
		.one = seed,
		.three = seed >> 1,
		.signed_five = seed >> 2,
		.crossing = seed * 0x8765431,
		.forty = seed * 0x1234567891,
		.nibble = seed >> 4,
		.flag_bit = seed & 2,
		.on = seed & 4,
		.mood = seed & 8 ? GTP_TARGET_SAD :
			seed & 1 ? GTP_TARGET_CALM :
				   GTP_TARGET_MERRY,
		.mood_bits = seed & 16 ? GTP_TARGET_SAD : GTP_TARGET_CALM,
		.text = "expr",
		.opaque = s,
	};
	s->pair = seed * 0x0123456789abcdef;
	s->all = seed * 0x1b873593;
	s->hidden = seed * 5;
	s->below = seed * 3;
	s->yes = seed & 32;
	strscpy(s->name, "shape", sizeof(s->name));
	memcpy(s->tight, "[abc]", sizeof(s->tight));
}

void gtp_target_expr_call(unsigned int seed)
{
	struct gtp_target_shape *s;
	int i, j;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		s = &shapes[i];
		fill(s, seed + i);
		for (j = 0; j < 12; j++)
			s->grid[j / 4][j % 4] = seed + 100 * i + j;
		for (j = 0; j < 3; j++) {
			s->points[j].x = seed - 10 * i - j;
			s->points[j].y = s->points[j].x;
		}
		s->prev = i ? s - 1 : NULL;
		s->next = i + 1 < ARRAY_SIZE(shapes) ? s + 1 : NULL;
		s->inside.link.prev = i ? &s[-1].inside.link : NULL;
		s->inside.link.next = s->next ? &s[1].inside.link : NULL;
	}
	gtp_target_expr(&shapes[1], (int)(seed * 0x01000193), seed * 31, -(long)seed * 0x10001,
			seed * 0x123456789abul, seed * 11);
}
