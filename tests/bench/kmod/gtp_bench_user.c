// SPDX-License-Identifier: GPL-2.0-only
/* The floor for programs: a uprobe that counts, the least that anything on a uprobe costs. */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/namei.h>
#include <linux/uprobes.h>
#include <linux/version.h>

#include "gtp_bench.h"

static u64 *counts_in;

/* 6.13 ("uprobe: Add data pointer to consumer handlers") added an argument. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
static int hit(struct uprobe_consumer *self, struct pt_regs *regs, __u64 *data)
#else
static int hit(struct uprobe_consumer *self, struct pt_regs *regs)
#endif
{
	++*counts_in;
	return 0;
}

static struct uprobe_consumer consumer = { .handler = hit };
static struct inode *inode;
static u64 offset;

/* 6.12 ("uprobes: make uprobe_register() return struct uprobe *") gave it a handle. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
static struct uprobe *uprobe;

static int set(void)
{
	uprobe = uprobe_register(inode, offset, 0, &consumer);
	return PTR_ERR_OR_ZERO(uprobe);
}

static void clear(void)
{
	uprobe_unregister_nosync(uprobe, &consumer);
	uprobe_unregister_sync();
}
#else
static int set(void)
{
	return uprobe_register(inode, offset, &consumer);
}

static void clear(void)
{
	uprobe_unregister(inode, offset, &consumer);
}
#endif

int gtp_bench_user_probe(const char *file, u64 at, u64 *hits)
{
	struct path path;
	int err;

	if (inode)
		return -EBUSY;
	err = kern_path(file, LOOKUP_FOLLOW, &path);
	if (err)
		return err;
	inode = igrab(d_real_inode(path.dentry));
	path_put(&path);
	if (!inode)
		return -ENOENT;
	counts_in = hits;
	offset = at;
	err = set();
	if (err) {
		iput(inode);
		inode = NULL;
	}
	return err;
}

void gtp_bench_user_unprobe(void)
{
	if (!inode)
		return;
	clear();
	iput(inode);
	inode = NULL;
}
