// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ABI passes no argument on the stack to functions named yes_... To functions named no_..., it
 * passes one, or the tool cannot exclude it. The tool must accept the former and refuse the latter.
 */
#include <stdarg.h>
#include <sys/cdefs.h>

struct one {
	char a;
};

struct two {
	long a, b;
};

struct mixed {
	int a;
	short b;
	char c[6];
};

struct bits {
	unsigned int a : 3, b : 29;
	long c;
};

struct nested {
	struct one a;
	union {
		int b;
		struct one c;
	} d;
	long e;
};

struct three {
	long a, b, c;
};

#pragma pack(push, 1)
struct unaligned {
	char a;
	long b;
};

#pragma pack(pop)

struct empty {
};

enum word { WORD };

long yes_nothing(void)
{
	return 1;
}

long yes_six(long a, int b, char c, _Bool d, enum word e, void *f)
{
	return a + b + c + d + e + *(char *)f;
}

long yes_pair(long a, struct two b, long c, struct two d)
{
	return a + b.b + c + d.a;
}

long yes_small(struct one a, struct mixed b, struct bits c)
{
	return a.a + b.c[5] + c.c;
}

long yes_nested(struct nested a, const struct two b)
{
	return a.e + b.b;
}

long yes_callback(const struct two a, long (*b)(long))
{
	return b(a.b);
}

struct three yes_result(long a, long b, long c, long d, long e)
{
	return (struct three){ a + b, c + d, e };
}

struct two yes_two(long a)
{
	return (struct two){ a, a };
}

__int128 yes_wide(__int128 a, long b, long c, __int128 d)
{
	return a + b + c + d;
}

long yes_empty(struct empty a, long b, long c, long d, long e, long f, long g)
{
	return b + g;
}

__attribute_noinline__ static long yes_local(long *a)
{
	return ++*a;
}

long no_seven(long a, long b, long c, long d, long e, long f, long g)
{
	return a + g;
}

long no_pair(long a, long b, long c, long d, long e, struct two f)
{
	return a + f.b;
}

long no_three(struct three a)
{
	return a.c;
}

long no_unaligned(struct unaligned a)
{
	return a.b;
}

struct three no_result(long a, long b, long c, long d, long e, long f)
{
	return (struct three){ a, f, e };
}

long no_variadic(long a, ...)
{
	va_list args;
	long b;

	va_start(args, a);
	b = va_arg(args, long);
	va_end(args);
	return a + b;
}

double no_double(double a)
{
	return a * 2;
}

long no_wide(__int128 a, __int128 b, __int128 c, long d)
{
	return (long)(a + b + c) + d;
}

_Noreturn void no_return(void)
{
	for (;;)
		;
}

/* The compiler makes a clone of this function; the arguments of the clone are unknown. */
__attribute_noinline__ static long no_clone(long *a, long b)
{
	return b ? *a * 3 : *a;
}

long yes_callers(long a)
{
	long b = a;

	return yes_local(&b) + no_clone(&a, 1) + no_clone(&b, 1);
}
