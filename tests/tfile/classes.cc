// SPDX-License-Identifier: GPL-2.0-only
/* Classes with static members and base classes, so that GDB must adjust addresses. */

struct base {
	int b;
	static int count;
};

struct second {
	int s;
};

struct derived : base, second {
	int d;
};

struct apart : virtual base {
	int a;
};

int base::count = 7;
apart whole; /* GDB knows this class only if the program has an object of it */
long memory[8] = { 0x200000001, 0x400000003, 0x600000005 };

__attribute__((noipa)) long look(base *b, derived *d, apart *a, second *s)
{
	return b->b + d->s + a->a + s->s;
}

/* A frame has no floating-point registers. */
__attribute__((noipa)) double half(int n, double x)
{
	return x / 2 + n;
}

int main()
{
	return (int)half(1, 2) + (int)look((base *)memory, (derived *)memory, (apart *)memory, (second *)memory);
}
