/* SPDX-License-Identifier: GPL-2.0-only */
/* A wrapper for each difference between kernel versions, with the commit that made it. */
#ifndef _GTP_COMPAT_H
#define _GTP_COMPAT_H

#ifdef __ASSEMBLER__

#include <linux/linkage.h>
#include <asm/ibt.h>

/* Since 6.2 functions in assembly have an alignment of their own, SYM_F_ALIGN. */
#ifndef SYM_F_ALIGN
#define SYM_F_ALIGN SYM_A_ALIGN
#endif

/*
 * The beginning of a function that may be called indirectly: with CONFIG_X86_KERNEL_IBT it must be
 * an endbr64. SYM_FUNC_START has an endbr64 in 6.1 and 6.12, but not in 7.3.
 */
#define GTP_TAKEN_START(name) SYM_START(name, SYM_L_GLOBAL, SYM_F_ALIGN) ENDBR

#else /* __ASSEMBLER__ */

#include <linux/ftrace.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/rcupdate_trace.h>
#include <linux/sched.h>
#include <linux/srcu.h>
#include <linux/string.h>
#include <linux/syscore_ops.h>
#include <linux/timekeeping.h>
#include <linux/trace.h>
#include <linux/tracepoint.h>
#include <linux/uprobes.h>
#include <linux/version.h>
#include <linux/workqueue.h>
#include <asm/cpufeature.h>
#include <asm/ibt.h>

/* For bin2hex() and hex2bin(): 6.1 has them in linux/kernel.h, 7.2 only in linux/hex.h. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/hex.h>
#else
#include <linux/kernel.h>
#endif

/*
 * Return the kernel's workqueue that is not bound to a CPU. 6.17 ("workqueue: Add system_percpu_wq
 * and system_dfl_wq") renamed it, and later kernels warn if the old name is used.
 */
static inline struct workqueue_struct *gtp_unbound_wq(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
	return system_dfl_wq;
#else
	return system_unbound_wq;
#endif
}

/*
 * True if the kernel keeps indirect branches out of the lower half of a cache line. 6.15 and later
 * do, and 6.1 and 6.12 since spring 2025 ("x86/its: Add support for ITS-safe indirect thunk").
 */
static inline bool gtp_its_branches(void)
{
#ifdef X86_FEATURE_INDIRECT_THUNK_ITS
	return boot_cpu_has(X86_FEATURE_INDIRECT_THUNK_ITS);
#else
	return false;
#endif
}

/*
 * True if @code, the first four bytes of a function, is an endbr64, or the nop by which the kernel
 * has replaced an endbr64 that no indirect call needs. 6.1 and 6.12 write 66 0f 1f 00; 7.3 writes
 * 0f 1f 40 d6.
 */
static inline bool gtp_is_endbr(u32 code)
{
	if (code == 0xfa1e0ff3)
		return true;
#ifdef CONFIG_X86_KERNEL_IBT
	return code == gen_endbr_poison();
#else
	return false;
#endif
}

/*
 * Return where a module's code is, without its init code. 6.4 ("module: replace module_layout with
 * module_memory") turned the module's memory into an array with an entry for each type.
 */
static inline void gtp_module_text(const struct module *mod, u64 *start, u64 *bytes)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	*start = (u64)mod->mem[MOD_TEXT].base;
	*bytes = mod->mem[MOD_TEXT].size;
#else
	*start = (u64)mod->core_layout.base;
	*bytes = mod->core_layout.text_size;
#endif
}

/*
 * gtp_module_part - find the @n-th contiguous part of a module's memory. With @init true, count
 * only the memory that is freed after the module's initialisation, otherwise only the memory that
 * stays. Return false if there are no more parts. See gtp_module_text()
 */
static inline bool gtp_module_part(const struct module *mod, bool init, u32 n, u64 *start,
				   u64 *bytes)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	u32 type = n + (init ? MOD_INIT_TEXT : MOD_TEXT);

	if (type >= (init ? MOD_MEM_NUM_TYPES : MOD_INIT_TEXT))
		return false;
	*start = (u64)mod->mem[type].base;
	*bytes = mod->mem[type].size;
#else
	const struct module_layout *layout = init ? &mod->init_layout : &mod->core_layout;

	if (n)
		return false;
	*start = (u64)layout->base;
	*bytes = layout->size;
#endif
	return true;
}

/*
 * Take a snapshot of the clocks. Since 7.2 ("timekeeping: Provide ktime_get_snapshot_id()") the
 * caller must name a clock.
 */
static inline void gtp_ktime_snapshot(struct system_time_snapshot *snap)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 2, 0)
	ktime_get_snapshot_id(CLOCK_MONOTONIC, snap);
