// SPDX-License-Identifier: GPL-2.0-only
/* GDB debugs this program like a kernel. It has functions with register arguments, and data. */

struct thing {
	int id;
	long big;
	char name[16];
	struct thing *next;
};

struct thing second = { 2, -22, "second", 0 };
struct thing first = { 1, 11, "first", &second };
int counter = 5;

/*
 * A traced function is not inlined or cloned, and gets its arguments by the calling convention, so
 * that GDB finds their values.
 */
#define TRACED __attribute__((noipa))

TRACED long add(long a, long b)
{
	return a + b + counter;
}

TRACED long look(struct thing *t, int n)
{
	return t->big + n + counter;
}

TRACED void nothing(void)
{
	counter++;
}

/* The compiler inlines both copies, so that a tracepoint on it has two locations. */
static inline void twice(int n)
{
	counter += n;
	counter ^= 1;
}

TRACED void here(int n)
{
	twice(n);
}

TRACED void there(int n)
{
	twice(n + 1);
}

int main(void)
{
	here(1);
	there(2);
	nothing();
	return (int)(add(1, 2) + look(&first, 3));
}

/* Constant data, which is not in any frame. The pointers are addresses of the current boot. */
const char *const kinds[] = { "the first kind", "the second kind" };
