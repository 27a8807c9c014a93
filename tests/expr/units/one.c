// SPDX-License-Identifier: GPL-2.0-only
/* Job: one of two compile units whose types and variables have the same names but are different. */
#include "units.h"

struct twin {
	char pad[24];
	int number;
};

union either {
	short number;
	char bytes[2];
};

enum color { RED = 5 };

typedef unsigned char u32;

static struct twin mine = { .number = 1 };
static union either other = { .number = 1 };
static enum color red = RED;
static u32 byte = 1;

struct task_struct {
	int pid;
};

static struct task_struct task = { .pid = 1 };

int in_one(void *pointer, long count)
{
	struct twin *twin = pointer ?: &mine;

	return twin->number + count + other.number + red + byte + task.pid;
}
