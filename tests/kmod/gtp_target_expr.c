// SPDX-License-Identifier: GPL-2.0-only
/* Expressions whose text and value the tests read: the same C, compiled by gcc. */
#include <linux/container_of.h>
#include <linux/list.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include "gtp_target.h"
#include "gtp_target_expr.h"

static struct gtp_target_shape shapes[4];

/* Each is an integer or a pointer. Nothing here may depend on what C leaves open. */
/* clang-format off */
#define EXPRS(X) \
	/* promotions and conversions of integers */ \
	X(s->byte - 255) X(s->byte - 255 - 1 < 0) X(s->small < 0) X(s->small + u) X(s->small < u) X(s->half * s->half) \
	X(s->half - 65535 - 1 < 0) X(s->shorty >> 2) X(s->word - 1) X(s->word - s->word - 1 > 0) X(n < u) X(n + 0u > 5) \
	X((unsigned int)n > u) X(n - 5 < 0) X(u - 5 < 0) X(l < m) X(l < u) X(n < m) X((long)n < l) X(-1 < 0u) X(-1L < 0u) \
	X(u - 1UL) X(u * 4u) X(u * 4UL) X(~s->byte) X(~s->byte & 0xff) X(~u) X(~u == -1 - u) X(-s->half) X(-u) X(-(long)u) \
	X(!s->byte) X(!!s->word) X(+s->small) X((s8)s->half) X((u8)n) X((s16)n) X((u16)l) X((int)m) X((u32)l) X((long)u) \
	X((long)(int)u) X((unsigned long)n) X((u64)(u32)n) X((unsigned long)c) X((unsigned char)c) X(c >> 1) X(c * 3) \
	X((unsigned char)c >> 1) X(s->byte << 4) X((u8)(s->byte << 4)) X(s->byte << 23) X(1u << (s->byte & 31)) \
	X(1UL << (n & 63)) X(n >> 3) X(n >> 3UL) X(l >> (s->byte & 7)) X(m >> 60) X((int)m >> 31) X(-8 >> 1) X(-8 >> 1u) \
	X(-8L >> 1UL) X(n / 7) X(n % 7) X(-n / 7) X(-n % 7) X(l / -9) X(u / 7) X(m % 1000) X(n / 7u) X(s->small / 3) \
	X(s->small % 3) X(s->word ^ n) X(s->number | s->half) X(s->number & ~7) X(s->big & 0xffffffff) \
	X(s->big & 0xffffffffL) X(s->wide >> 63) X(s->wide - 1 > s->wide) X(s->number == (u32)s->number) \
	X(s->number == (long)(u32)s->number) X(0xffffffff > n) X(4294967295 > n) X(0x7fffffff > n) X(2147483648 > n) \
	X('a' + s->byte) X('\xff' < 0) X('\377' == -1) X('\\' == 92) X('\0') X('\n' + '\t') X(s->tight[0] == '[') \
	/* bit fields */ \
	X(s->one) X(s->one - 2) X(s->one - 2 < 0) X(s->three) X(s->three - 8 < 0) X(-s->three) X(-s->three < 0) \
	X(~s->three) X(~s->three < 0) X(s->three << 29) X(s->three << 29 < 0) X(s->signed_five) X(s->signed_five * 3) \
	X(s->signed_five < 0) X(s->signed_five < u) X(s->crossing) X(s->crossing - 200000000 < 0) X(s->crossing * 2 - 1) \
	X(s->nibble) X(s->nibble - 16) X(s->flag_bit) X(s->flag_bit - 1) X(s->flag_bit + s->one + s->three) \
	X(s->three > s->signed_five) X(s->three == 5 || s->nibble == 9) X(s->hidden) X(s->hidden - 500) X(s->below) \
	X(s->below < 0) X(s->below - 1) X(s->yes) X(!s->yes) X(s->yes == 1 && s->hidden > 3) X(-s->hidden < s->below) \
	X(s->mood_bits) X((long)s->forty) X(s->forty > 5) X(s->one ? s->three : s->signed_five) \
	/* bool and enum */ \
	X(s->on) X(s->on == 1) X(s->on + 1) X(!s->on) X(s->on ? 5 : 6) X(-s->on) X(s->on - 1 < 0) X(s->on & s->three) \
	X((bool)n) X((bool)(n & 0x100)) X((bool)s) X((bool)m + 1) X((_Bool)0x100) X(s->mood) X(s->mood == GTP_TARGET_CALM) \
	X(s->mood < 0) X(s->mood != GTP_TARGET_MERRY && s->mood != GTP_TARGET_SAD) X(GTP_TARGET_SAD < 0) \
	X(GTP_TARGET_MERRY + 1) X(s->mood * 2) X((enum gtp_target_mood)n) X(s->grid[1][s->on]) X(s->next + s->on == s) \
	/* unnamed members */ \
	X(s->low_port) X(s->high_port) X(s->high_port << 16 | s->low_port) X(s->deep[0]) X(s->deep[s->three & 3]) \
	X(s->all) X(s->all >> 24 == s->deep[3]) X(s->pair) X((u32)s->pair) X((*s).high_port) X((&*s)->all) \
	X(s->next->low_port - s->low_port) X(s->next->deep[1]) X(s[0].all) X((s + 1)->all == s[1].all) X(s->next->prev->all) \
	X(&s->high_port - &s->low_port) X(&s->deep[3] - s->deep) X(&s->all == (u32 *)s->deep) X(&s->low_port == (u16 *)&s->pair) \
	X((char *)&s->all - (char *)s == offsetof(struct gtp_target_shape, all)) X(sizeof(s->deep)) X(sizeof(s->high_port)) \
	/* sizes and offsets */ \
	X(sizeof(*s)) X(sizeof *s / 2) X(sizeof(s->grid)) X(sizeof(s->grid[0])) X(sizeof(s->points[0])) X(sizeof(int *)) \
	X(sizeof(int [3][4])) X(sizeof(struct gtp_target_shape) - 5000 > 0) X(n < sizeof(int)) X(-1 < (int)sizeof(int)) \
	X(sizeof(s->byte + 1)) X(sizeof('a')) X(sizeof("abcd")) X(sizeof(s->name) / sizeof(s->name[0])) X(sizeof(s->on)) \
	X(offsetof(struct gtp_target_shape, name)) X(offsetof(struct gtp_target_shape, grid[1][2])) \
	X(offsetof(struct gtp_target_shape, inside.link.prev)) X(offsetof(struct gtp_target_shape, deep[2])) \
	X(offsetof(struct gtp_target_shape, points[2].y)) X(offsetof(struct gtp_target_shape, name) - 5000 < 0) \
	X(_Alignof(long)) X(__alignof__(struct gtp_target_shape)) \
	/* pointers and arrays */ \
	X(s->next - s) X(s - s->next) X(s - s->next < 0) X((s - s->next) * 3) X(&shapes[3] - &shapes[1]) X(&shapes[1] - &shapes[3]) \
	X(&s->grid[2][1] - &s->grid[0][3]) X(s->grid[1][2]) X(*s->grid[1]) X(*(*(s->grid + 1) + 2)) X((*s->grid)[3]) \
	X(s->grid[s->three & 1][s->one]) X(s->points[1].y) X((s->points + 1)->x) X((*(s->points + 2)).y) X(s->points[s->three & 1].x) \
	X(&s->points[2] - &s->points[0]) X(&s->points[2] - s->points) X(s->name[3]) X(*(s->name + 3)) X(3[s->name]) \
	X(s->name + 1 == &s->name[1]) X(s->text == s->name) X(s->text != NULL) X(*s->text) X(s->text[1] - s->text[0]) \
	X(s->next->next == s) X(s->next->prev == s) X(s->next > s) X(s->opaque == s) X((struct gtp_target_shape *)s->opaque == s) \
	X(((struct gtp_target_shape *)s->opaque)->number) X(*(int *)((char *)s + offsetof(struct gtp_target_shape, number))) \
	X(s->call == NULL) X(!s->call) X(s->opaque ? 1 : 2) X(s->next ? s->next->number : -1) X((s->next ? s->next : s)->number) \
	X((s->call ? NULL : s)->word) X((unsigned long)s % 8) X((long)(s->next - s) << 3) X((u8 *)s + n == (u8 *)s + (long)n) \
	X(&s[1] == s->next) X(&(*s).half == &s->half) X((s + 1) - 1 == s) X(s->next + -1 == s) X(&s->next[-1] == s) \
	/* what contains it */ \
	X(container_of(&s->inside, struct gtp_target_shape, inside) == s) \
	X(container_of(&s->inside.link, struct gtp_target_shape, inside.link)->number) \
	X(container_of(s->inside.link.next, struct gtp_target_shape, inside.link) == s->next) \
	X(container_of(s->inside.link.next, struct gtp_target_shape, inside.link)->all) \
	X(container_of(&s->all, struct gtp_target_shape, all)->high_port) \
	X(list_entry(s->inside.link.next, struct gtp_target_shape, inside.link)->half) \
	X(list_entry(s->inside.link.next, typeof(*s), inside.link)->half) \
	X(container_of(&s->inside, typeof(*s), inside)->next->number) \
	/* logic and choice */ \
	X(n && u) X(n || !u) X(!n && !u) X(s && s->next && s->next->one) X(s->prev == NULL || s->prev->one) \
	X(!s->prev || s->prev->one) X(n > 0 && n < 100 || u == 7) X((n > 0) + (u > 0) * 2) X(n ? u : -1) X(n ? -1 : u) \
	X((n ? -1 : u) > 0) X((n ? u : -1) > 0) X(u > 5 ? -1 : 1u) X((s->one ? s->small : s->word) < 0) \
	X((s->one ? s->small : s->half) < 0) X(n ? l : u) X((n ? s->small : 0L) < 0) X(n ?: 7) X((n & 0) ?: -7) \
	X(n > 5 ? u > 5 ? 1 : 2 : 3) X(1 ? 2 : 3) X(n == n) X(0 == n - n) \
	/* registers by their arguments */ \
	X(n) X(u) X(l) X(m) X(c) X((long)n + u) X(n + u) X(n - u) X(c + n) X(c < n) X(c == (char)c) X(n * (long)n) \
	X(u * (u64)u) X((u8)u + (u8)n) X(n << 2) X(u << 2) X(u << 31) X(m << 1 >> 1) X(l * 2 / 2) X(c & 0x80) X(c | 0x100)
