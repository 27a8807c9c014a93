// SPDX-License-Identifier: GPL-2.0-only
/* Finds out whether a function takes no probe because tracers themselves call it. */
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/string.h>

#include "kernel/base/lock_kernel.h"
#include "probe/policy/entry.h"
#include "probe/policy/notrace.h"
#include "probe/policy/probe_test.h"
#include "probe/policy/symbol.h"

/* The start of the function that was looked up last (0: none), and its result. */
static u64 last_start;
static int last_answer;

/*
 * Return 1 if the function has no ftrace site; 0 if it has one, or if the kernel has no function
 * tracer, whose calls could hit a probe again; or -ENOMEM.
 */
static int has_no_site(u64 start)
{
	int err = gtp_entry_ask(start);

	return err == -EINVAL ? 1 : err == -ENOMEM ? err : 0;
}

/*
 * whole_of - return the name of the function whose .cold part is at @addr, or NULL
 *
 * A .cold part has a symbol of its own, and no site: only its function jumps there.
 */
static const char *whole_of(u64 addr)
{
	static char whole[KSYM_NAME_LEN + MODULE_NAME_LEN];
	const char *symbol = gtp_symbol_at(addr);
	const char *plus = strrchr(symbol, '+'), *part, *module;

	if (!plus)
		return NULL;
	part = strnstr(symbol, ".cold", plus - symbol);
	if (!part)
		return NULL;
	module = strchr(plus, '[');
	if (module)
		snprintf(whole, sizeof(whole), "%.*s:%.*s", (int)strcspn(module + 1, "] "),
			 module + 1, (int)(part - symbol), symbol);
	else
		snprintf(whole, sizeof(whole), "%.*s", (int)(part - symbol), symbol);
	return whole;
}

/*
 * Find out by the function's name whether its entry is a site: register a kprobe there. If the
 * kernel refuses the function itself, it refuses the function's parts, too.
 */
static int whole_has_no_site(const char *name)
{
	bool on_ftrace = false;
	int err = gtp_probe_test_function(name, &on_ftrace);

	if (err == -ENOMEM)
		return err;
	return err ? err != -EINVAL : !on_ftrace;
}

static int ask(u64 addr, u64 start)
{
	int answer = has_no_site(start);
	const char *whole;

	if (answer <= 0)
		return answer;
	whole = whole_of(addr);
	return whole ? whole_has_no_site(whole) : answer;
}

int gtp_notrace(u64 addr)
{
	u64 start;
	u32 size;

	lockdep_assert_held(&gtp_lock);
	if (!gtp_symbol_bounds(addr, &start, &size))
		return 0;
	if (start != last_start) {
		last_start = 0;
		last_answer = ask(addr, start);
		last_start = last_answer < 0 ? 0 : start;
	}
	return last_answer;
}

void gtp_notrace_forget(void)
{
	lockdep_assert_held(&gtp_lock);
	last_start = 0;
}
