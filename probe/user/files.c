// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens the files of traced programs, and gives each file its space of addresses.
 *
 * A file is opened under gtp_lock. So only files that processes can execute are opened: opening
 * others may need that lock (/proc/gtpframe), or wait for another process (a FIFO).
 *
 * The base address of a file's space is never given to a second file: a GDB that was connected
 * before may still have the first file's symbols there, and would set its breakpoints into the
 * second file's instructions. The bases begin at random, so that the same holds when gdbtp is
 * loaded again.
 */
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/random.h>
#include <linux/string.h>

#include "base/visible.h"
#include "kernel/base/lock_kernel.h"
#include "kernel/base/mem_kernel.h"
#include "kernel/hit/cpu_kernel.h"
#include "probe/user/files.h"
#include "probe/user/vdso.h"

enum {
	FILES_MAX = 1024, /* most open files; an open file keeps its file system mounted */
	EXITS_MAX = 4096, /* most functions of a file whose exits are known */
	SHOWN_MAX = 100,  /* characters of a path in a message, which needs room for the reason */
};

/* The list of files; under gtp_lock. */
static struct gtp_file_space *files;
static u32 nfiles;
static u32 next_number;
static bool numbered;

static int refuse(struct gtp_why *why, int err, const char *path, const char *words)
{
	size_t len = strlen(path);

	if (len > SHOWN_MAX)
		gtp_why(why, "...%s %s", path + len - SHOWN_MAX, words);
	else
		gtp_why(why, "%s %s", path, words);
	gtp_visible_only(why->text);
	return err;
}

static int refuse_errno(struct gtp_why *why, int err, const char *path)
{
	char words[48];

	switch (err) {
	case -ENOENT:
		return refuse(why, err, path, "does not exist on the traced machine");
	case -EACCES:
	case -EPERM:
		return refuse(why, err, path, "cannot be read: permission denied");
	case -ENOTDIR:
		return refuse(why, err, path, "does not exist: a part of the path is no directory");
	case -ELOOP:
		return refuse(why, err, path, "is a symbolic link that leads nowhere");
	case -ENAMETOOLONG:
		return refuse(why, err, path, "has a name that is too long");
	case -ENOMEM:
		return refuse(why, err, path, "cannot be read: no memory");
	default:
		snprintf(words, sizeof(words), "cannot be read (%pe)", ERR_PTR(err));
		return refuse(why, err, path, words);
	}
}

/*
 * True if uprobes can be set in the file: they need a file whose pages the page cache can read. For
 * tmpfs, the kernel's uprobes have a special case.
 */
static bool is_mappable(const struct inode *inode)
{
	return inode->i_mapping->a_ops->read_folio || inode->i_sb->s_magic == TMPFS_MAGIC;
}

static int check_kind(const char *path, const struct inode *inode, struct gtp_why *why)
{
	if (S_ISDIR(inode->i_mode))
		return refuse(why, -EISDIR, path, "is a directory");
	if (!S_ISREG(inode->i_mode))
		return refuse(why, -EINVAL, path, "is no ordinary file");
	if (inode->i_sb->s_iflags & SB_I_NOEXEC || !is_mappable(inode))
		return refuse(why, -EINVAL, path,
			      "is on a file system that programs cannot be run from");
	return 0;
}

/* Open the file that was looked up, not its name again, which may mean another file by now. */
static struct file *open_found(const struct path *at)
{
	struct file *file = dentry_open(at, O_RDONLY | O_LARGEFILE, current_cred());
	int err = IS_ERR(file) ? 0 : file_permission(file, MAY_READ);

	if (!err)
		return file;
	fput(file);
	return ERR_PTR(err);
}

static struct file *open_file(const char *path, struct inode **inode, struct gtp_why *why)
{
	struct file *file;
	struct path at;
	int err = kern_path(path, LOOKUP_FOLLOW, &at);

	if (err)
		return ERR_PTR(refuse_errno(why, err, path));
	*inode = d_real_inode(at.dentry);
	err = check_kind(path, *inode, why);
	if (err) {
		path_put(&at);
		return ERR_PTR(err);
	}
	file = open_found(&at);
	path_put(&at);
	if (IS_ERR(file))
		refuse_errno(why, PTR_ERR(file), path);
	return file;
}

/* Read from a file. Return the number of bytes, less than @len at the file's end, or -errno. */
static ssize_t read_at(struct file *file, void *dst, u32 len, loff_t at)
{
	return kernel_read(file, dst, len, &at);
}

