// SPDX-License-Identifier: GPL-2.0-only
/* Exceptions that pass through a function, and one that a function catches itself. */
extern "C" {
#include "program.h"
}

namespace {
struct Guard {
	long *at;
	~Guard() { ++*at; }
};
}

long guarded;

extern "C" __attribute__((noinline)) long throws(long n)
{
	Guard guard = { &guarded };

	__asm__ volatile("" : "+r"(n) : : "memory");
	if (n % 2)
		throw n;
	return n * 4;
}

extern "C" __attribute__((noinline)) long catches(long n)
{
	long r;

	try {
		r = throws(n);
	} catch (long caught) {
		r = -caught;
	}
	__asm__ volatile("" : "+r"(r) : : "memory");
	return r + 1000;
}
