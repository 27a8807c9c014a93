// SPDX-License-Identifier: GPL-2.0-only
/* Finds the function tracer's site at a function's entry. */
#include <linux/ftrace.h>
#include <linux/string.h>

#include "base/compat.h"
#include "kernel/base/lock_kernel.h"
#include "kernel/hit/access_kernel.h"
#include "probe/policy/entry.h"
#include "probe/policy/symbol.h"

enum { ENDBR = 4 };

static const u8 idle_site[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 }; /* nopl 0(%rax,%rax) */

static bool begins_endbr(const u8 *code)
{
	u32 first;

	memcpy(&first, code, sizeof(first));
	return gtp_is_endbr(first);
}

/*
 * True if a function begins at the address. Weak functions that were overridden are still in the
 * text, without a symbol. ftrace has records of their sites: it accepts a direct call there, but
 * warns when the call is removed.
 */
static bool begins_function(u64 addr)
{
	u64 start;
	u32 size;

	return gtp_symbol_bounds(addr, &start, &size) && addr - start <= ENDBR;
}

u64 gtp_entry_idle(u64 addr)
{
	u8 code[ENDBR + sizeof(idle_site)];
	u32 at;

	BUILD_BUG_ON(sizeof(idle_site) != GTP_ENTRY_SITE);
	if (gtp_access_read_kernel(code, addr, sizeof(code)))
		return 0;
	at = begins_endbr(code) ? ENDBR : 0;
	if (memcmp(code + at, idle_site, sizeof(idle_site)) || !begins_function(addr))
		return 0;
	return addr + at;
}

/*
 * An ftrace_ops that is never registered. Its filter accepts exactly the addresses for which the
 * function tracer has a record, so setting the filter shows whether there is a record of the
 * address.
 */
static struct ftrace_ops asked;

int gtp_entry_ask(u64 addr)
{
	lockdep_assert_held(&gtp_lock);
	return ftrace_set_filter_ip(&asked, addr, 0, 1);
}

/*
 * Free the filter. Do this only at module exit: ftrace_free_filter() leaves dangling pointers in
 * @asked.
 */
void gtp_entry_exit(void)
{
	ftrace_free_filter(&asked);
}
