// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/gtpregions: write tables of regions to load them, read to see which are loaded.
 *
 *	cat vmlinux.rgn > /proc/gtpregions
 *	{ echo module btrfs; cat btrfs.rgn; } > /proc/gtpregions
 *	echo forget > /proc/gtpregions
 *
 * The write that completes a table returns the result; the next reader sees the error in words.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/fs.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>

#include "kernel/base/mem_kernel.h"
#include "kernel/proc.h"
#include "probe/tables.h"

enum {
	LINE_SIZE = 16 + MODULE_NAME_LEN,
	HEAD = 16, /* the first bytes of a table, which have its size */
	SIZE_AT = 8,
};

/**
 * struct writer - one open for writing
 * @lock: one write at a time
 * @line: the line that precedes the table
 * @in_line: true while @line is incomplete
 * @done: the table was accepted or refused
 * @head: the table's first bytes, until its size is known
 * @bytes: the table
 * @size: the size of the table
 * @have: the number of the table's bytes that have arrived
 * @line_len: the number of bytes of @line that have arrived
 * @module: the module to which the table belongs; "": the kernel
 */
struct writer {
	struct mutex lock; /* guards all other members */
	char line[LINE_SIZE];
	u32 line_len;
	bool in_line;
	bool done;
	u8 head[HEAD];
	u8 *bytes;
	u32 size, have;
	char module[MODULE_NAME_LEN];
};

static struct proc_dir_entry *entry;
static DEFINE_MUTEX(refused_lock); /* guards @refused */
static char refused[GTP_TABLES_WHY + MODULE_NAME_LEN];

static void remember(const char *module, const char *why)
{
	mutex_lock(&refused_lock);
	if (why)
		snprintf(refused, sizeof(refused), "%s: %s", *module ? module : "vmlinux", why);
	else
		*refused = '\0';
	mutex_unlock(&refused_lock);
	if (why)
		pr_warn("table of regions for %s refused: %s\n", *module ? module : "vmlinux", why);
}

static int refuse_table(struct writer *w, int err, const char *why)
{
	w->done = true;
	remember(w->module, why);
	return err;
}

/* --- the line before the table --- */

static bool is_name(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

	return n && !name[n] && n < MODULE_NAME_LEN;
}

static int take_line(struct writer *w)
{
	const char *name;

	w->in_line = false;
	if (!strcmp(w->line, "forget")) {
		gtp_tables_remove(NULL);
		remember("", NULL);
		w->done = true;
		return 0;
	}
	name = w->line + str_has_prefix(w->line, "module ");
	if (name == w->line || !is_name(name))
		return refuse_table(w, -EINVAL,
				    "neither a table nor \"module NAME\" or \"forget\"");
	strreplace(strcpy(w->module, name), '-', '_');
	return 0;
}

static int line_byte(struct writer *w, char c)
{
	if (c == '\n')
		return take_line(w);
	if (w->line_len == sizeof(w->line) - 1 || c < ' ' || c > '~')
		return refuse_table(w, -EINVAL,
				    "neither a table nor \"module NAME\" or \"forget\"");
	w->line[w->line_len++] = c;
	return 0;
}

/* --- writing the table --- */

/*
 * Begin a table, if the kernel allows it. The module trusts a table. A forged one could allow a
 * jump where other code branches into the middle of it, and the kernel would execute bytes that are
 * not instructions. So a table is as powerful as a module, and it has no signature.
 */
static int begin_table(struct writer *w)
{
	u32 size = (u32)gtp_get_le(w->head + SIZE_AT, 4);

	if (memcmp(w->head, GTP_TABLE_MAGIC, 8))
		return refuse_table(w, -EINVAL, "this is not a table of regions");
	if (security_locked_down(LOCKDOWN_MODULE_SIGNATURE))
		return refuse_table(
			w, -EPERM,
			"the kernel is locked down, and a table without a signature is like a module without one; places become kprobes");
	if (size < GTP_TABLE_HEAD || size > GTP_TABLE_MAX)
		return refuse_table(w, -EINVAL, "the table tells an impossible size");
	w->bytes = gtp_mem_alloc(size);
	if (!w->bytes)
		return refuse_table(w, -ENOMEM, "no memory for it");
	memcpy(w->bytes, w->head, HEAD);
	w->size = size;
	return 0;
}