/* clang-format on */

struct gtp_target_expr gtp_target_exprs[] = {
#define X(expression) { .text = #expression },
	EXPRS(X)
#undef X
};

const unsigned int gtp_target_exprs_count = ARRAY_SIZE(gtp_target_exprs);

GTP_TARGET_FN long gtp_target_expr(struct gtp_target_shape *s, int n, unsigned int u, long l, unsigned long m,
				   signed char c)
{
	struct gtp_target_expr *row = gtp_target_exprs;

#define X(expression) (row++)->value = (long)(expression);
	EXPRS(X)
#undef X
	return row - gtp_target_exprs;
}

static void fill(struct gtp_target_shape *s, u32 seed)
{
	*s = (struct gtp_target_shape){
		.byte = seed, .small = seed >> 3, .half = seed * 7, .shorty = seed * 13, .word = seed * 0x9e3779b1,
		.number = seed * 0x85ebca6b, .wide = seed * 0x9e3779b97f4a7c15, .big = -(long)seed * 0x51ed270b,
		.one = seed, .three = seed >> 1, .signed_five = seed >> 2, .crossing = seed * 0x8765431,
		.forty = seed * 0x1234567891, .nibble = seed >> 4, .flag_bit = seed & 2, .on = seed & 4,
		.mood = seed & 8 ? GTP_TARGET_SAD : seed & 1 ? GTP_TARGET_CALM : GTP_TARGET_MERRY,
		.mood_bits = seed & 16 ? GTP_TARGET_SAD : GTP_TARGET_CALM, .text = "expr", .opaque = s,
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
		for (j = 0; j < 3; j++)
			s->points[j].x = s->points[j].y = seed - 10 * i - j;
		s->prev = i ? s - 1 : NULL;
		s->next = i + 1 < ARRAY_SIZE(shapes) ? s + 1 : NULL;
		s->inside.link.prev = i ? &s[-1].inside.link : NULL;
		s->inside.link.next = s->next ? &s[1].inside.link : NULL;
	}
	gtp_target_expr(&shapes[1], (int)(seed * 0x01000193), seed * 31, -(long)seed * 0x10001, seed * 0x123456789abul,
			seed * 11);
}
