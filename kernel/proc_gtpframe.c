// SPDX-License-Identifier: GPL-2.0-only
/* /proc/gtpframe: the stopped run as one GDB trace file, to be copied or opened where it is. */
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>

#include "export/file.h"
#include "kernel/base/lock_kernel.h"
#include "kernel/base/mem_kernel.h"
#include "kernel/host.h"
#include "kernel/proc.h"

/**
 * struct reader - one open of /proc/gtpframe
 * @in: the trace file that is read
 * @size: the size of the whole file; the run cannot grow any more, it can only be dropped
 */
struct reader {
	struct gtp_file in;
	u64 size;
};

static struct proc_dir_entry *entry;

/* open_run - open the stopped run; under gtp_lock */
static int open_run(struct reader *r)
{
	struct gtp_why why;
	int err;

	gtp_host_settle();
	err = gtp_file_open(&r->in, &gtp_host.trace, &why);
	if (!err)
		r->size = gtp_file_size(&r->in);
	return err;
}

static int reader_create(struct reader **ret)
{
	struct reader *r = gtp_mem_alloc(sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	err = mutex_lock_interruptible(&gtp_lock);
	if (!err) {
		err = open_run(r);
		mutex_unlock(&gtp_lock);
	}
	if (err)
		gtp_mem_free(r);
	else
		*ret = r;
	return err;
}

static int gtpframe_open(struct inode *inode, struct file *file)
{
	struct reader *r;
	int err = gtp_proc_allowed();

	if (err)
		return err;
	/* The reference makes rmmod say "in use", as with /proc/gtp. */
	if (!try_module_get(THIS_MODULE))
		return -ENODEV;
	err = reader_create(&r);
	if (err)
		module_put(THIS_MODULE);
	else
		file->private_data = r;
	return err;
}

static int gtpframe_release(struct inode *inode, struct file *file)
{
	struct reader *r = file->private_data;

	mutex_lock(&gtp_lock);
	gtp_file_close(&r->in);
	mutex_unlock(&gtp_lock);
	gtp_mem_free(r);
	module_put(THIS_MODULE);
	return 0;
}

static ssize_t read_piece(struct reader *r, u8 *piece, size_t len, loff_t pos)
{
	ssize_t n = mutex_lock_interruptible(&gtp_lock);

	if (n)
		return n;
	n = gtp_file_read(&r->in, pos, piece, len);
	mutex_unlock(&gtp_lock);
	return n;
}

/*
 * Read a part of the file. Each call has its own buffer, because several threads may pread() at
 * once.
 */
static ssize_t gtpframe_read(struct file *file, char __user *to, size_t len, loff_t *pos)
{
	u8 *piece;
	ssize_t n;

	len = min_t(size_t, len, SZ_64K);
	piece = gtp_mem_alloc(len);
	if (!piece)
		return -ENOMEM;
	n = read_piece(file->private_data, piece, len, *pos);
	/* The user's memory may have to be read from disk: do not hold gtp_lock. */
	if (n > 0 && copy_to_user(to, piece, n))
		n = -EFAULT;
	gtp_mem_free(piece);
	if (n > 0)
		*pos += n;
	return n;
}

static loff_t gtpframe_lseek(struct file *file, loff_t offset, int whence)
{
	struct reader *r = file->private_data;

	return fixed_size_llseek(file, offset, whence, r->size);
}

static const struct proc_ops gtpframe_ops = {
	.proc_open = gtpframe_open,
	.proc_release = gtpframe_release,
	.proc_read = gtpframe_read,
	.proc_lseek = gtpframe_lseek,
};

int gtp_proc_gtpframe_init(void)
{
	entry = proc_create("gtpframe", 0400, NULL, &gtpframe_ops);
	return entry ? 0 : -ENOMEM;
}

void gtp_proc_gtpframe_exit(void)
{
	proc_remove(entry);
}
