// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides which places take no probe, or no jump, although the kernel itself allows one.
 *
 * Each kind was seen to hang or kill a machine, most of them also with a stock kernel's own probes.
 * The code can be recognized only by its symbol names: the kernel exports nothing else about it.
 */
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "kernel/hit/access_kernel.h"
#include "probe/policy/blacklist.h"
#include "probe/policy/symbol.h"
#include "probe/policy/symbol_name.h"
#include "regions/insn.h"

/*
 * Return the name to look up in the lists below. The entries of the lists are beginnings of names;
 * an entry that ends with "+" is a whole name.
 */
static const char *name_at(u64 addr)
{
	static char name[KSYM_NAME_LEN];

	gtp_symbol_plain(name, sizeof(name), gtp_symbol_at(addr));
	return name;
}

static bool begins_with_one_of(const char *name, const char *const *names, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		if (str_has_prefix(name, names[i]))
			return true;
	}
	return false;
}

/*
 * True for a return thunk. On many CPUs every return in the kernel, also in our own code, goes
 * through a return thunk: a hit there would cause the next one when its handler returns.
 */
static bool is_return(const char *name)
{
	/* clang-format off */
	static const char *const ends[] = {
		"return_thunk+", "return_skl+", "safe_ret+", "untrain_ret+",
	};
	/* clang-format on */
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		if (strstr(name, ends[i]))
			return true;
	}
	return false;
}

/*
 * True for code that a CPU runs while it is brought up, before it has loaded the IDT:
 * start_secondary() up to load_current_idt(), and the functions that these call. Also true for code
 * that runs while the per-CPU base is invalid. A breakpoint there resets the machine. The same
 * holds for resume from suspend and for kexec.
 */
static bool is_bringup(const char *name)
{
	/* clang-format off */
	static const char *const names[] = {
		"secondary_startup_64", "verify_cpu+", "sev_verify_cbit+", "early_setup_idt+",
		"set_bringup_idt_handler", "startup_64_load_idt", "start_secondary+",
		"cr4_init+", "cr4_update_irqsoff", "cr4_set_bits", "native_write_cr4",
		"cpu_init_secondary+", "cpu_init_exception_handling", "setup_getcpu",
		"tss_setup_", "set_tss_desc", "setup_ghcb", "load_current_idt",
		"native_load_tr_desc", "native_write_gdt_entry", "native_load_idt",
		"native_write_msr+", "memset", "__memset", "common_startup_64",
		"cpu_init+", "load_percpu_segment", "switch_gdt_and_percpu_base",
		"load_direct_gdt", "load_fixmap_gdt", "native_load_gdt",
		"do_suspend_lowlevel", "wakeup_long64", "restore_processor_state",
		"__restore_processor_state", "fix_processor_context", "restore_registers",
		"core_restore_code", "machine_kexec+", "relocate_kernel", "identity_mapped",
		"virtual_mapped",
		/* called on CPUs that deliver exceptions by FRED, not by the IDT */
		"cpu_init_fred_",
		/* called where CONFIG_DEBUG_PREEMPT is set */
		"debug_smp_processor_id", "__this_cpu_preempt_check", "check_preemption_disabled",
	};
	/* clang-format on */

	return begins_with_one_of(name, names, ARRAY_SIZE(names));
}

/*
 * True if the instruction is hlt. The hlt may be hidden by another prober's breakpoint, but that
 * breakpoint hangs the machine anyway.
 */
static bool halts(u64 addr)
{
	u8 code[4] = { 0 };

	return !gtp_access_read_kernel(code, addr, sizeof(code)) &&
	       gtp_insn_halts(code, sizeof(code));
}

const char *gtp_blacklist_probe(u64 addr)
{
	const char *name = name_at(addr);

	if (is_return(name))
		return "returns go through it, those of gdbtp too: it cannot trace itself";
	if (is_bringup(name))
		return "a CPU that comes up runs it before it can take a breakpoint";
	if (halts(addr))
		return "the CPU waits for interrupts there; with a probe it would miss them";
	return NULL;
}

/*
 * True for code that the kernel's die notifier chain runs before it calls our int3 handler. The
 * kernel handles its own breakpoints earlier, so its blacklist lacks some of this code:
 * rcu_read_lock() and rcu_read_unlock(), and the functions that the latter calls when a grace
 * period waits for this reader; the thunks of indirect calls; the one other notifier that runs as
 * early as ours; code that debugging options add.
 */
static bool is_on_our_way(const char *name)
{
	/* clang-format off */
	static const char *const names[] = {
		"__rcu_read_lock+", "__rcu_read_unlock+", "rcu_read_unlock_special+",
		"raise_softirq_irqoff+", "__raise_softirq_irqoff+", "irq_work_queue",
		"__irq_work_queue", "irq_work_claim+", "arch_irq_work_raise",
		"rcu_preempt_deferred_", "invoke_rcu_core+", "kgdb_ll_trap+",
		"__trace_set_need_resched+",
		"__x86_indirect_", "its_", "hw_breakpoint_exceptions_notify+",
		/* called where lockdep watches readers of RCU, and where notifiers are verified */
		"lock_acquire+", "lock_release+", "rcu_is_watching+", "rcu_read_lock_",
		"func_ptr_is_kernel_", "is_module_text_address+", "__module_text_address",
		"__module_address+", "core_kernel_text+", "mod_find+", "in_gate_area_no_mm+",
		/*
		 * Since 6.2 each call of a notifier hits the event notifier_run. The functions
		 * below run when that event is enabled, up to where ftrace and perf check for
		 * recursion.
		 */
		"__traceiter_notifier_", "trace_event_raw_event_no", "trace_event_buffer_",
		"ring_buffer_lock_reserve", "tracing_gen_ctx_irq", "__trace_event_discard_",
		"perf_trace_notifier_", "perf_trace_buf_", "perf_swevent_get_",
	};
	/* clang-format on */

	return begins_with_one_of(name, names, ARRAY_SIZE(names));
}

const char *gtp_blacklist_jump(u64 addr)
{
	return is_on_our_way(name_at(addr)) ?
		       "the kernel's handling of breakpoints leads through it" :
		       NULL;
}
