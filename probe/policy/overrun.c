// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds functions at the end of a mapping: when the kernel decodes such a function, it reads past
 * that end.
 */
#include <linux/minmax.h>
#include <linux/uaccess.h>

#include "kernel/base/lock_kernel.h"
#include "probe/shadow.h"
#include "probe/policy/entry.h"
#include "probe/policy/overrun.h"
#include "probe/policy/symbol.h"
#include "regions/insn.h"

/* True if the last instruction ends exactly at @end; false also if an instruction is unknown. */
static bool ends_together(u64 at, u64 end)
{
	u8 code[GTP_INSN_MAX];
	struct gtp_insn insn;

	while (at < end) {
		u32 len = (u32)min_t(u64, end - at, sizeof(code));

		if (copy_from_kernel_nofault(code, (void *)at, len))
			return false;
		gtp_shadow_undo(at, code, len);
		if (gtp_insn_decode(&insn, code, len))
			return false;
		at += insn.len;
	}
	return true;
}

bool gtp_overruns(u64 addr)
{
	u8 behind[GTP_INSN_MAX];
	u64 start;
	u32 size;

	lockdep_assert_held(&gtp_lock);
	if (!gtp_symbol_bounds(addr, &start, &size))
		return false;
	if (!copy_from_kernel_nofault(behind, (void *)(start + size), sizeof(behind)))
		return false;
	return gtp_entry_ask(addr) && !ends_together(start, start + size);
}