static int read_table(struct gtp_file_space *space, u8 *table, struct gtp_why *why)
{
	u32 bytes = space->elf.entries * GTP_ELF_ENTRY, i;
	ssize_t n = read_at(space->file, table, bytes, space->elf.table);
	int err;

	if (n < 0)
		return (int)n;
	if (n < bytes) {
		gtp_why(why, "is cut off: its table of segments is not whole");
		return -ENOEXEC;
	}
	err = gtp_elf_table(&space->elf, table, why);
	for (i = 0; !err && i < space->elf.nnotes; i++) {
		n = read_at(space->file, table, space->elf.note[i].bytes,
			    space->elf.note[i].offset);
		if (n > 0)
			gtp_elf_notes(&space->elf, table, (u32)n);
	}
	return err;
}

static int read_parts(struct gtp_file_space *space, struct gtp_why *why)
{
	const size_t room = GTP_ELF_ENTRIES * GTP_ELF_ENTRY;
	u8 *buf = gtp_mem_alloc(room);
	ssize_t n;
	int err;

	BUILD_BUG_ON(GTP_ELF_ENTRIES * GTP_ELF_ENTRY < GTP_ELF_NOTE_BYTES);
	if (!buf)
		return -ENOMEM;
	n = read_at(space->file, buf, GTP_ELF_HEAD, 0);
	err = n < 0 ? (int)n : gtp_elf_head(&space->elf, buf, (u32)n, why);
	if (!err)
		err = read_table(space, buf, why);
	gtp_mem_free(buf);
	return err;
}

static struct gtp_file_space *find_inode(const struct inode *inode)
{
	struct gtp_file_space *space = files;

	while (space && space->inode != inode)
		space = space->next;
	return space;
}

static void add(struct gtp_file_space *space)
{
	if (!numbered)
		next_number = get_random_u32() % GTP_SPACE_NUMBERS;
	numbered = true;
	do {
		space->base = gtp_space_base(next_number);
		next_number = (next_number + 1) % GTP_SPACE_NUMBERS;
	} while (gtp_files_find(space->base));
	space->stacks.file.is.base = space->base;
	space->next = files;
	files = space;
	nfiles++;
}

/* Tell hits where the segments of code are, so that they can name addresses in them. */
static void set_segments(struct gtp_file_space *space)
{
	struct gtp_mapped_file *to = &space->stacks.file.is;
	const struct gtp_elf_segment *s = space->elf.segment;
	u32 i;

	to->nsegments = 0;
	for (i = 0; i < space->elf.nsegments; i++, s++) {
		if (!s->is_code || to->nsegments == GTP_MAPPED_SEGMENTS)
			continue;
		to->segment[to->nsegments].offset = s->offset;
		to->segment[to->nsegments].bytes = s->bytes;
		to->segment[to->nsegments++].addr = s->addr;
	}
}

static int read_elf(struct gtp_file_space *space, const char *path, struct gtp_why *why)
{
	struct gtp_why inner = { "" };
	int err = read_parts(space, &inner);

	if (!err)
		return 0;
	return *inner.text ? refuse(why, err, path, inner.text) : refuse_errno(why, err, path);
}

/*
 * Keep the file's name. The name is only displayed, so it must not have characters that control a
 * terminal.
 */
static void keep_name(struct gtp_file_space *space, const char *path)
{
	strcpy(space->name, path);
	gtp_visible_only(space->name);
}

static struct gtp_file_space *make(const char *path, struct file *file, struct inode *inode,
				   struct gtp_why *why)
{
	struct gtp_file_space *space = gtp_mem_alloc(sizeof(*space) + strlen(path) + 1);
	int err;

	if (!space) {
		gtp_why(why, "no memory for a file");
		return ERR_PTR(-ENOMEM);
	}
	space->file = file;
	space->inode = inode;
	space->stacks.file.inode = inode;
	keep_name(space, path);
	err = read_elf(space, path, why);
	set_segments(space);
	if (!err)
		return space;
	gtp_mem_free(space);
	return ERR_PTR(err);
}

static void forget_exits(struct gtp_file_space *space, u64 addr)
{
	struct gtp_file_exits **at = &space->exits, *old;

	while (*at && (*at)->addr != addr)
		at = &(*at)->next;
	old = *at;
	if (!old)
		return;
	*at = old->next;
	space->nexits--;
	gtp_mem_free(old);
}

