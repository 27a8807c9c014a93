// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps the loaded tables of regions, of the kernel and of modules, and looks up addresses in them.
 *
 * A table has the build-id of its code, and is accepted only if it matches that of the running
 * code. The entries of a table are grouped by section; exported symbols and sysfs give the
 * addresses of the sections.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>

#include "base/compat.h"
#include "kernel/base/image_kernel.h"
#include "kernel/base/mem_kernel.h"
#include "probe/tables.h"

enum {
	NOTES_MAX = 4096,
	PATH_SIZE = 160,
};

/*
 * struct piece - a section's range in memory; @size 0: the section is not loaded, or is init code
 */
struct piece {
	u64 start;
	u32 size;
};

struct loaded {
	struct list_head list;
	char module[MODULE_NAME_LEN]; /* "": the kernel */
	struct gtp_table table;
	const u8 *bytes;
	struct piece piece[];
};

DEFINE_MUTEX(gtp_tables_lock); /* guards the list and its entries */
static LIST_HEAD(tables);
static u32 removals; /* counts calls of gtp_tables_remove(), also if there was no table to remove */

/* --- looking up addresses --- */

static bool find_in(const struct loaded *l, u64 addr, struct gtp_tables_place *place)
{
	u32 i;

	for (i = 0; i < l->table.spans_n; i++) {
		if (addr - l->piece[i].start >= l->piece[i].size)
			continue;
		place->table = &l->table;
		place->span = i;
		place->offset = (u32)(addr - l->piece[i].start);
		place->start = l->piece[i].start;
		return true;
	}
	return false;
}

bool gtp_tables_find(u64 addr, struct gtp_tables_place *place)
{
	const struct loaded *l;

	lockdep_assert_held(&gtp_tables_lock);
	list_for_each_entry(l, &tables, list) {
		if (find_in(l, addr, place))
			return true;
	}
	return false;
}

bool gtp_tables_any(void)
{
	return !list_empty(&tables);
}

static bool lists(u64 addr, enum gtp_table_kind kind)
{
	struct gtp_tables_place place;
	struct gtp_table_list list;
	bool listed;
	u32 found;

	mutex_lock(&gtp_tables_lock);
	listed = gtp_tables_find(addr, &place) &&
		 gtp_table_find(place.table, place.span, kind, &list) &&
		 gtp_table_next(&list, place.offset, &found) && found == place.offset;
	mutex_unlock(&gtp_tables_lock);
	return listed;
}

bool gtp_tables_deny(u64 addr)
{
	return lists(addr, GTP_TABLE_DENY);
}

bool gtp_tables_wraps(u64 addr)
{
	return lists(addr, GTP_TABLE_WRAP);
}

/* --- build-ids and section addresses --- */

/* read_file - read a small file of sysfs, NUL-terminated; return its length or -errno */
static ssize_t read_file(const char *path, char *buf, size_t size)
{
	struct file *file = filp_open(path, O_RDONLY, 0);
	loff_t pos = 0;
	ssize_t n;

	if (IS_ERR(file))
		return PTR_ERR(file);
	n = kernel_read(file, buf, size - 1, &pos);
	filp_close(file, NULL);
	buf[n > 0 ? n : 0] = '\0';
	return n;
}

static bool is_going(const char *module)
{
	char path[PATH_SIZE], state[16];

	snprintf(path, sizeof(path), "/sys/module/%s/initstate", module);
	return read_file(path, state, sizeof(state)) <= 0 || !strncmp(state, "going", 5);
}

static bool is_same(const struct gtp_table *t, const u8 *id, size_t len)
{
	const u8 *theirs;

	return gtp_table_build_id(t, &theirs) == len && !memcmp(theirs, id, len);
}

static int check_kernel_id(const struct gtp_table *t, char *why)
{
	const char *hex = gtp_image_build_id();
	u8 id[GTP_TABLE_ID + 1];
	size_t len = strlen(hex) / 2;

	if (!len || len > sizeof(id) || hex2bin(id, hex, len)) {
		strscpy(why, "the kernel's build-id is not known: is sysfs mounted?",
			GTP_TABLES_WHY);
		return -ENOENT;
	}
	if (is_same(t, id, len))
		return 0;
	snprintf(why, GTP_TABLES_WHY,
		 "the table is of another kernel: this one has the build-id %s", hex);
	return -ESTALE;
}

static int check_module_id(const struct gtp_table *t, const char *module, char *why)
{
	char path[PATH_SIZE], *notes = gtp_mem_alloc(NOTES_MAX);
	const u8 *id;
	ssize_t n;
	size_t len;
	int err = 0;

	if (!notes)
		return -ENOMEM;
	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", module);
	n = read_file(path, notes, NOTES_MAX);
	len = n > 0 ? gtp_image_note_id((const u8 *)notes, n, &id) : 0;
	if (!len) {
		snprintf(why, GTP_TABLES_WHY, "module %s is not loaded, or has no build-id",
			 module);
		err = -ENOENT;
	} else if (!is_same(t, id, len)) {
		snprintf(why, GTP_TABLES_WHY,
			 "the table is of another build than the module %s that is loaded", module);
		err = -ESTALE;
	}
	gtp_mem_free(notes);
	return err;
}

