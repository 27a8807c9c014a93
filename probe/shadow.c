// SPDX-License-Identifier: GPL-2.0-only
/* The index of all probed places, by address, with the original bytes. */
#include <linux/module.h>
#include <linux/spinlock.h>
#include <asm/text-patching.h>

#include "kernel/base/lock_kernel.h"
#include "probe/shadow.h"

enum {
	ENDBR_LEN = 4,
	REACH = GTP_REGION_MAX + ENDBR_LEN, /* most bytes that a probe changes from @addr on */
};

/* Changed under gtp_lock. The spinlock is for gtp_shadow_range(), which must not take gtp_lock. */
static struct rb_root shadows = RB_ROOT;
static DEFINE_SPINLOCK(shadows_lock);

static struct gtp_shadow *to_shadow(struct rb_node *node)
{
	return node ? rb_entry(node, struct gtp_shadow, node) : NULL;
}

static bool is_less(struct rb_node *a, const struct rb_node *b)
{
	return to_shadow(a)->addr < to_shadow((struct rb_node *)b)->addr;
}

void gtp_shadow_add(struct gtp_shadow *a)
{
	lockdep_assert_held(&gtp_lock);
	spin_lock(&shadows_lock);
	rb_add(&a->node, &shadows, is_less);
	spin_unlock(&shadows_lock);
}

void gtp_shadow_remove(struct gtp_shadow *a)
{
	lockdep_assert_held(&gtp_lock);
	spin_lock(&shadows_lock);
	rb_erase(&a->node, &shadows);
	spin_unlock(&shadows_lock);
}

struct gtp_shadow *gtp_shadow_from(u64 addr)
{
	struct rb_node *node = shadows.rb_node, *best = NULL;

	while (node) {
		if (to_shadow(node)->addr < addr) {
			node = node->rb_right;
		} else {
			best = node;
			node = node->rb_left;
		}
	}
	return to_shadow(best);
}

struct gtp_shadow *gtp_shadow_next(struct gtp_shadow *a)
{
	return to_shadow(rb_next(&a->node));
}

bool gtp_shadow_range(u64 at, u64 bytes, u64 *start, u64 *end)
{
	struct gtp_shadow *a;

	*start = at;
	*end = 0;
	spin_lock(&shadows_lock);
	for (a = gtp_shadow_from(at); a && a->addr - at < bytes; a = gtp_shadow_next(a)) {
		if (!*end)
			*start = a->addr;
		*end = a->addr + 1;
	}
	spin_unlock(&shadows_lock);
	return *end;
}

/*
 * Return how many bytes a kprobe has changed, which the byte that is there now shows. The kernel
 * arms a kprobe with an int3, later perhaps with a jump; disarming removes either.
 */
static u32 kprobe_bytes(u8 first)
{
	if (first == INT3_INSN_OPCODE)
		return INT3_INSN_SIZE;
	return first == JMP32_INSN_OPCODE ? JMP32_INSN_SIZE : 0;
}

static void undo(const struct gtp_shadow *a, u64 addr, u8 *buf, u32 len)
{
	u64 at = a->text - addr; /* wraps beyond @len if the place begins before @addr */
	u32 n = a->len, i;

	if (n && a->by_kprobe)
		n = at < len ? kprobe_bytes(buf[at]) : 0;
	for (i = 0; i < n; i++)
		if (at + i < len)
			buf[at + i] = a->old[i];
}

void gtp_shadow_undo(u64 addr, u8 *buf, u32 len)
{
	struct gtp_shadow *a;

	lockdep_assert_held(&gtp_lock);
	for (a = gtp_shadow_from(addr - REACH); a && a->addr < addr + len; a = gtp_shadow_next(a))
		undo(a, addr, buf, len);
}
