// SPDX-License-Identifier: GPL-2.0-only
/* A value of every kind that a column of `gtp table` may have to show. */
#include <stdbool.h>
#include <stdint.h>

enum state { IDLE, BUSY, DEAD = 100 };
enum mode { READ = 1, WRITE = 2, SYNC = 8 };

typedef unsigned char u8;
typedef long (*action)(long);

struct inner {
	short x, y;
	char tag[4];
};

struct thing {
	int id;
	short small;
	u8 byte;
	signed char tiny;
	bool flag;
	char letter;
	enum state state;
	enum mode mode;
	int low : 3;
	unsigned int high : 7;
	unsigned long wide;
	char name[16];
	u8 address[6];
	const char *text;
	const u8 *bytes;
	action call;
	struct thing *next;
	void *data;
	int numbers[4];
	double ratio;
	struct inner inner;
	struct inner pair[2];
	union {
		unsigned int word;
		u8 parts[4];
	} u;
	union {
		int hidden;
		unsigned int also_hidden;
	};
};

static long twice(long x)
{
	return 2 * x;
}

static const int limits[4] = { 10, 200, -3000, 40000 };
static const char motto[] = "it never changes";
int counter = 5;
__int128 huge = -5;

struct thing things[4] = {
	{ .id = 1,
	  .small = -2,
	  .byte = 200,
	  .tiny = -100,
	  .flag = true,
	  .letter = 'x',
	  .state = BUSY,
	  .mode = READ | WRITE,
	  .low = -3,
	  .high = 100,
	  .wide = 0xfedcba9876543210,
	  .name = "first",
	  .address = { 1, 2, 0xff, 'a', 0, 9 },
	  .text = "a text with \"quotes\", a \\ and\ta tab",
	  .bytes = (const u8 *)"bytes\xff",
	  .call = twice,
	  .next = &things[1],
	  .data = &counter,
	  .numbers = { 1, -2, 3, -4 },
	  .ratio = 1.5,
	  .inner = { 3, -4, "abc" },
	  .pair = { { 1, 2, "p" }, { 3, 4, "q" } },
	  .u.word = 0x01020304,
	  .hidden = -7 },
	{ .id = -2147483647,
	  .small = 32767,
	  .byte = 'A',
	  .tiny = 'B',
	  .flag = false,
	  .letter = '\n',
	  .state = DEAD,
	  .mode = SYNC,
	  .low = 3,
	  .high = 127,
	  .wide = 1,
	  .name = "exactly sixteen!",
	  .text = motto,
	  .bytes = (const u8 *)0xffff888012345678,
	  .next = &things[3],
	  .data = (void *)0xffff888012345678,
	  .numbers = { 7, 7, 7, 7 },
	  .ratio = -0.0,
	  .u.word = ~0u,
	  .hidden = 8 },
	{ .id = 3,
	  .state = 55,
	  .mode = 0x40 | READ,
	  .name = "a\x01\xff\"\\b",
	  .letter = '\'',
	  .text = 0,
	  .call = 0,
	  .next = 0,
	  .numbers = { 0 },
	  .ratio = 1e300 },
	{ .id = 4,
	  .wide = ~0ul,
	  .name = "",
	  .text = (const char *)8,
	  .call = (action)8,
	  .next = &things[0],
	  .data = things,
	  .mode = 0 },
};

/* A bit field of an unnamed struct. struct sk_buff has many of them. */
struct flags {
	struct {
		unsigned int inside : 3;
		int beside;
	};
} flags, *to_flags = &flags;

/* The tasks that make calls, with names that a user may choose. */
struct task_struct {
	int pid, tgid;
	char comm[16];
};

struct task_struct tasks[4] = {
	{ 7, 7, "plain" },
	{ 8, 7, "a\"b\\c;d<e>&'" },
	{ 9, 9, "\xff\xc3(\n\t\x01\x7f" },
	{ 10, 9, "" },
};

/* The offset from the monotonic clock to the time of day, in the same form as in the kernel. */
struct {
	struct {
		long offs_real;
	} timekeeper;
} tk_core = { { 1690000000123456789 } };

/*
 * A traced function is not inlined or cloned, and gets its arguments by the calling convention, so
 * that GDB finds their values.
 */
#define TRACED __attribute__((noipa))

TRACED long visit(struct thing *t, int n)
{
	return t->id + n + counter + limits[n & 3];
}

int main(void)
{
	return (int)visit(things, 1) + motto[1] + (tk_core.timekeeper.offs_real == tasks[0].pid);
}
