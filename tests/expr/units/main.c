// SPDX-License-Identifier: GPL-2.0-only
/*
 * Job: a compile unit that defines none of the types of one.c and two.c, and declares one of them.
 */
#include "units.h"

struct twin;

static struct holder {
	struct twin *twin;
	struct twin **row;
} holder;

int in_none(struct holder *held, long count)
{
	return in_one(held->twin, count) + in_two(held->twin, count);
}

int main(int argc, char **argv)
{
	(void)argv;
	return in_none(&holder, argc) + values();
}