/* Set the address of the kernel's .text, which begins at _text. */
static int place_in_kernel(struct loaded *l, char *why)
{
	u64 text = gtp_image_text();
	struct gtp_table_span s;
	u32 i;

	for (i = 0; i < l->table.spans_n; i++) {
		gtp_table_span(&l->table, i, &s);
		/* The table's other sections are init code, which has been freed. */
		if (strcmp(s.name, ".text"))
			continue;
		if (!text || (text - s.addr) % SZ_2M || text - s.addr >= SZ_1G) {
			strscpy(why, "the kernel is not where it was linked, nor moved from there",
				GTP_TABLES_WHY);
			return -ESTALE;
		}
		l->piece[i].start = text;
		l->piece[i].size = s.size;
	}
	return 0;
}

/* Set the addresses of a module's sections. One that sysfs lacks was freed or never loaded. */
static void place_in_module(struct loaded *l)
{
	char path[PATH_SIZE], text[32];
	struct gtp_table_span s;
	u64 start;
	u32 i;

	for (i = 0; i < l->table.spans_n; i++) {
		gtp_table_span(&l->table, i, &s);
		if (strchr(s.name, '/') || str_has_prefix(s.name, ".init"))
			continue;
		snprintf(path, sizeof(path), "/sys/module/%s/sections/%s", l->module, s.name);
		if (read_file(path, text, sizeof(text)) <= 0 || kstrtou64(strim(text), 16, &start))
			continue;
		l->piece[i].start = start;
		l->piece[i].size = start ? s.size : 0;
	}
}

static int place_spans(struct loaded *l, char *why)
{
	u32 i;

	if (*l->module)
		place_in_module(l);
	else if (place_in_kernel(l, why))
		return -ESTALE;
	for (i = 0; i < l->table.spans_n; i++) {
		if (l->piece[i].size)
			return 0;
	}
	strscpy(why, "nothing that the table tells of is in memory, or may be known",
		GTP_TABLES_WHY);
	return -ENOENT;
}

/* --- adding and removing tables --- */

static void remove(struct loaded *l)
{
	list_del(&l->list);
	gtp_mem_free(l->bytes);
	gtp_mem_free(l);
}

static void remove_of(const char *module)
{
	struct loaded *l, *next;

	list_for_each_entry_safe(l, next, &tables, list) {
		if (!module || !strcmp(l->module, module))
			remove(l);
	}
}

void gtp_tables_remove(const char *module)
{
	mutex_lock(&gtp_tables_lock);
	removals++;
	remove_of(module);
	mutex_unlock(&gtp_tables_lock);
}

static u32 count_removals(void)
{
	u32 n;

	mutex_lock(&gtp_tables_lock);
	n = removals;
	mutex_unlock(&gtp_tables_lock);
	return n;
}

static int check(struct loaded *l, char *why)
{
	int err;

	memset(l->piece, 0, l->table.spans_n * sizeof(*l->piece));
	/*
	 * If unloading begins after this check, gtp_tables_remove() counts it: tables_put() sees
	 * that.
	 */
	if (*l->module && is_going(l->module)) {
		snprintf(why, GTP_TABLES_WHY, "module %s is not loaded, or is being unloaded",
			 l->module);
		return -ENOENT;
	}
	err = *l->module ? check_module_id(&l->table, l->module, why) :
			   check_kernel_id(&l->table, why);
	return err ? err : place_spans(l, why);
}

/*
 * tables_put - add a table; return false if @removals has changed since it was @seen: the module of
 * this table may have been unloaded
 */
static bool tables_put(struct loaded *l, u32 seen)
{
	bool same;

	mutex_lock(&gtp_tables_lock);
	same = removals == seen;
	if (same) {
		remove_of(l->module);
		list_add_tail(&l->list, &tables);
	}
	mutex_unlock(&gtp_tables_lock);
	return same;
}

/*
 * Load a table. sysfs is read without gtp_tables_lock: a reader of /proc/gtpregions takes that lock
 * while it holds the locks of its own file.
 */
int gtp_tables_add(const char *module, u8 *bytes, size_t size, char *why)
{
	struct gtp_table table;
	const char *malformed;
	struct loaded *l;
	u32 seen;
	int err;

	*why = '\0';
	if (gtp_table_open(&table, bytes, size, &malformed)) {
		strscpy(why, malformed, GTP_TABLES_WHY);
		return -EINVAL;
	}
	l = gtp_mem_alloc(struct_size(l, piece, table.spans_n));
	if (!l)
		return -ENOMEM;
	l->table = table;
	l->bytes = bytes;
	strscpy(l->module, module, sizeof(l->module));
	do {
		seen = count_removals();
		err = check(l, why);
	} while (!err && !tables_put(l, seen));
	if (err)
		gtp_mem_free(l);
	return err;
}

void gtp_tables_show(struct seq_file *m)
{
	const struct loaded *l;
	const u8 *id;
	u32 n, i;

	mutex_lock(&gtp_tables_lock);
	list_for_each_entry(l, &tables, list) {
		n = gtp_table_build_id(&l->table, &id);
		seq_printf(m, "%s %*phN %u bytes", *l->module ? l->module : "vmlinux", (int)n, id,
			   l->table.size);
		for (i = 0, n = 0; i < l->table.spans_n; i++)
			n += l->piece[i].size;
		seq_printf(m, " for %u bytes of code\n", n);
	}
	mutex_unlock(&gtp_tables_lock);
}
