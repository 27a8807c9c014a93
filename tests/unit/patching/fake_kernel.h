/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For test_patching.c: a fake of the part of the kernel that probe/jump/ uses, so that the files of
 * probe/jump/ compile unchanged. The fake reports each byte that these files write, and each wait,
 * to the test.
 */
#ifndef _TEST_FAKE_KERNEL_H
#define _TEST_FAKE_KERNEL_H

#include "base/base.h"

/*
 * fake_kernel_point - called at each point where another prober may register, arm or unregister its
 * kprobe
 */
void fake_kernel_point(void);

/* fake_kernel_step - called when memory that other CPUs read may have changed */
void fake_kernel_step(void);

/* fake_kernel_sync - called when every CPU executes a serialising instruction */
void fake_kernel_sync(void);

static inline void fake_kernel_write(void *to, const void *from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		__atomic_store_n((u8 *)to + i, ((const u8 *)from)[i], __ATOMIC_RELAXED);
		fake_kernel_step();
	}
}

static inline void fake_kernel_fill(void *to, u8 byte, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		__atomic_store_n((u8 *)to + i, byte, __ATOMIC_RELAXED);
		fake_kernel_step();
	}
}

#undef READ_ONCE
#define READ_ONCE(x)                                                                               \
	({                                                                                         \
		fake_kernel_point();                                                               \
		__atomic_load_n(&(x), __ATOMIC_RELAXED);                                           \
	})
#undef WRITE_ONCE
#define WRITE_ONCE(x, v)                                                                           \
	do {                                                                                       \
		__atomic_store_n(&(x), (v), __ATOMIC_RELAXED);                                     \
		fake_kernel_step();                                                                \
	} while (0)
#define cmpxchg(p, from, to)                                                                       \
	({                                                                                         \
		u8 was_;                                                                           \
		fake_kernel_point();                                                               \
		was_ = __sync_val_compare_and_swap((p), (u8)(from), (u8)(to));                     \
		fake_kernel_step();                                                                \
		was_;                                                                              \
	})
#define memcpy(to, from, n) fake_kernel_write((to), (from), (n))
#define memset(to, byte, n) fake_kernel_fill((to), (u8)(byte), (n))

#define memcmp(a, b, n) (fake_kernel_point(), __builtin_memcmp((a), (b), (n)))

static inline void *memchr_inv(const void *p, int c, size_t n)
{
	fake_kernel_point();
	for (size_t i = 0; i < n; i++)
		if (((const u8 *)p)[i] != (u8)c)
			return (u8 *)p + i;
	return NULL;
}

#define sizeof_field(type, member) sizeof(((type *)0)->member)
#define array_size(n, bytes) ((size_t)(n) * (bytes))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define lockdep_assert_held(lock) ((void)(lock))
#define pr_info(...) ((void)0)
#define pr_warn(...) ((void)0)
#define NOKPROBE_SYMBOL(name) struct nokprobe_##name

/* --- memory: the text is writable at its own address --- */

enum { PAGE_SIZE = 4096, VM_MAP = 0, PAGE_KERNEL = 0 };
#define PAGE_MASK (~(u64)(PAGE_SIZE - 1))
#define MODULES_VADDR 1ULL
#define MODULES_END U64_MAX
#define PHYS_PFN(x) (x)
#define __pa_symbol(x) (x)
#define offset_in_page(x) ((u64)(x) & ~PAGE_MASK)
#define vmalloc_to_page(p) ((struct page *)(p))
#define pfn_to_page(n) ((struct page *)(n))
#define vunmap(p) ((void)(p))

struct page;

static inline void *vmap(struct page **pages, u32 n, int flags, int prot)
{
	return pages[0];
}

#define copy_from_kernel_nofault(to, from, n) (fake_kernel_write((to), (from), (n)), 0)

/* --- lists --- */

struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD_INIT(name)                                                                       \
	{                                                                                          \
		&(name), &(name)                                                                   \
	}
#define list_entry(p, type, member) container_of(p, type, member)
#define list_for_each(at, head) for ((at) = (head)->next; (at) != (head); (at) = (at)->next)
#define list_for_each_entry(at, head, member)                                                      \
	for ((at) = list_entry((head)->next, __typeof__(*(at)), member); &(at)->member != (head);  \
	     (at) = list_entry((at)->member.next, __typeof__(*(at)), member))

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

