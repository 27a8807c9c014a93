// SPDX-License-Identifier: GPL-2.0-only
/* Job: the second of the two units with types and variables of the same names; see one.c. */
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

/* libc has a thread-local variable of this name, too, which GDB finds at all places. */
static __thread struct twin *current;

int in_two(void *pointer, long count)
{
	struct twin *twin = pointer ?: &mine;

	current = twin;
	return current->number + count + other.number + red + word;
}
