// SPDX-License-Identifier: GPL-2.0-only
/* Job: the other one. */
#include "units.h"

struct twin {
	int number;
	char more[60];
};

union either {
	long number;
	char bytes[32];
};

enum color { GREEN, RED };

typedef unsigned long u32;

static struct twin mine = { .number = 2 };
static union either other = { .number = 2 };
static enum color red = RED;
static u32 word = 2;

/* As in libc: GDB finds it at all places. */
static __thread struct twin *current;

int in_two(void *pointer, long count)
{
	struct twin *twin = pointer ?: &mine;

	current = twin;
	return current->number + count + other.number + red + word;
}
