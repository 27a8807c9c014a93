// SPDX-License-Identifier: GPL-2.0-only
/* A uprobe that only counts: no tool that uses uprobes can cost less. */
#include <linux/fs.h>
#include <linux/namei.h>

#include "base/compat.h"
#include "gtp_bench.h"

static u64 *counts_in;

GTP_UPROBE_HANDLER(hit)
{
	++*counts_in;
	return 0;
}

static struct gtp_uprobe probe = { .consumer.handler = hit };

int gtp_bench_user_probe(const char *file, u64 at, u64 *hits)
{
	struct path path;
	int err;

	if (probe.inode)
		return -EBUSY;
	err = kern_path(file, LOOKUP_FOLLOW, &path);
	if (err)
		return err;
	probe.inode = igrab(d_real_inode(path.dentry));
	path_put(&path);
	if (!probe.inode)
		return -ENOENT;
	counts_in = hits;
	probe.offset = at;
	err = gtp_uprobe_set(&probe);
	if (err) {
		iput(probe.inode);
		probe.inode = NULL;
	}
	return err;
}

void gtp_bench_user_unprobe(void)
{
	if (!probe.inode)
		return;
	gtp_uprobe_clear(&probe);
	gtp_uprobes_wait();
	iput(probe.inode);
	probe.inode = NULL;
}
