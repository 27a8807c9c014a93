// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure how many cycles LTTng-UST's tracepoints take, in the form of bench_native.c's table.
 * tests/bench/lttng runs this program.
 */
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "tests/bench/lttng_event.h"

#include <stdlib.h>

#include "tests/bench/cycles.h"

static noinline long nothing(struct cycles_obj *o, int n)
{
	return n;
}

static noinline long bare(struct cycles_obj *o, int n)
{
	return n + 0x12345L + o->a;
}

#define TRACED(name)                                                                               \
	static noinline long name(struct cycles_obj *o, int n)                                     \
	{                                                                                          \
		lttng_ust_tracepoint(gtp_bench, name, o->a, o->b);                                 \
		return n + 0x12345L + o->a;                                                        \
	}                                                                                          \
	static bool name##_is_on(void)                                                             \
	{                                                                                          \
		return lttng_ust_tracepoint_enabled(gtp_bench, name);                              \
	}

TRACED(off)
TRACED(never)
TRACED(holds)
TRACED(always)

static const struct {
	const char *name;
	cycles_fn fn;
	bool (*is_on)(void);
	bool on;
} rows[] = {
	{ "LTTng-UST: the function, bare", bare, NULL, false },
	{ "LTTng-UST: the tracepoint, off", off, off_is_on, false },
	{ "LTTng-UST: filter a > 1000, false", never, never_is_on, true },
	{ "LTTng-UST: filter a > 5, a and b recorded", holds, holds_is_on, true },
	{ "LTTng-UST: no filter, a and b recorded", always, always_is_on, true },
};

int main(void)
{
	static struct cycles_obj o = { 42, 7 };
	struct cycles empty = cycles_measure(nothing, &o, NULL, NULL, NULL);

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].is_on && rows[i].is_on() != rows[i].on) {
			fprintf(stderr, "bench_lttng: %s: it is %s\n", rows[i].name,
				rows[i].on ? "off" : "on");
			return 1;
		}
		cycles_row(rows[i].name, rows[i].fn, &o, empty);
	}
	return 0;
}
