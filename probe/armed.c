// SPDX-License-Identifier: GPL-2.0-only
/* The index of all probed places, by address, with the original bytes. */
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/spinlock.h>
#include <asm/text-patching.h>

#include "kernel/base/lock_kernel.h"
#include "probe/armed.h"

enum {
	ENDBR_LEN = 4,
	REACH = GTP_REGION_MAX + ENDBR_LEN, /* the most bytes from @addr on that a probe changes */
};

/* Changed under gtp_lock. The spinlock is for gtp_armed_range(), which must not take gtp_lock. */
static struct rb_root armed = RB_ROOT;
static DEFINE_SPINLOCK(armed_lock);

static struct gtp_armed *to_armed(struct rb_node *node)
{
	return node ? rb_entry(node, struct gtp_armed, node) : NULL;
}

static bool is_less(struct rb_node *a, const struct rb_node *b)
{
	return to_armed(a)->addr < to_armed((struct rb_node *)b)->addr;
}

void gtp_armed_add(struct gtp_armed *a)
{
	lockdep_assert_held(&gtp_lock);
	spin_lock(&armed_lock);
	rb_add(&a->node, &armed, is_less);
	spin_unlock(&armed_lock);
}

void gtp_armed_remove(struct gtp_armed *a)
{
	lockdep_assert_held(&gtp_lock);
	spin_lock(&armed_lock);
	rb_erase(&a->node, &armed);
	spin_unlock(&armed_lock);
}

struct gtp_armed *gtp_armed_from(u64 addr)
{
	struct rb_node *node = armed.rb_node, *best = NULL;

	while (node) {
		if (to_armed(node)->addr < addr) {
			node = node->rb_right;
		} else {
			best = node;
			node = node->rb_left;
		}
	}
	return to_armed(best);
}

struct gtp_armed *gtp_armed_next(struct gtp_armed *a)
{
	return to_armed(rb_next(&a->node));
}

static bool is_in(const struct gtp_armed *a, const struct module *mod, bool init)
{
	return init ? within_module_init(a->addr, mod) : within_module_core(a->addr, mod);
}

bool gtp_armed_range(const struct module *mod, bool init, u64 *start, u64 *end)
{
	struct gtp_armed *a;

	*start = U64_MAX;
	*end = 0;
	spin_lock(&armed_lock);
	for (a = gtp_armed_from(0); a; a = gtp_armed_next(a)) {
		if (!is_in(a, mod, init))
			continue;
		*start = min(*start, a->addr);
		*end = max(*end, a->addr + 1);
	}
	spin_unlock(&armed_lock);
	return *end;
}

/* The kernel arms a kprobe with an int3, later perhaps with a jump; disarming removes either. */
static u32 kprobe_bytes(u8 first)
{
	if (first == INT3_INSN_OPCODE)
		return INT3_INSN_SIZE;
	return first == JMP32_INSN_OPCODE ? JMP32_INSN_SIZE : 0;
}

static void undo(const struct gtp_armed *a, u64 addr, u8 *buf, u32 len)
{
	u64 at = a->text - addr; /* wraps beyond @len if the place begins before @addr */
	u32 n = a->len, i;

	if (n && a->by_kprobe)
		n = at < len ? kprobe_bytes(buf[at]) : 0;
	for (i = 0; i < n; i++)
		if (at + i < len)
			buf[at + i] = a->old[i];
}

void gtp_armed_undo(u64 addr, u8 *buf, u32 len)
{
	struct gtp_armed *a;

	lockdep_assert_held(&gtp_lock);
	for (a = gtp_armed_from(addr - REACH); a && a->addr < addr + len; a = gtp_armed_next(a))
		undo(a, addr, buf, len);
}
