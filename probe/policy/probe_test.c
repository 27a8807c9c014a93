// SPDX-License-Identifier: GPL-2.0-only
/* Registers disabled kprobes, to find out whether the kernel accepts a kprobe at an address. */
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/list.h>

#include "kernel/base/lock_kernel.h"
#include "kernel/base/mem_kernel.h"
#include "probe/policy/overrun.h"
#include "probe/policy/probe_test.h"

struct probe_test {
	struct kprobe kp;
	struct list_head kept;
};

static LIST_HEAD(tests);
static u32 count;

/* A handler that is never called. Its address distinguishes our test kprobes from all others. */
static int never(struct kprobe *p, struct pt_regs *regs)
{
	return 0;
}

/*
 * True if other kprobes are at the same address. The kernel chains these to a head, which is a
 * kprobe itself. If our test kprobe is the only one, it is on no chain, or on a chain with only
 * that head.
 */
static bool has_company(const struct kprobe *kp)
{
	const struct list_head *at;
	u32 others = 0;

	rcu_read_lock();
	for (at = READ_ONCE(kp->list.next); at != &kp->list && others < 2; at = READ_ONCE(at->next))
		others += container_of(at, struct kprobe, list)->pre_handler != never;
	rcu_read_unlock();
	return others > 1;
}

/* keep - register a test kprobe at an address or by name; return it, or an ERR_PTR() */
static struct probe_test *keep(u64 addr, const char *name)
{
	struct probe_test *t;
	int err;

	lockdep_assert_held(&gtp_lock);
	/*
	 * Only functions with a .cold part are probed by name, and none is the last of its mapping.
	 */
	if (addr && gtp_overruns(addr))
		return ERR_PTR(-EFAULT);
	t = gtp_mem_alloc(sizeof(*t));
	if (!t)
		return ERR_PTR(-ENOMEM);
	t->kp.addr = (kprobe_opcode_t *)addr;
	t->kp.symbol_name = name;
	t->kp.pre_handler = never;
	t->kp.flags = KPROBE_FLAG_DISABLED;
	err = register_kprobe(&t->kp);
	/*
	 * The kernel has resolved the name; its memory belongs to the caller, so drop the pointer.
	 */
	t->kp.symbol_name = NULL;
	if (err) {
		gtp_mem_free(t);
		return ERR_PTR(err);
	}
	list_add(&t->kept, &tests);
	count++;
	return t;
}

int gtp_probe_test(u64 addr, bool *on_ftrace, bool *company)
{
	struct probe_test *t = keep(addr, NULL);

	if (IS_ERR(t))
		return PTR_ERR(t);
	if (on_ftrace)
		*on_ftrace = t->kp.flags & KPROBE_FLAG_FTRACE;
	if (company)
		*company = has_company(&t->kp);
	return 0;
}

int gtp_probe_test_function(const char *name, bool *on_ftrace)
{
	struct probe_test *t = keep(0, name);

	if (IS_ERR(t))
		return PTR_ERR(t);
	*on_ftrace = t->kp.flags & KPROBE_FLAG_FTRACE;
	return 0;
}

static void take_off_together(struct kprobe **all)
{
	struct probe_test *t;
	u32 n = 0;

	list_for_each_entry(t, &tests, kept)
		all[n++] = &t->kp;
	unregister_kprobes(all, n);
}

void gtp_probe_test_end(void)
{
	struct kprobe **all;
	struct probe_test *t, *next;

	lockdep_assert_held(&gtp_lock);
	if (!count)
		return;
	all = gtp_mem_alloc(count * sizeof(struct kprobe *));
	if (all)
		take_off_together(all);
	list_for_each_entry_safe(t, next, &tests, kept) {
		if (!all)
			unregister_kprobe(&t->kp);
		gtp_mem_free(t);
	}
	gtp_mem_free(all);
	INIT_LIST_HEAD(&tests);
	count = 0;
}