#else
	ktime_get_snapshot(snap);
#endif
}

/*
 * Find or create an ftrace instance. 6.8 ("tracing: Allow creating instances with specified system
 * events") added an argument for the instance's events.
 */
static inline struct trace_array *gtp_trace_array_get(const char *name)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
	return trace_array_get_by_name(name, NULL);
#else
	return trace_array_get_by_name(name);
#endif
}

/*
 * Offsets in the GS segment: of the running task's address, of the CPU's number, and of
 * preempt_count(), of which only the lower 4 bytes matter. 6.2 gathered the hottest variables in a
 * struct, pcpu_hot; 6.15 took that apart again.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0) && LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
#define GTP_CURRENT_TASK ((s32)(__force long)&pcpu_hot.current_task)
#define GTP_CPU_NUMBER ((s32)(__force long)&pcpu_hot.cpu_number)
#define GTP_PREEMPT_COUNT ((s32)(__force long)&pcpu_hot.preempt_count)
#else
#define GTP_CURRENT_TASK ((s32)(__force long)&current_task)
#define GTP_CPU_NUMBER ((s32)(__force long)&cpu_number)
#define GTP_PREEMPT_COUNT ((s32)(__force long)&__preempt_count)
#endif

/*
 * A direct call from the ftrace site at @ip to code of gdbtp at @to. Since 6.4 ("ftrace: Remove the
 * legacy _ftrace_direct API") each call needs its own ftrace_ops; older kernels have one for all
 * direct calls. Removing a call waits for all tasks. The following functions may sleep. They return
 * 0 or -errno: -EBUSY if the site has another direct call already (BPF, live patch).
 */
struct gtp_ftrace_call {
	unsigned long ip;
	unsigned long to;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	struct ftrace_ops ops;
#endif
};

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
static inline int gtp_ftrace_call_set(struct gtp_ftrace_call *c)
{
	int err;

	/*
	 * Sysctl ftrace_enabled must not disable the call. Older kernels set this flag themselves.
	 */
	c->ops.flags = FTRACE_OPS_FL_PERMANENT;
	err = ftrace_set_filter_ip(&c->ops, c->ip, 0, 1);
	if (err)
		return err;
	err = register_ftrace_direct(&c->ops, c->to);
	if (err)
		ftrace_free_filter(&c->ops);
	return err;
}

static inline int gtp_ftrace_call_move(struct gtp_ftrace_call *c, unsigned long to)
{
	int err = modify_ftrace_direct(&c->ops, to);

	if (!err)
		c->to = to;
	return err;
}

static inline int gtp_ftrace_call_clear(struct gtp_ftrace_call *c)
{
	return unregister_ftrace_direct(&c->ops, c->to, true);
}
#else
static inline int gtp_ftrace_call_set(struct gtp_ftrace_call *c)
{
	return register_ftrace_direct(c->ip, c->to);
}

static inline int gtp_ftrace_call_move(struct gtp_ftrace_call *c, unsigned long to)
{
	int err = modify_ftrace_direct(c->ip, c->to, to);

	if (!err)
		c->to = to;
	return err;
}

static inline int gtp_ftrace_call_clear(struct gtp_ftrace_call *c)
{
	return unregister_ftrace_direct(c->ip, c->to);
}
#endif

/*
 * Write a line of text to the kernel's trace, as if from @ip. Return 0 if nothing was written. Do
 * not use trace_puts(): loading a module that uses this macro makes the kernel warn that it is a
 * debug kernel. Some 7.x ("tracing: Remove size parameter in __trace_puts()") dropped the length,
 * so Kbuild looks into the header.
 */
static inline int gtp_trace_puts(unsigned long ip, const char *text)
{
#ifdef GTP_TRACE_PUTS_HAS_NO_SIZE
	return __trace_puts(ip, text);
#else
	return __trace_puts(ip, text, strlen(text));
#endif
}

/*
 * Call @fn with @head when no task runs a probe function of a kernel tracepoint any more: the
 * asynchronous form of tracepoint_synchronize_unregister(), together with
 * gtp_call_after_atomic_readers(). Since 6.13 ("tracing: Declare system call tracepoints with
 * TRACE_EVENT_SYSCALL") the probe functions of system call tracepoints may sleep. Others run under
 * SRCU: a few in 6.1, and all in some 7.x ("tracing: Guard __DECLARE_TRACE() use of
 * __DO_TRACE_CALL() with SRCU-fast"), so Kbuild looks into the header.
 */
static inline void gtp_call_after_sleeping_readers(struct rcu_head *head, rcu_callback_t fn)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	call_rcu_tasks_trace(head, fn);
#else
	call_rcu(head, fn);
