// SPDX-License-Identifier: GPL-2.0-only
/* The library that victim.c loads while GDB is connected. */
long victim_library_value = 4711;

long victim_library(long n)
{
	return n + victim_library_value;
}
