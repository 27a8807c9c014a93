/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps the loaded tables of regions, of the kernel and of modules, and looks up addresses in them.
 */
#ifndef _GTP_TABLES_H
#define _GTP_TABLES_H

#include <linux/mutex.h>

#include "regions/table.h"

struct module;
struct seq_file;

/* Guards all tables. Nests inside gtp_lock; the module notifier takes it without gtp_lock. */
extern struct mutex gtp_tables_lock;

/* struct gtp_tables_place - the position of an address in a table of regions */
struct gtp_tables_place {
	const struct gtp_table *table;
	u32 span;
	u32 offset;
	u64 start; /* the first address of the span */
};

/*
 * gtp_tables_find - look up an address; return false if it is in no table. Hold gtp_tables_lock
 * while using @place
 */
bool gtp_tables_find(u64 addr, struct gtp_tables_place *place);

/* gtp_tables_deny - true if the kernel would optimize a kprobe at @addr, but must not */
bool gtp_tables_deny(u64 addr);

/*
 * gtp_tables_wraps - true if a table says that the function that begins at @addr returns and has no
 * stack arguments
 */
bool gtp_tables_wraps(u64 addr);

/* gtp_tables_any - true if any table is loaded */
bool gtp_tables_any(void);

enum { GTP_TABLES_WHY = 160 };

/**
 * gtp_tables_add() - load a table of regions
 * @module: the module to which the table belongs; "": the kernel
 * @bytes: the file's contents, from gtp_mem_alloc(); this function owns them if it returns 0
 * @size: the size of @bytes
 * @why: receives the refusal in words, GTP_TABLES_WHY bytes
 *
 * Replaces an earlier table for the same code. Context: process, without gtp_tables_lock; sleeps.
 * Return: 0, -EINVAL (malformed), -ESTALE (made for another build), -ENOENT (no such module),
 * -ENOMEM.
 */
int gtp_tables_add(const char *module, u8 *bytes, size_t size, char *why);

/* gtp_tables_remove - remove the table of a module (NULL: all); takes gtp_tables_lock */
void gtp_tables_remove(const char *module);

/* gtp_tables_show - print a line for each table of regions; takes gtp_tables_lock */
void gtp_tables_show(struct seq_file *m);

#endif /* _GTP_TABLES_H */