static bool any_armed(void)
{
	const struct gtp_file_space *space = files;

	while (space && !space->armed)
		space = space->next;
	return space;
}

/* --- call frame information --- */

static void show(struct gtp_frames *f)
{
	struct gtp_file_frames *of = container_of(f, struct gtp_file_frames, frames);

	of->file.is.cfi = &f->cfi;
	gtp_cfi_add(&of->file);
}

static void hide(struct gtp_frames *f)
{
	gtp_cfi_remove(&container_of(f, struct gtp_file_frames, frames)->file);
}

static u64 memory_most(void)
{
	return gtp_memory_most(NULL);
}

static struct gtp_frames_all tables = {
	.mem = &gtp_mem,
	.show = show,
	.hide = hide,
	.wait = gtp_cfi_wait,
	.most = memory_most,
};

/* The table of the vDSO, which is in no file. */
static struct gtp_file_frames vdso;

static struct gtp_frames_id id_of(const struct gtp_elf *elf)
{
	return (struct gtp_frames_id){ elf->id, elf->id_bytes };
}

/* The table is gone, or hits do not find it any more, if the file has changed. */
static void check_frames(struct gtp_file_space *space)
{
	struct gtp_frames_id id = id_of(&space->elf);

	gtp_frames_check(&tables, &space->stacks.frames, &id, any_armed());
	if (!space->stacks.frames.is_shown)
		set_segments(space);
}

static int put(struct gtp_file_frames *to, const struct gtp_elf *elf, const struct gtp_part *part,
	       struct gtp_why *why)
{
	struct gtp_frames_id id = id_of(elf);

	return gtp_frames_put(&tables, &to->frames, part, &id, any_armed(), why);
}

static int put_vdso(const struct gtp_part *part, struct gtp_why *why)
{
	struct gtp_elf *elf = gtp_mem_alloc(sizeof(*elf));
	int err = elf ? gtp_vdso_read(elf) : -ENOMEM;

	if (err)
		gtp_why(why, "a table of call frames is refused: the vDSO cannot be read");
	else
		err = put(&vdso, elf, part, why);
	gtp_mem_free(elf);
	return err;
}

int gtp_files_frames(u64 addr, const struct gtp_part *part, struct gtp_why *why)
{
	struct gtp_file_space *space;

	if (!gtp_cfi_usable()) {
		gtp_why(why, "this kernel has no tables of call frames: see docs/programs.md");
		return -EOPNOTSUPP;
	}
	if (!addr)
		return put_vdso(part, why);
	space = gtp_files_find(addr);
	if (space)
		return put(&space->stacks, &space->elf, part, why);
	gtp_why(why, "the file is not known any more");
	return -EINVAL;
}

/* --- opening files --- */

/*
 * Read the segments again and forget the exits, unless a probe is in the file: a compiler, for
 * example, may have written to the file since. Return 0 or -errno.
 */
static int know_again(struct gtp_file_space *space, const char *path, struct gtp_why *why)
{
	int err;

	if (space->armed)
		return 0;
	while (space->exits)
		forget_exits(space, space->exits->addr);
	err = read_elf(space, path, why);
	check_frames(space);
	return err;
}

int gtp_files_open(const char *path, const struct gtp_file_space **space, struct gtp_why *why)
{
	struct gtp_file_space *found, *new;
	struct inode *inode;
	struct file *file;

	lockdep_assert_held(&gtp_lock);
	if (path[0] != '/')
		return refuse(why, -EINVAL, path, "is no absolute path");
	file = open_file(path, &inode, why);
	if (IS_ERR(file))
		return PTR_ERR(file);
	found = find_inode(inode);
	if (found) {
		fput(file);
		*space = found;
		return know_again(found, path, why);
	}
	new = nfiles < FILES_MAX ? make(path, file, inode, why) : NULL;
	if (IS_ERR_OR_NULL(new)) {
		fput(file);
		if (new)
			return PTR_ERR(new);
		gtp_why(why, "%u files are traced already, as many as there may be", FILES_MAX);
		return -ENOSPC;
	}
	add(new);
	*space = new;
	return 0;
}

struct gtp_file_space *gtp_files_find(u64 addr)
{
	struct gtp_file_space *space = files;

	lockdep_assert_held(&gtp_lock);
	while (space && !gtp_space_is_same(space->base, addr))
		space = space->next;
	return space;
}

const struct gtp_file_space *gtp_files_next(const struct gtp_file_space *space)
{
	lockdep_assert_held(&gtp_lock);
	return space ? space->next : files;
}

