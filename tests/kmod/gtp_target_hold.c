// SPDX-License-Identifier: GPL-2.0-only
/* A task that stays at one instruction, wherever a copy of that is, until it is let go. */
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "gtp_target.h"

/*
 * One page, mapped again and again: a gigabyte to look for a byte in. Not cached: a real processor
 * would be through with it in less than a second.
 */
enum { VIEWS = 1 << 18, WANTED = 0x5a };

static DEFINE_MUTEX(lock); /* of what comes next */
static u8 *view;
static struct page *page;
static bool let_go;

/*
 * The number of bytes after the one that was found. Interrupts are taken, and the task is
 * preempted, in the middle of the string instruction; then it goes on with that.
 */
GTP_TARGET_FN long gtp_target_hold(const u8 *from, long bytes)
{
	asm volatile("repne scasb" : "+D"(from), "+c"(bytes) : "a"(WANTED) : "cc", "memory");
	return bytes;
}

static int map(void)
{
	struct page **pages = kvmalloc_array(VIEWS, sizeof(*pages), GFP_KERNEL);
	u32 i;

	page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	for (i = 0; pages && page && i < VIEWS; i++)
		pages[i] = page;
	view = pages && page ? vmap(pages, VIEWS, VM_MAP, pgprot_noncached(PAGE_KERNEL)) : NULL;
	kvfree(pages);
	return view ? 0 : -ENOMEM;
}

static void unmap(void)
{
	mutex_lock(&lock);
	if (view)
		vunmap(view);
	if (page)
		__free_page(page);
	view = NULL;
	page = NULL;
	mutex_unlock(&lock);
}

int gtp_target_hold_call(void)
{
	int err = map();

	WRITE_ONCE(let_go, false);
	if (!err) {
		gtp_target_count(GTP_TARGET_COUNT_hold);
		err = gtp_target_hold(view, (long)VIEWS * PAGE_SIZE) ? 0 : -ETIME;
	}
	unmap();
	return err;
}

/* Whoever waits for that task has had time enough not to wait. */
int gtp_target_hold_end(u64 at, u64 text, u32 ms)
{
	if (!within_module(at, THIS_MODULE))
		return -EINVAL;
	while (READ_ONCE(*(u64 *)at) != text)
		if (msleep_interruptible(10))
			return -EINTR;
	if (msleep_interruptible(ms))
		return -EINTR;
	mutex_lock(&lock);
	WRITE_ONCE(let_go, true);
	if (view)
		memset(view, WANTED, PAGE_SIZE);
	mutex_unlock(&lock);
	return 0;
}

bool gtp_target_hold_ended(void)
{
	return READ_ONCE(let_go);
}
