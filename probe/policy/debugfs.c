// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read a debugfs file line by line in the kernel.
 *
 * kernel_read() refuses debugfs files. A seq file can be read with seq_read_iter() directly;
 * is_seq_file() tells whether a file is one.
 */
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/workqueue.h>

#include "base/compat.h"
#include "kernel/base/mem_kernel.h"
#include "probe/policy/debugfs.h"
#include "probe/policy/debugfs_text.h"

enum { PIECE = SZ_16K };

/*
 * True if the file is a seq file: seq_open() stores in ->private_data a struct seq_file that points
 * back to the file. Other files may have anything there.
 */
static bool is_seq_file(const struct file *file)
{
	const struct seq_file *seq = file->private_data;
	const struct file *named;

	if (file->f_path.dentry->d_sb->s_magic != DEBUGFS_MAGIC)
		return false;
	return !copy_from_kernel_nofault(&named, &seq->file, sizeof(named)) && named == file;
}

static ssize_t read_piece(struct file *file, char *piece, loff_t *pos)
{
	struct kvec vec = { .iov_base = piece, .iov_len = PIECE };
	struct iov_iter iter;
	struct kiocb iocb;
	ssize_t n;

	init_sync_kiocb(&iocb, file);
	iocb.ki_pos = *pos;
	iov_iter_kvec(&iter, READ, &vec, 1, PIECE);
	n = seq_read_iter(&iocb, &iter);
	*pos = iocb.ki_pos;
	return n;
}

int gtp_debugfs_lines(struct file *file, int (*line)(void *ctx, const char *line, u32 len),
		      void *ctx)
{
	struct gtp_debugfs_text *lines = gtp_mem_alloc(sizeof(*lines));
	char *piece = gtp_mem_alloc(PIECE);
	int rc = lines && piece ? 0 : -ENOMEM;
	loff_t pos = 0;
	ssize_t n = 1;

	while (!rc && n > 0) {
		n = read_piece(file, piece, &pos);
		if (n > 0)
			rc = gtp_debugfs_feed(lines, piece, n, line, ctx);
		cond_resched();
	}
	gtp_mem_free(lines);
	gtp_mem_free(piece);
	return rc ? rc : (n < 0 ? -ENOENT : 0);
}

struct job {
	struct work_struct work;
	const char *path;
	struct file *file;
};

static void open_here(struct work_struct *work)
{
	struct job *job = container_of(work, struct job, work);

	job->file = filp_open(job->path, O_RDONLY, 0);
	if (IS_ERR(job->file) || is_seq_file(job->file))
		return;
	filp_close(job->file, NULL);
	job->file = ERR_PTR(-ENOENT);
}

/*
 * Open the file. A task that exits has no current->fs any more when it closes /proc/gtp, and cannot
 * look up a path. For such a task a kernel worker opens the file, below the root of kernel threads.
 */
struct file *gtp_debugfs_open(const char *path)
{
	struct job job = { .path = path };

	INIT_WORK_ONSTACK(&job.work, open_here);
	if (current->fs)
		open_here(&job.work);
	else
		queue_work(gtp_unbound_wq(), &job.work);
	flush_work(&job.work); /* returns at once if the work was not queued */
	destroy_work_on_stack(&job.work);
	if (IS_ERR(job.file) && PTR_ERR(job.file) != -ENOMEM)
		return ERR_PTR(-ENOENT);
	return job.file;
}

void gtp_debugfs_close(struct file *file)
{
	filp_close(file, NULL);
}
