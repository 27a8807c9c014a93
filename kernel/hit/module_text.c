// SPDX-License-Identifier: GPL-2.0-only
/*
 * The address ranges of modules' code. Hits look them up without a lock, and without RCU, because
 * RCU is not watching idle CPUs.
 */
#include <linux/kobject.h>
#include <linux/spinlock.h>

#include "base/compat.h"
#include "kernel/hit/module_text.h"

enum { MODULES_MAX = 512 }; /* the code of further modules is not recognized */

/*
 * The modules' ranges: size << 32 | lower half of the address; the upper half is the same for all
 * modules. 0: the entry is free.
 */
static u64 text[MODULES_MAX];
static u32 changes = 1;
static DEFINE_SPINLOCK(lock); /* serializes writers */

static u64 range_of(const struct module *mod)
{
	u64 start, bytes;

	gtp_module_text(mod, &start, &bytes);
	return bytes << 32 | (u32)start;
}

static u64 *find_range(u64 range)
{
	u32 i;

	for (i = 0; i < MODULES_MAX; i++)
		if (text[i] == range)
			return &text[i];
	return NULL;
}

static void add_text(const struct module *mod)
{
	u64 range = range_of(mod), *at;

	lockdep_assert_held(&lock);
	if (!(range >> 32) || find_range(range))
		return;
	at = find_range(0);
	if (at)
		WRITE_ONCE(*at, range);
}

static void drop_text(const struct module *mod)
{
	u64 range = range_of(mod), *at;

	lockdep_assert_held(&lock);
	at = range >> 32 ? find_range(range) : NULL;
	if (at)
		WRITE_ONCE(*at, 0);
}

void gtp_module_text_changed(const struct module *mod, unsigned long state)
{
	if (state != MODULE_STATE_COMING && state != MODULE_STATE_GOING)
		return;
	spin_lock(&lock);
	if (state == MODULE_STATE_COMING)
		add_text(mod);
	else
		drop_text(mod);
	/*
	 * Pairs with gtp_module_text_changes(): a hit that reads the new number reads the new
	 * ranges.
	 */
	smp_store_release(&changes, changes + 1);
	spin_unlock(&lock);
}

/*
 * Record the modules that are loaded now. The kset of this module's kobject lists all modules, and
 * also built-in ones, which have no struct module. The kernel sets MODULE_STATE_GOING before it
 * calls our notifier, which takes @lock.
 */
void gtp_module_text_init(void)
{
	struct kset *set = THIS_MODULE->mkobj.kobj.kset;
	struct kobject *k;

	if (!set)
		return;
	spin_lock(&lock);
	spin_lock(&set->list_lock);
	list_for_each_entry(k, &set->list, entry) {
		const struct module *mod = container_of(k, struct module_kobject, kobj)->mod;

		if (mod && READ_ONCE(mod->state) != MODULE_STATE_GOING)
			add_text(mod);
	}
	spin_unlock(&set->list_lock);
	spin_unlock(&lock);
}

u32 gtp_module_text_changes(void)
{
	/* Pairs with the release of gtp_module_text_changed(). */
	return smp_load_acquire(&changes);
}

bool gtp_module_text_has(u64 start, u32 bytes)
{
	u32 i;

	for (i = 0; i < MODULES_MAX; i++) {
		u64 range = READ_ONCE(text[i]);
		u32 size = range >> 32, offset = (u32)start - (u32)range;

		if (offset < size)
			return bytes <= size - offset;
	}
	return false;
}
