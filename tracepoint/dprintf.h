/* SPDX-License-Identifier: GPL-2.0-only */
/* GDB's dprintfs: texts to print when an address is hit; each text has its own condition. */
#ifndef _GTP_DPRINTF_H
#define _GTP_DPRINTF_H

#include "tracepoint/tracepoint.h"

enum {
	GTP_DPRINTF_HERE_MAX = 16, /* most commands at one address */
	GTP_DPRINTFS_MAX = 1024,   /* most addresses with dprintfs */
};

/**
 * struct gtp_dprintf - the dprintfs at one address, all from one Z0 packet
 * @next: the dprintfs that GDB sent next
 * @tps: a list with a tracepoint for each command: its condition, and one action that prints
 * @n: the number of tracepoints in @tps
 * @own: their own location; NULL: they are at rest, or have joined a location of the run (see
 * session/dprintf.h)
 * @addr: the address
 * @inserted: false if GDB has removed them; then they exist only as long as hits may use them
 * @persist: true if they stay when GDB disconnects
 * @leaves: true if their own location is about to be disarmed and freed
 * @gone: true if the module that contained @addr has been unloaded
 * @text: the Z0 packet after "Z0,"
 *
 * Two packets with the same @text are the same dprintf.
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
 * @list: counts the memory of the dprintf, which is not added to this list
 * @mem: the source of memory for the dprintf
 * @text: "ADDR,KIND[;Xlen,hex...];cmds:PERSIST,Xlen,hex...", NUL-terminated
 * @ncpus: the number of counters of each command
 * @out: receives the dprintf, which is not armed yet, with @inserted set
 * @why: the refusal
 *
 * GDB sends one condition for each command, in the same order, or none at all.
 * Context: may sleep. Return: 0, -EINVAL (syntax, or the verifier's refusal), -ENOMEM.
 */
int gtp_dprintf_parse(struct gtp_tracepoints *list, const struct gtp_mem *mem, const char *text,
		      u32 ncpus, struct gtp_dprintf **out, struct gtp_why *why);

/* gtp_dprintf_free - free a dprintf that is not armed and on no list; @list counts its memory */
void gtp_dprintf_free(struct gtp_tracepoints *list, const struct gtp_mem *mem,
		      struct gtp_dprintf *dp);

#endif /* _GTP_DPRINTF_H */
