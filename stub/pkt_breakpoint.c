// SPDX-License-Identifier: GPL-2.0-only
/* Packets for breakpoints: refuse those that would stop the kernel, and handle dprintfs. */
#include "session/dprintf.h"
#include "stub/args.h"
#include "stub/console.h"
#include "stub/handlers.h"
#include "stub/reply.h"

/*
 * Refuse a breakpoint. Never send an empty reply: GDB would then write breakpoints into memory
 * itself.
 */
GTP_HANDLER(gtp_pkt_breakpoint)
{
	gtp_why(why, "breakpoints would stop the %s; use trace instead of break",
		gtp_stub_target(s));
	return -EOPNOTSUPP;
}

/*
 * The next two handlers refuse hardware breakpoints and watchpoints, which GDB inserts only when it
 * continues. After a refusal GDB does not continue, and says only that it cannot insert them. So
 * also print the reason; GDB shows it at the next continue.
 */
GTP_HANDLER(gtp_pkt_hbreak)
{
	gtp_why(why, "hbreak would stop the %s; use trace instead", gtp_stub_target(s));
	gtp_stub_printf(s, "gdbtp: %s\n", why->text);
	return -EOPNOTSUPP;
}

GTP_HANDLER(gtp_pkt_watch)
{
	if (s->ops->process)
		gtp_why(why, "watch, rwatch and awatch would stop the process");
	else
		gtp_why(why,
			"watch, rwatch and awatch would stop the kernel; gtp watch EXPRESSION [rw] is a tracepoint that says who accesses a variable");
	gtp_stub_printf(s, "gdbtp: %s\n", why->text);
	return -EOPNOTSUPP;
}

/*
 * True if the packet has commands, so that it is a dprintf. Otherwise it is a breakpoint, which
 * would stop the kernel.
 */
static bool has_commands(const struct gtp_in *in)
{
	return strstr(in->p, ";cmds:");
}

/*
 * Refuse a breakpoint, and print the reason on GDB's console, which shows it at the next continue.
 * GDB only says "Cannot insert breakpoint", and for a breakpoint in a module it says nothing and
 * continues.
 */
static int refuse_breakpoint(struct gtp_stub *s, struct gtp_in *in, struct gtp_why *why)
{
	struct gtp_in at = *in;
	u64 addr = 0;

	gtp_in_hex64(&at, &addr);
	gtp_stub_printf(
		s,
		"gdbtp: no breakpoint at 0x%llx, it would stop the %s: use trace. If it is a dprintf: set dprintf-style agent, and arguments that GDB can translate\n",
		addr, gtp_stub_target(s));
	return gtp_pkt_breakpoint(s, in, why);
}

/* True for the breakpoint that GDB sets to notice loaded libraries; see gtp_stub_libraries(). */
static bool is_library_event(struct gtp_stub *s, const struct gtp_in *in)
{
	const struct gtp_process_ops *process = s->ops->process;
	struct gtp_in at = *in;
	u64 addr;

	return process && !has_commands(in) && gtp_in_hex64(&at, &addr) &&
	       process->is_library_event(s->ctx, addr);
}

GTP_HANDLER(gtp_pkt_insert)
{
	int err;

	if (is_library_event(s, in))
		return gtp_reply_ok(s);
	if (!has_commands(in))
		return refuse_breakpoint(s, in, why);
	err = gtp_dprintf_insert(s->trace, in->p, why);
	if (!err)
		return gtp_reply_ok(s);
	gtp_stub_printf(s, "gdbtp: %s\n", why->text);
	return err;
}

/* Handle z0. A missing dprintf is not an error, because monitor dprintf may have removed it. */
GTP_HANDLER(gtp_pkt_remove)
{
	u64 addr, kind;

	if (gtp_args_hex_pair(in, ',', &addr, &kind, why))
		return -EINVAL;
	gtp_dprintf_remove(s->trace, addr);
	return gtp_reply_ok(s);
}
