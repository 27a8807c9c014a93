// SPDX-License-Identifier: GPL-2.0-only
/* Finds the symbol at an address, using only exported functions. */
#include <linux/kallsyms.h>
#include <linux/string.h>

#include "kernel/base/lock_kernel.h"
#include "probe/policy/symbol.h"

static char name[KSYM_SYMBOL_LEN];
static u64 name_of; /* the address whose symbol is in @name; 0: none */

const char *gtp_symbol_at(u64 addr)
{
	lockdep_assert_held(&gtp_lock);
	if (addr != name_of)
		sprint_symbol(name, addr);
	name_of = addr;
	return name;
}

void gtp_symbol_forget(void)
{
	lockdep_assert_held(&gtp_lock);
	name_of = 0;
}

/* Find a symbol's bounds, which exported functions give only as text. */
bool gtp_symbol_bounds(u64 addr, u64 *start, u32 *size)
{
	const char *at = strrchr(gtp_symbol_at(addr), '+');
	unsigned long offset, length;

	if (!at || sscanf(at, "+0x%lx/0x%lx", &offset, &length) != 2)
		return false;
	if (offset >= length || length > U32_MAX)
		return false;
	*start = addr - offset;
	*size = length;
	return true;
}