#endif
}

static inline void gtp_call_after_atomic_readers(struct rcu_head *head, rcu_callback_t fn)
{
#ifdef GTP_TRACEPOINTS_HAVE_SRCU
	call_srcu(&tracepoint_srcu, head, fn);
#else
	call_rcu(head, fn);
#endif
}

/*
 * True if a page of memory is still unaccepted: some virtual machines must accept memory before
 * they touch it. Kernels have unaccepted memory since 6.5. Modules can recognise it since 6.12
 * ("mm: page_alloc: introduce PageUnaccepted()"), which marks the first page of each block of the
 * highest order.
 */
static inline bool gtp_page_unaccepted(unsigned long pfn)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0) && defined(CONFIG_UNACCEPTED_MEMORY)
	return PageUnaccepted(pfn_to_page(round_down(pfn, MAX_ORDER_NR_PAGES)));
#else
	return false;
#endif
}

/*
 * A uprobe: a probe at an offset in a file. 6.12 ("uprobes: make uprobe_register() return struct
 * uprobe *") gave it a handle, and split its removal, so that many removals share one wait. All
 * kernels wait until no handler runs: 6.1 in each removal, later kernels in gtp_uprobes_wait(). The
 * following functions may sleep.
 */
struct gtp_uprobe {
	struct uprobe_consumer consumer;
	struct inode *inode;
	loff_t offset;
	loff_t ref_ctr; /* file offset of a 16-bit counter that the kernel increments; 0: none */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	struct uprobe *set;
#endif
};

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
static inline int gtp_uprobe_set(struct gtp_uprobe *u)
{
	struct uprobe *set = uprobe_register(u->inode, u->offset, u->ref_ctr, &u->consumer);

	if (IS_ERR(set))
		return PTR_ERR(set);
	u->set = set;
	return 0;
}

static inline void gtp_uprobe_clear(struct gtp_uprobe *u)
{
	uprobe_unregister_nosync(u->set, &u->consumer);
}

static inline void gtp_uprobes_wait(void)
{
	uprobe_unregister_sync();
}
#else
static inline int gtp_uprobe_set(struct gtp_uprobe *u)
{
	return uprobe_register_refctr(u->inode, u->offset, u->ref_ctr, &u->consumer);
}

static inline void gtp_uprobe_clear(struct gtp_uprobe *u)
{
	uprobe_unregister(u->inode, u->offset, &u->consumer);
}

static inline void gtp_uprobes_wait(void)
{
}
#endif

/*
 * True if the kernel turns a uprobe on a nop of ten bytes into a call: 7.3 does; earlier kernels
 * single-step the nop or refuse the uprobe. libbpf's usdt.h puts such a nop after a marker's first
 * nop.
 */
#define GTP_UPROBE_CALLS_NOP10 (LINUX_VERSION_CODE >= KERNEL_VERSION(7, 3, 0))

/*
 * GTP_UPROBE_HANDLER(name) - the beginning of the definition of a uprobe's handler, whose arguments
 * are @self and @regs. 6.13 ("uprobe: Add data pointer to consumer handlers") added an argument,
 * for consumers that also see returns.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#define GTP_UPROBE_HANDLER(name)                                                                   \
	static int name(struct uprobe_consumer *self, struct pt_regs *regs, __u64 *data)
#else
#define GTP_UPROBE_HANDLER(name) static int name(struct uprobe_consumer *self, struct pt_regs *regs)
#endif

/*
 * GTP_SYSCORE(name, resume) - define syscore operations: the kernel calls @resume when the machine
 * wakes up, while no other CPU is online and interrupts are off. 6.19 ("syscore: Pass context data
 * to callbacks") separated the functions from the list's node. Some stable kernels have a backport
 * of that commit, so Kbuild looks into the header.
 */
#ifdef GTP_SYSCORE_HAS_DATA
#define GTP_SYSCORE(name, call)                                                                    \
	static void name##_resume(void *data)                                                      \
	{                                                                                          \
		call();                                                                            \
	}                                                                                          \
	static const struct syscore_ops name##_ops = { .resume = name##_resume };                  \
	static struct syscore name = { .ops = &name##_ops }
#define gtp_syscore_register register_syscore
#define gtp_syscore_unregister unregister_syscore
#else
#define GTP_SYSCORE(name, call) static struct syscore_ops name = { .resume = (call) }
#define gtp_syscore_register register_syscore_ops
#define gtp_syscore_unregister unregister_syscore_ops
#endif

#endif /* __ASSEMBLER__ */

#endif /* _GTP_COMPAT_H */