static inline void list_del(struct list_head *at)
{
	at->prev->next = at->next;
	at->next->prev = at->prev;
}

static inline void list_add_tail(struct list_head *at, struct list_head *head)
{
	at->prev = head->prev;
	at->next = head;
	head->prev->next = at;
	head->prev = at;
}

static inline void list_move_tail(struct list_head *at, struct list_head *head)
{
	list_del(at);
	list_add_tail(at, head);
}

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

#define DEFINE_HASHTABLE(name, bits) struct hlist_head name[1 << (bits)]
#define HASH_OF(table, key) (&(table)[(key) % ARRAY_SIZE(table)])
#define hash_for_each_possible_rcu_notrace(table, at, member, key)                                 \
	for (struct hlist_node *n_ = HASH_OF(table, key)->first;                                   \
	     n_ && ((at) = container_of(n_, __typeof__(*(at)), member)); n_ = n_->next)
#define hash_add_rcu(table, node, key) fake_hash_add(HASH_OF(table, key), (node))
#define hash_del_rcu(node) fake_hash_del(node)

static inline void fake_hash_add(struct hlist_head *head, struct hlist_node *n)
{
	n->next = head->first;
	n->pprev = &head->first;
	if (n->next)
		n->next->pprev = &n->next;
	head->first = n;
	fake_kernel_step();
}

static inline void fake_hash_del(struct hlist_node *n)
{
	*n->pprev = n->next;
	if (n->next)
		n->next->pprev = n->pprev;
	n->pprev = NULL;
	fake_kernel_step();
}

static inline bool hlist_unhashed(const struct hlist_node *n)
{
	return !n->pprev;
}

/* The type of a member of struct gtp_shadow that this test does not use. */
struct rb_node {
	int unused;
};

/* --- the int3 exception --- */

enum { INT3_INSN_OPCODE = 0xcc, JMP32_INSN_OPCODE = 0xe9 };
enum { DIE_INT3 = 1, NOTIFY_DONE = 0, NOTIFY_STOP = 1 };

struct pt_regs {
	u64 ip, cs;
};

struct die_args {
	struct pt_regs *regs;
};

struct notifier_block {
	int (*notifier_call)(struct notifier_block *nb, unsigned long what, void *data);
	int priority;
};

#define user_mode(regs) (((regs)->cs & 3) == 3)

int register_die_notifier(struct notifier_block *nb);
#define unregister_die_notifier(nb) ((void)(nb))

/* --- CPUs, locks, modules, work --- */

#define cpus_read_lock() ((void)0)
#define cpus_read_unlock() ((void)0)
#define sync_core() ((void)0)
#define on_each_cpu(fn, data, wait) ((void)(fn), fake_kernel_sync())
#define local_irq_save(flags) ((flags) = 0)
#define local_irq_restore(flags) ((void)(flags))

struct mutex {
	int unused;
};

extern struct mutex gtp_lock;
#define mutex_lock(lock) ((void)(lock))
#define mutex_trylock(lock) ((void)(lock), true)
#define mutex_unlock(lock) ((void)(lock))

struct module;
struct seq_file;
#define THIS_MODULE ((struct module *)NULL)
#define try_module_get(m) ((void)(m), true)
#define module_put(m) ((void)(m))
#define within_module_init(addr, m) ((void)(addr), (void)(m), false)
#define within_module_core(addr, m) ((void)(addr), (void)(m), true)
#define msleep(ms) ((void)(ms))

struct work_struct {
	void (*run)(struct work_struct *work);
};

struct delayed_work {
	struct work_struct work;
};

#define DECLARE_DELAYED_WORK(name, fn) struct delayed_work name = { { fn } }
#define gtp_unbound_wq() NULL
#define msecs_to_jiffies(ms) (ms)
#define mod_delayed_work(wq, w, delay) fake_kernel_work((w), (delay))
#define queue_delayed_work(wq, w, delay) fake_kernel_work((w), (delay))
#define cancel_delayed_work_sync(w) ((void)(w))

/* fake_kernel_work - record that the work is queued, to be run later by the test */
static inline void fake_kernel_work(struct delayed_work *w, u32 delay)
{
	extern struct delayed_work *fake_kernel_queued;

	fake_kernel_queued = w;
}

void sort(void *base, size_t n, size_t size, int (*cmp)(const void *a, const void *b), void *swap);

#endif /* _TEST_FAKE_KERNEL_H */
