// SPDX-License-Identifier: GPL-2.0-only
/* Job: one function for each type that a function can return, for the tests of $ret. */
#include "units.h"

struct big {
	char name[40];
	int number;
};

struct small {
	unsigned int value;
};

struct two {
	void *pointer;
	bool is_kernel;
};

static int some = 5;
static struct big big;

int ret_int(void)
{
	return some;
}

unsigned int ret_unsigned(void)
{
	return some;
}

short ret_short(void)
{
	return some;
}

char ret_char(void)
{
	return some;
}

bool ret_bool(void)
{
	return some;
}

unsigned char ret_byte(void)
{
	return some;
}

enum shade ret_shade(void)
{
	return some ? WHITE : BLACK;
}

long ret_long(void)
{
	return some;
}

unsigned long ret_ulong(void)
{
	return some;
}

struct big *ret_pointer(void)
{
	return &big;
}

void ret_nothing(void)
{
	some = 0;
}

struct big ret_large(void)
{
	return big;
}

struct small ret_small(void)
{
	return (struct small){ some };
}

struct two ret_two(void)
{
	return (struct two){ &big, some };
}
