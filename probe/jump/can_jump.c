// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides whether an address of the running kernel can become a jump.
 *
 * It makes three checks, in this order. A table of regions must cover the code. The code that is in
 * memory now, decoded from the function's first byte to its last, must allow a jump. And the
 * kernel's blacklist of code that must not be probed must not list the address.
 */
#include <linux/sizes.h>
#include <linux/uaccess.h>

#include "kernel/base/lock_kernel.h"
#include "kernel/base/mem_kernel.h"
#include "probe/shadow.h"
#include "probe/jump/can_jump.h"
#include "probe/kprobe/kprobe_list.h"
#include "probe/policy/probe_test.h"
#include "probe/policy/refuse.h"
#include "probe/policy/symbol.h"
#include "probe/tables.h"

enum { FUNCTION_MAX = SZ_64K }; /* bytes; longer functions are refused */

static u8 *code; /* a copy of one function at a time; under gtp_lock */

/* Copy the function from the live text, with the original bytes in place of our own probes. */
static bool copy_function(u64 start, u32 size)
{
	if (copy_from_kernel_nofault(code, (void *)start, size))
		return false;
	gtp_shadow_undo(start, code, size);
	return true;
}

/*
 * True if a kprobe's jump was left over at the address. When an optimized kprobe is unregistered,
 * its jump stays in the code for a while, but the kprobe is in no list any more. The jump's target
 * is memory without a symbol.
 */
static bool is_left_over(u64 addr, const struct gtp_region *r)
{
	u32 i;

	for (i = 0; i < r->n; i++) {
		addr += r->insn[i].len;
		if (r->insn[i].kind != GTP_INSN_JMP)
			continue;
		if (!strrchr(gtp_symbol_at(addr + (u64)(s64)r->insn[i].rel), '+'))
			return true;
	}
	return false;
}

/* decide - return NULL if the address can become a jump, otherwise the reason */
static const char *decide(u64 addr, bool only_falls, struct gtp_region *r)
{
	struct gtp_region_ask ask = { .fn = code, .only_falls = only_falls };
	enum gtp_region_verdict v;
	struct gtp_tables_place place;
	u64 start;

	if (!gtp_tables_find(addr, &place))
		return gtp_tables_any() ? "no table of regions tells of this code" :
					  "no table of regions has been loaded";
	if (!gtp_symbol_bounds(addr, &start, &ask.fn_size) || ask.fn_size > FUNCTION_MAX)
		return "the kernel tells no bounds of the function, or it is too long";
	if (start < place.start)
		return "the function begins elsewhere than the table's code";
	if (!copy_function(start, ask.fn_size))
		return "the function cannot be read";
	ask.at = (u32)(addr - start);
	ask.table = place.table;
	ask.span = place.span;
	ask.fn_offset = place.offset - ask.at;
	v = gtp_region_find(&ask, r);
	if (v == GTP_REGION_OK && is_left_over(addr, r))
		v = GTP_REGION_OTHERS;
	return v ? gtp_region_text(v) : NULL;
}

/*
 * Check that the kernel allows a probe at the address: code that takes none must not be overwritten
 * either. decide() has made all of the kernel's checks except that of its blacklist, which is read
 * once for all places. If the blacklist cannot be read, register a disabled kprobe at each place.
 * That is slow: the kernel then searches all jump labels and all BUG() entries each time.
 */
static int check_blacklist(u64 addr, const char **no_jump, struct gtp_why *why)
{
	int err = gtp_kprobe_list_blacklisted(addr, gtp_symbol_at(addr));
	bool on_ftrace = false;

	if (!err)
		return 0;
	err = err > 0 ? -EINVAL : gtp_probe_test(addr, &on_ftrace, NULL);
	if (err) {
		gtp_probe_explain(err, why);
		return err;
	}
	if (!on_ftrace)
		return 0;
	*no_jump = "it is the function tracer's";
	return -EOPNOTSUPP;
}

int gtp_can_jump(u64 addr, bool only_falls, struct gtp_region *r, const char **no_jump,
		 struct gtp_why *why)
{
	int err = gtp_probe_refuse(addr, why);

	lockdep_assert_held(&gtp_lock);
	if (err)
		return err;
	if (!code)
		code = gtp_mem_alloc(FUNCTION_MAX);
	if (!code) {
		gtp_probe_explain(-ENOMEM, why);
		return -ENOMEM;
	}
	mutex_lock(&gtp_tables_lock);
	*no_jump = decide(addr, only_falls, r);
	mutex_unlock(&gtp_tables_lock);
	return *no_jump ? -EOPNOTSUPP : check_blacklist(addr, no_jump, why);
}

void gtp_can_jump_end(void)
{
	gtp_mem_free(code);
	code = NULL;
}
