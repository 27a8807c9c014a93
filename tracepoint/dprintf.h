/* SPDX-License-Identifier: GPL-2.0-only */
/* GDB's dprintfs: texts to print at a place; each text has its own condition. */
#ifndef _GTP_DPRINTF_H
#define _GTP_DPRINTF_H

#include "tracepoint/tracepoint.h"

enum {
	GTP_DPRINTF_HERE_MAX = 16, /* most commands at one address */
	GTP_DPRINTFS_MAX = 1024,   /* most places of all dprintfs */
};

/**
 * struct gtp_dprintf - a place with its dprintfs, all from one Z0 packet
 * @next: the next place, in the order GDB sent them
 * @tps: a tracepoint for each command, by ->next: its condition, and one action that prints
 * @n: the number of tracepoints in @tps
 * @own: the location of its own; NULL: it is at rest, or its tracepoints have joined one of the
 * run's
 * @addr: the address of the place
 * @inserted: GDB has not removed the place; a removed one exists only as long as hits may use it
 * @persist: the place stays when GDB leaves
 * @leaves: the place is about to lose its own location
 * @gone: the module that contained @addr has been unloaded
 * @text: the Z0 packet after "Z0,"
 *
 * Two places with the same text are the same dprintf.
 */
struct gtp_dprintf {
	struct gtp_dprintf *next;
	struct gtp_tracepoint *tps;
	u32 n;
	struct gtp_location *own;
	u64 addr;
	bool inserted;
	bool persist;
	bool leaves;
	bool gone;
	char text[];
};

/**
 * gtp_dprintf_parse() - parse a Z0 packet without its "Z0,"
 * @list: the list that counts the memory of the dprintf, which is not on it
 * @mem: the source of memory for the dprintf
 * @text: "ADDR,KIND[;Xlen,hex...];cmds:PERSIST,Xlen,hex...", NUL-terminated
 * @ncpus: the number of counters of each command
 * @out: receives the dprintf, inserted, at rest
 * @why: the refusal
 *
 * GDB sends one condition for each command, in the same order, or none at all.
 * Context: may sleep. Return: 0, -EINVAL (syntax, or the verifier's refusal), -ENOMEM.
 */
int gtp_dprintf_parse(struct gtp_tracepoints *list, const struct gtp_mem *mem, const char *text,
		      u32 ncpus, struct gtp_dprintf **out, struct gtp_why *why);

/* gtp_dprintf_free - free a dprintf that is at rest and on no list; @list counts its memory */
void gtp_dprintf_free(struct gtp_tracepoints *list, const struct gtp_mem *mem,
		      struct gtp_dprintf *dp);

#endif /* _GTP_DPRINTF_H */
