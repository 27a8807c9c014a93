// SPDX-License-Identifier: GPL-2.0-only
/* QTSave: the stopped run as a trace file in the file system of the machine that is traced. */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/namei.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>

#include "base/lock_kernel.h"
#include "base/mem_kernel.h"
#include "export/file.h"
#include "kernel/host.h"
#include "kernel/save.h"

enum { PIECE = SZ_64K };

static const char no_file[] = "only to a plain file, and not under /proc";

static bool is_plain(const struct inode *inode)
{
	return S_ISREG(inode->i_mode) && inode->i_sb->s_magic != PROC_SUPER_MAGIC;
}

static int check_folder(const char *name)
{
	const char *slash = strrchr(name, '/');
	char *folder = gtp_mem_alloc(strlen(name) + 2);
	struct path path;
	int err;

	if (!folder)
		return -ENOMEM;
	if (slash)
		memcpy(folder, name, slash - name + 1);
	else
		strcpy(folder, ".");
	err = kern_path(folder, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &path);
	gtp_mem_free(folder);
	if (err)
		return err;
	if (path.dentry->d_sb->s_magic == PROC_SUPER_MAGIC)
		err = -EINVAL;
	path_put(&path);
	return err;
}

/*
 * Opening a device does things: only what is a file, or will be. And not in procfs: the write that
 * has brought the packet here holds that file system's own write access, which is not to be taken
 * twice. The file that has the name when it is opened may be another one: see check_opened().
 */
static int check_path(const char *name)
{
	struct path path;
	int err;

	err = kern_path(name, 0, &path);
	if (err == -ENOENT)
		return check_folder(name);
	if (err)
		return err;
	if (!is_plain(d_inode(path.dentry)))
		err = -EINVAL;
	path_put(&path);
	return err;
}

/* It was there before: its owner could read what is written to it. */
static int check_opened(struct file *file, struct gtp_why *why)
{
	const struct inode *inode = file_inode(file);

	if (!is_plain(inode)) {
		gtp_why(why, "cannot save there: %s", no_file);
		return -EINVAL;
	}
	if (!uid_eq(inode->i_uid, current_fsuid())) {
		gtp_why(why,
			"cannot save there: the file belongs to somebody else; take another name");
		return -EPERM;
	}
	return 0;
}

static int empty(struct file *file, struct gtp_why *why)
{
	int err = check_opened(file, why);

	if (err)
		return err;
	err = vfs_truncate(&file->f_path, 0);
	if (err)
		gtp_why(why, "cannot save there: the file cannot be emptied (%pe)", ERR_PTR(err));
	return err;
}

/*
 * A new file, or one that is there, whichever it is when it is opened. It is opened under gtp_lock,
 * so it must not wait for the reader of a FIFO (O_NONBLOCK), and nothing is changed in it before it
 * has been looked at.
 */
static struct file *open_file(const char *name, struct gtp_why *why)
{
	const int how = O_WRONLY | O_LARGEFILE | O_NOFOLLOW | O_NONBLOCK;
	struct file *file;
	int err = check_path(name);

	if (err == -EINVAL) {
		gtp_why(why, "cannot save there: %s", no_file);
		return ERR_PTR(err);
	}
	if (err) {
		gtp_why(why, "cannot save there (%pe)", ERR_PTR(err));
		return ERR_PTR(err);
	}
	file = filp_open(name, how | O_CREAT | O_EXCL, 0600);
	if (!IS_ERR(file))
		return file;
	if (PTR_ERR(file) == -EEXIST)
		file = filp_open(name, how, 0);
	if (IS_ERR(file)) {
		gtp_why(why, "cannot save there: opening the file failed (%pe)", file);
		return file;
	}
	err = empty(file, why);
	if (!err)
		return file;
	filp_close(file, NULL);
	return ERR_PTR(err);
}

static int copy_frames(struct file *out, const struct gtp_file *in, u8 *piece, struct gtp_why *why)
{
	u64 size = gtp_file_size(in);
	loff_t pos = 0;
	s64 len;

	while ((len = gtp_file_read(in, pos, piece, PIECE)) > 0) {
		ssize_t n = kernel_write(out, piece, len, &pos);

		if (n != len) {
			gtp_why(why, "the trace file is incomplete: writing failed (%pe)",
				n < 0 ? ERR_PTR(n) : ERR_PTR(-ENOSPC));
			return n < 0 ? n : -ENOSPC;
		}
		gtp_progress("saving MiB", pos >> 20, size >> 20);
		/* There may be gigabytes to write, and the disk may be slow. */
		if (fatal_signal_pending(current)) {
			gtp_why(why, "the trace file is incomplete: interrupted");
			return -EINTR;
		}
	}
	return len;
}

static int write_file(const char *name, const struct gtp_file *in, u8 *piece, struct gtp_why *why)
{
	struct file *out = open_file(name, why);
	int err, late;

	if (IS_ERR(out))
		return PTR_ERR(out);
	err = copy_frames(out, in, piece, why);
	late = filp_close(out, NULL);
	if (err || !late)
		return err;
	gtp_why(why, "the trace file may be incomplete: closing it failed (%pe)", ERR_PTR(late));
	return late;
}

int gtp_save(void *ctx, const char *name, struct gtp_why *why)
{
	u8 *piece = gtp_mem_alloc(PIECE);
	struct gtp_file in;
	int err;

	if (!piece) {
		gtp_why(why, "no memory to save the trace");
		return -ENOMEM;
	}
	err = gtp_file_open(&in, &gtp_host.trace, why);
	if (err)
		goto out_piece;
	err = write_file(name, &in, piece, why);
	gtp_file_close(&in);
out_piece:
	gtp_mem_free(piece);
	return err;
}
