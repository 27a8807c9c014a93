// SPDX-License-Identifier: GPL-2.0-only
/*
 * Job: lists, flexible arrays, 128-bit integers, and an argument that is always the same constant.
 */
#include "units.h"

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

struct entry {
	int id;
	struct list_head list;
	struct hlist_node node;
};

struct named {
	int length;
	char name[1];
};

struct open_end {
	int length;
	char name[];
};

struct zero {
	int length;
	char name[0];
};

struct wide {
	__int128 value, other, least;
};

struct one {
	unsigned int value;
};

struct pair {
	union {
		void *pointer;
		const char *text;
	};
	unsigned char on : 1;
	signed char field : 5;
	short number;
	int last;
};

enum signs { BELOW = -3, ABOVE = 2 };

enum naturals { FIRST = 1, LAST = 6 };

struct fields {
	enum signs sign : 4, whole;
	enum naturals natural : 3;
	int number : 5;
	unsigned int count : 5;
};

struct fields fields = { BELOW, BELOW, .natural = LAST, .number = -5, .count = 21 };

struct mixed {
	signed char small;
	bool yes;
	unsigned short wide;
	struct one inner;
};

static struct list_head list;
static struct hlist_head hlist;
struct list_head empty = { &empty, &empty };
struct hlist_head none;
static struct entry entries[3];
struct wide wide = { -2, (__int128)5 << 64 | 7, (__int128)1 << 127 };
unsigned __int128 huge = -3;
struct keyed {
	unsigned short mac[3];
	union {
		struct {
			char first;
			int second;
		};
		unsigned char bytes[8];
		long word;
	};
	char name[8];
	char more[0];
} keyed = { .mac = { 1, 2, 3 }, .word = 4, .name = "key" };

/* Arrays of bytes that are not text, although their types are spelled like those of text. */
struct ether {
	unsigned char dest[6];
	char name[4];
	signed char all[3];
	unsigned char address[16];
	unsigned char long_name[40];
	unsigned char rest[];
} ether = { .dest = { 0x52, 0x54, 0, 0x12, 0x34, 0x96 },
	    .name = "eth",
	    .all = { -1, 0, 1 },
	    .address = { 0x20, 1, 0xd, 0xb8, [15] = 0xfe } };

/* No single member covers all bytes of this union. */
union odd {
	unsigned char three[3];
	short one;
} odd = { { 1, 2, 3 } };
double ratio = 0.5;

static union {
	struct named named;
	struct open_end open_end;
	struct zero zero;
	char text[16];
} rooms[] = { { .text = "\6\0\0\0gadget" },
	      { .text = "\6\0\0\0gadget" },
	      { .text = "\6\0\0\0gadget" } };

static void fill(void)
{
	int i;

	list.next = &entries[0].list;
	list.prev = &entries[2].list;
	hlist.first = &entries[0].node;
	for (i = 0; i < 3; i++) {
		entries[i].id = i + 1;
		entries[i].list.next = i < 2 ? &entries[i + 1].list : &list;
		entries[i].list.prev = i ? &entries[i - 1].list : &list;
		entries[i].node.next = i < 2 ? &entries[i + 1].node : NULL;
	}
}

static alone int in_values(struct named *named, struct open_end *open_end, struct zero *zero,
			   struct entry *entry)
{
	return named->length + open_end->length + zero->length + entry->id;
}

/* The structures are passed in one register, or in two. */
static alone long in_register(struct one one, struct mixed mixed)
{
	return one.value + mixed.small;
}

static alone long in_registers(struct pair pair)
{
	return (long)pair.pointer + pair.on;
}

/* GCC makes a copy of this function for the only value that @always ever has. */
static int in_copy(struct entry *entry, int always)
{
	return entry->id + always;
}

int values(void)
{
	struct one one = { 0x80000001 };
	struct mixed mixed = { -1, true, 0xfffe, { 0xdeadbeef } };
	struct pair pair = { .text = rooms[0].named.name,
			     .on = 1,
			     .field = -3,
			     .number = -4,
			     .last = 5 };

	fill();
	if (in_copy(&entries[2], 7) != 10)
		return 1;
	if (!in_register(one, mixed) || !in_registers(pair))
		return 2;
	return in_values(&rooms[0].named, &rooms[1].open_end, &rooms[2].zero, &entries[1]) +
	       (hlist.first && none.first) + (empty.next && wide.value) +
	       (keyed.word && odd.one && huge && ratio > 0);
}
