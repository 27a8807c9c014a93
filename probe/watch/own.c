// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refuses watchpoints in memory where they would be harmful or useless.
 *
 * A hit that writes to a watched variable does not recurse: the kernel turns all watchpoints of a
 * CPU off while it handles one, and in other hits gtp_hit() finds the CPU in a hit already. But
 * hits in gdbtp's own data are useless, so that data is refused.
 *
 * The kernel uses some memory before it can turn watchpoints off. It refuses watchpoints on a part
 * of that memory itself; is_percpu() and is_of_entry() find the rest.
 */
#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "base/compat.h"
#include "kernel/hit/cpu_kernel.h"
#include "kernel/hit/module_text.h"
#include "probe/policy/symbol.h"
#include "probe/watch/own.h"
#include "probe/watch/place.h"

static bool is_of_hits(u64 addr, const struct gtp_cpu *cpu)
{
	const struct gtp_percpu *p = container_of(cpu, struct gtp_percpu, cpu);

	return gtp_watch_place_meets(addr, (u64)p, sizeof(*p)) ||
	       gtp_watch_place_meets(addr, (u64)cpu->buf.mem, cpu->buf.size) ||
	       gtp_watch_place_meets(addr, (u64)cpu->stat, gtp_hit_stat_bytes(cpu->run->nslots));
}

static bool is_own(u64 addr)
{
	u64 first = gtp_watch_at(addr);
	int cpu;

	if (within_module(first, THIS_MODULE) ||
	    within_module(first + gtp_watch_bytes(addr) - 1, THIS_MODULE))
		return true;
	for_each_possible_cpu(cpu) {
		const struct gtp_cpu *part = per_cpu(gtp_this_cpu, cpu);

		if (part && is_of_hits(addr, part))
			return true;
	}
	return false;
}

/*
 * True if the variable is in per-CPU memory, or within a megabyte of it. Only the CPUs' first
 * chunks matter: they have all per-CPU variables of the kernel and of modules.
 *
 * The kernel's entry code and the first lines of exc_debug() and exc_nmi() use such variables: the
 * stack protector's canary, preempt_count, nmi_state, cpu_number and others. Watchpoints are still
 * on there, so an access would begin the same exception again on the same stack, endlessly, or
 * overwrite the first exception's registers. The kernel refuses watchpoints on only a few of these
 * variables, and does not export the others.
 */
static bool is_percpu(u64 addr)
{
	int cpu;

	/* The per-CPU variables of modules follow those of the kernel. */
	for_each_possible_cpu(cpu)
		if (gtp_watch_place_meets(addr, (u64)per_cpu_ptr(&gtp_this_cpu, cpu) - SZ_1M,
					  2 * SZ_1M))
			return true;
	return false;
}

/*
 * True for the other variables that the entry code uses: x86_pred_cmd, which is used with options
 * such as retbleed=ibpb and not exported by all kernels, and cpu_online_mask.
 */
static bool is_of_entry(u64 addr)
{
	static const char name[] = "x86_pred_cmd+";
	u32 i;

	for (i = 0; i < gtp_watch_bytes(addr); i += sizeof(u32))
		if (!strncmp(gtp_symbol_at(gtp_watch_at(addr) + i), name, sizeof(name) - 1))
			return true;
	return gtp_watch_place_meets(addr, (u64)cpu_online_mask, sizeof(struct cpumask));
}

/*
 * True if the variable is in a module's code. The upper half of the address is the same for all
 * modules.
 */
static bool is_code(u64 addr)
{
	u64 at = gtp_watch_at(addr);

	return upper_32_bits(at) == upper_32_bits((u64)is_code) && gtp_module_text_has(at, 1);
}

int gtp_watch_refuse(u64 addr, struct gtp_why *why)
{
	if (is_own(addr))
		gtp_why(why, "that is memory of gdbtp itself, which cannot trace itself");
	else if (is_percpu(addr))
		gtp_why(why,
			"per-CPU variables cannot be watched: the kernel uses some of them on the way to the handler");
	else if (is_of_entry(addr))
		gtp_why(why,
			"the kernel uses it on the way to the handler of a watchpoint, which would have no end");
	else if (is_code(addr))
		gtp_why(why, "that is code, not a variable: use gtp trace");
	else
		return 0;
	return -EINVAL;
}
