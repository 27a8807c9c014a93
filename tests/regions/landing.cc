// SPDX-License-Identifier: GPL-2.0-only
// Exceptions: the unwinder enters functions at landing pads, to which no jump leads.
#include <stdexcept>

extern void may_throw(int);
int caught;

struct guard {
	~guard() { caught++; }
};

__attribute__((noinline)) int tries(int n)
{
	try {
		guard g;
		may_throw(n);
		return n;
	} catch (const std::runtime_error &) {
		caught += 2;
		return -1;
	} catch (int e) {
		return e;
	}
}

void may_throw(int n)
{
	if (n > 3)
		throw std::runtime_error("large");
	if (n < 0)
		throw n;
}

int main(int argc, char **)
{
	return tries(argc) + caught;
}