int gtp_files_read(void *dst, u64 addr, u32 len)
{
	const struct gtp_file_space *space = gtp_files_find(addr);
	u64 offset;
	ssize_t n;

	if (!space || !gtp_elf_constant(&space->elf, gtp_space_linked(addr), len, &offset))
		return -EFAULT;
	n = read_at(space->file, dst, len, offset);
	if (n < 0)
		return -EFAULT;
	memset(dst + n, 0, len - n);
	return 0;
}

u32 gtp_files_code(void *dst, u64 addr, u32 max)
{
	while (max && gtp_files_read(dst, addr, max))
		max--;
	return max;
}

/* --- the exits of functions --- */

/* Check that all exits are in the file's code. Only GDB knows where instructions begin. */
static bool are_code(const struct gtp_file_space *space, const struct gtp_file_exits *e)
{
	u32 i;

	for (i = 0; i < e->n; i++)
		if (!gtp_elf_code(&space->elf, e->exit[i].addr))
			return false;
	return gtp_elf_code(&space->elf, gtp_space_linked(e->addr));
}

static int keep_exits(struct gtp_file_space *space, struct gtp_file_exits *e, struct gtp_why *why)
{
	if (!are_code(space, e)) {
		gtp_why(why, "%s has no code there", space->name);
		return -EINVAL;
	}
	forget_exits(space, e->addr);
	if (space->nexits == EXITS_MAX) {
		gtp_why(why,
			"the returns of %u functions of %s are known already, as many as may be",
			EXITS_MAX, space->name);
		return -ENOSPC;
	}
	e->next = space->exits;
	space->exits = e;
	space->nexits++;
	return 0;
}

int gtp_files_exits(u64 addr, u32 above, struct gtp_in *list, struct gtp_why *why)
{
	struct gtp_file_space *space = gtp_files_find(addr);
	struct gtp_in again = *list;
	struct gtp_file_exits *e;
	u32 n = gtp_exits_parse(list, NULL);
	int err;

	if (!space || above > GTP_EXITS_ABOVE || above % 8 || !n) {
		gtp_why(why, space ? "no list of returns" : "the file is not known any more");
		return -EINVAL;
	}
	e = gtp_mem_alloc(struct_size(e, exit, n));
	if (!e) {
		gtp_why(why, "no memory for a list of returns");
		return -ENOMEM;
	}
	e->addr = addr;
	e->above = above;
	e->n = gtp_exits_parse(&again, e->exit);
	err = keep_exits(space, e, why);
	if (err)
		gtp_mem_free(e);
	return err;
}

const struct gtp_file_exits *gtp_files_exits_at(const struct gtp_file_space *space, u64 addr)
{
	const struct gtp_file_exits *e = space->exits;

	while (e && e->addr != addr)
		e = e->next;
	return e;
}

/* --- closing files --- */

static void close_file(struct gtp_file_space *space)
{
	while (space->exits)
		forget_exits(space, space->exits->addr);
	gtp_frames_free(&tables, &space->stacks.frames);
	fput(space->file);
	gtp_mem_free(space->semaphores);
	gtp_mem_free(space);
}

void gtp_files_forget(bool (*is_named)(void *ctx, u64 first, u64 last), void *ctx)
{
	struct gtp_file_space **at = &files, *closed = NULL;
	bool wait = false, drop_vdso, busy = any_armed();

	lockdep_assert_held(&gtp_lock);
	drop_vdso = !gtp_frames_is_needed(&vdso.frames, busy) && !is_named(ctx, 0, 0);
	if (drop_vdso)
		wait = gtp_frames_hide(&tables, &vdso.frames);
	while (*at) {
		struct gtp_file_space *space = *at;
		u64 last = space->base + ((1ULL << GTP_SPACE_SHIFT) - 1);

		if (space->armed || gtp_frames_is_needed(&space->stacks.frames, busy) ||
		    is_named(ctx, space->base, last)) {
			at = &space->next;
			continue;
		}
		*at = space->next;
		nfiles--;
		space->next = closed;
		closed = space;
		wait |= gtp_frames_hide(&tables, &space->stacks.frames);
	}
	if (wait)
		gtp_cfi_wait();
	if (drop_vdso)
		gtp_frames_free(&tables, &vdso.frames);
	while (closed) {
		struct gtp_file_space *space = closed;

		closed = space->next;
		close_file(space);
	}
}
