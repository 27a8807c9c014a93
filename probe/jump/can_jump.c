// SPDX-License-Identifier: GPL-2.0-only
/*
 * May this address of the running kernel become a jump?
 *
 * Who is asked, in this order: the table, whether it knows the code at all; the code as it is in
 * memory now, decoded from the function's first byte to its last; the kernel, which knows what must
 * not be probed.
 */
#include <linux/kallsyms.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>

#include "kernel/kernel.h"
#include "probe/jump/jump.h"
#include "probe/kprobe_list.h"
#include "probe/jump/tables.h"
#include "probe/probe_test.h"
#include "probe/jump/can_jump.h"

enum { FUNCTION_MAX = SZ_64K }; /* bytes of a function that is looked at */

/* Memory for one function at a time, its name, and that of one it jumps to; under gtp_host.lock. */
static u8 *code;
static char *name, *target;

static bool begun; /* a batch */

static int get_scratch(void)
{
	if (!code)
		code = gtp_mem_alloc(FUNCTION_MAX);
	if (!name)
		name = gtp_mem_alloc(KSYM_SYMBOL_LEN);
	if (!target)
		target = gtp_mem_alloc(KSYM_SYMBOL_LEN);
	return code && name && target ? 0 : -ENOMEM;
}

static void put_scratch(void)
{
	gtp_mem_free(code);
	gtp_mem_free(name);
	gtp_mem_free(target);
	code = NULL;
	name = NULL;
	target = NULL;
}

/* The kernel tells a symbol's bounds in text only: NAME+0xOFFSET/0xSIZE and perhaps " [MODULE]". */
static bool find_function(u64 addr, u64 *start, u32 *size)
{
	unsigned long offset, length;
	const char *at;

	sprint_symbol(name, addr);
	at = strrchr(name, '+');
	if (!at || sscanf(at, "+0x%lx/0x%lx", &offset, &length) != 2)
		return false;
	if (offset >= length || length > FUNCTION_MAX)
		return false;
	*start = addr - offset;
	*size = length;
	return true;
}

bool gtp_function_bounds(u64 addr, u64 *start, u32 *size)
{
	return !get_scratch() && find_function(addr, start, size);
}

/* As it is now, but for our own probes. */
static bool copy_function(u64 start, u32 size)
{
	if (copy_from_kernel_nofault(code, (void *)start, size))
		return false;
	gtp_kprobe_shadow(start, code, size);
	gtp_jump_shadow(start, code, size);
	return true;
}

/*
 * When an optimised kprobe goes, its jump stays in the code for a while, and no list has it any
 * more. It leads to memory that no symbol tells of.
 */
static bool is_left_over(u64 addr, const struct gtp_region *r)
{
	u32 i;

	for (i = 0; i < r->n; i++) {
		addr += r->insn[i].len;
		if (r->insn[i].kind != GTP_INSN_JMP)
			continue;
		sprint_symbol(target, addr + (u64)(s64)r->insn[i].rel);
		if (!strrchr(target, '+'))
			return true;
	}
	return false;
}

/* decide - NULL, or why it is no jump */
static const char *decide(u64 addr, struct gtp_region *r)
{
	struct gtp_region_ask ask = { .fn = code };
	enum gtp_region_verdict v;
	struct gtp_tables_place place;
	u64 start;

	if (!gtp_tables_find(addr, &place))
		return gtp_tables_any() ? "no table of regions tells of this code" :
					  "no table of regions has been loaded";
	if (!find_function(addr, &start, &ask.fn_size))
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
 * What may not be probed may not be overwritten either. Of what the kernel asks, the decoded code
 * and the table have answered all but its blacklist. That is read once; only without it is the
 * kernel asked for each place, which costs it a walk over all its jump labels and bugs.
 */
static int ask_kernel(u64 addr, const char **no_jump, struct gtp_why *why)
{
	int err = gtp_kprobe_list_blacklisted(addr, name);
	bool on_ftrace = false;

	if (!err)
		return 0;
	err = err > 0 ? -EINVAL : gtp_probe_test(addr, &on_ftrace, NULL);
	if (err) {
		gtp_kprobe_explain(err, why);
		return err;
	}
	if (!on_ftrace)
		return 0;
	*no_jump = "it is the function tracer's";
	return -EOPNOTSUPP;
}

int gtp_can_jump(u64 addr, struct gtp_region *r, const char **no_jump, struct gtp_why *why)
{
	int err = gtp_kprobe_refuse(addr, why);

	lockdep_assert_held(&gtp_host.lock);
	if (err)
		return err;
	if (get_scratch()) {
		gtp_kprobe_explain(-ENOMEM, why);
		return -ENOMEM;
	}
	mutex_lock(&gtp_tables_lock);
	*no_jump = decide(addr, r);
	mutex_unlock(&gtp_tables_lock);
	return *no_jump ? -EOPNOTSUPP : ask_kernel(addr, no_jump, why);
}

bool gtp_can_jump_denied(u64 addr)
{
	struct gtp_tables_place place;
	struct gtp_table_list list;
	bool denied;
	u32 found;

	mutex_lock(&gtp_tables_lock);
	denied = gtp_tables_find(addr, &place) &&
		 gtp_table_find(place.table, place.span, GTP_TABLE_DENY, &list) &&
		 gtp_table_next(&list, place.offset, &found) && found == place.offset;
	mutex_unlock(&gtp_tables_lock);
	return denied;
}

int gtp_can_jump_batch_begin(void)
{
	gtp_probe_test_end();
	begun = !gtp_kprobe_list_read();
	return begun ? 0 : -ENOMEM;
}

int gtp_can_jump_batch_need(void)
{
	return begun ? 0 : gtp_can_jump_batch_begin();
}

void gtp_can_jump_batch_end(void)
{
	begun = false;
	gtp_probe_test_end();
	gtp_kprobe_list_forget();
	put_scratch();
}

int gtp_can_jump_init(void)
{
	return gtp_proc_gtpregions_init();
}

/* Nothing is armed and nobody is connected: what a batch left behind has no owner any more. */
void gtp_can_jump_exit(void)
{
	gtp_proc_gtpregions_exit();
	mutex_lock(&gtp_host.lock);
	gtp_can_jump_batch_end();
	mutex_unlock(&gtp_host.lock);
}