static int end_table(struct writer *w)
{
	char why[GTP_TABLES_WHY];
	int err = gtp_tables_add(w->module, w->bytes, w->size, why);

	if (err)
		return refuse_table(w, err, *why ? why : "no memory for it");
	w->bytes = NULL;
	w->done = true;
	remember(w->module, NULL);
	return 0;
}

/* take_bytes - take as many bytes as possible at once; return their number, or -errno */
static int take_bytes(struct writer *w, const char __user *from, size_t len)
{
	u8 *to = w->bytes ? w->bytes : w->head;
	u32 room = (w->bytes ? w->size : HEAD) - w->have, n = min_t(size_t, len, room);
	int err = 0;

	if (copy_from_user(to + w->have, from, n))
		return -EFAULT;
	w->have += n;
	if (n == room)
		err = w->bytes ? end_table(w) : begin_table(w);
	return err ? err : (int)n;
}

static int take_some(struct writer *w, const char __user *from, size_t len)
{
	char c;
	int err;

	if (w->done)
		return -EFBIG;
	if (!w->in_line && (w->have || w->line_len))
		return take_bytes(w, from, len);
	if (get_user(c, from))
		return -EFAULT;
	/* Only a table begins with a G: no line does. */
	if (!w->in_line && c == GTP_TABLE_MAGIC[0])
		return take_bytes(w, from, len);
	w->in_line = true;
	err = line_byte(w, c);
	return err ? err : 1;
}

static ssize_t regions_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	struct writer *w = file->private_data;
	size_t done = 0;
	int n = 0;

	if (mutex_lock_interruptible(&w->lock))
		return -ERESTARTSYS;
	for (; done < len; done += n) {
		n = take_some(w, from + done, len - done);
		if (n < 0)
			break;
		cond_resched();
	}
	mutex_unlock(&w->lock);
	/* Report a refusal at once: there may be no further write. */
	return n < 0 ? n : done;
}

/* --- opening and closing the file --- */

static int regions_show(struct seq_file *m, void *unused)
{
	gtp_tables_show(m);
	mutex_lock(&refused_lock);
	if (*refused)
		seq_printf(m, "last refused: %s\n", refused);
	mutex_unlock(&refused_lock);
	return 0;
}

static int open_writer(struct file *file)
{
	struct writer *w = gtp_mem_alloc(sizeof(*w));

	if (!w)
		return -ENOMEM;
	mutex_init(&w->lock);
	file->private_data = w;
	return stream_open(file_inode(file), file);
}

/* The reference makes rmmod say "in use", as with /proc/gtp. */
static int regions_open(struct inode *inode, struct file *file)
{
	int err = gtp_proc_allowed();

	if (err)
		return err;
	if ((file->f_mode & FMODE_READ) && (file->f_mode & FMODE_WRITE))
		return -EINVAL;
	if (!try_module_get(THIS_MODULE))
		return -ENODEV;
	err = file->f_mode & FMODE_WRITE ? open_writer(file) :
					   single_open(file, regions_show, NULL);
	if (err)
		module_put(THIS_MODULE);
	return err;
}

static int regions_release(struct inode *inode, struct file *file)
{
	struct writer *w = file->private_data;

	if (!(file->f_mode & FMODE_WRITE)) {
		single_release(inode, file);
	} else {
		if (!w->done && (w->have || w->line_len))
			remember(w->module, "it was cut off");
		gtp_mem_free(w->bytes);
		gtp_mem_free(w);
	}
	module_put(THIS_MODULE);
	return 0;
}

static const struct proc_ops regions_ops = {
	.proc_open = regions_open,
	.proc_release = regions_release,
	.proc_read = seq_read,
	.proc_write = regions_write,
	.proc_lseek = seq_lseek,
};

int gtp_proc_gtpregions_init(void)
{
	entry = proc_create("gtpregions", 0600, NULL, &regions_ops);
	return entry ? 0 : -ENOMEM;
}

void gtp_proc_gtpregions_exit(void)
{
	proc_remove(entry);
	gtp_tables_remove(NULL);
}
