// SPDX-License-Identifier: GPL-2.0-only
/* QTSave: write the stopped run to a new trace file, in one folder of the traced machine. */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/namei.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>

#include "export/file.h"
#include "kernel/base/lock_kernel.h"
#include "kernel/base/mem_kernel.h"
#include "kernel/base/params_kernel.h"
#include "kernel/host.h"
#include "kernel/save.h"

enum { PIECE = SZ_64K };

/*
 * Find the folder for trace files. The user of GDB may have no other access to this machine
 * (gdbtp-connect). So a name from GDB can only name a new file, in the folder of the module
 * parameter save_dir.
 */
static int find_folder(struct path *folder, struct gtp_why *why)
{
	int err;

	if (!gtp_save_dir || !*gtp_save_dir) {
		gtp_why(why,
			"saving on this machine is off: the module parameter save_dir names no folder for it; gtp save FILE writes the file on GDB's side");
		return -EPERM;
	}
	err = kern_path(gtp_save_dir, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, folder);
	if (err) {
		gtp_why(why, "cannot save: the folder of the module parameter save_dir (%pe)",
			ERR_PTR(err));
		return err;
	}
	/*
	 * GDB's write() of this packet to /proc/gtp already holds write access to procfs
	 * (file_start_write()), and the VFS must not take it again.
	 */
	if (folder->dentry->d_sb->s_magic != PROC_SUPER_MAGIC)
		return 0;
	path_put(folder);
	gtp_why(why, "cannot save: save_dir is under /proc");
	return -EINVAL;
}

/*
 * Create the file; @name has no '/'. Create a new file only: never open a device, a FIFO or a link.
 */
static struct file *open_file(const char *name, struct gtp_why *why)
{
	const int how = O_WRONLY | O_LARGEFILE | O_CREAT | O_EXCL | O_NOFOLLOW;
	struct path folder;
	struct file *file;
	int err = find_folder(&folder, why);

	if (err)
		return ERR_PTR(err);
	file = file_open_root(&folder, name, how, 0600);
	path_put(&folder);
	if (PTR_ERR_OR_ZERO(file) == -EEXIST)
		gtp_why(why, "%s is there already; take another name", name);
	else if (IS_ERR(file))
		gtp_why(why, "cannot save there: making the file failed (%pe)", file);
	return file;
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
