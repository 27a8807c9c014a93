// SPDX-License-Identifier: GPL-2.0-only
/* `monitor` commands that only the kernel can answer: about its code and its probes. */
#include <linux/string.h>

#include "kernel/base/params_kernel.h"
#include "kernel/host.h"
#include "kernel/jit/exec_kernel.h"
#include "kernel/monitor.h"
#include "kernel/pad/follow.h"
#include "probe/jump/jump.h"
#include "probe/self.h"
#include "probe/user/files.h"
#include "stub/monitor.h"

static int monitor_jit(struct gtp_stub *stub, const char *arg, struct gtp_why *why)
{
	int err = gtp_monitor_switch("jit", arg, &gtp_jit, why);
	u32 used, size;

	if (err)
		return err;
	gtp_jit_usage(&used, &size);
	gtp_stub_printf(stub, "jit is %s for the next tstart; %u of %u bytes are in use now\n",
			gtp_monitor_on_off(READ_ONCE(gtp_jit)), used, size);
	return 0;
}

static int monitor_jumps(struct gtp_stub *stub, const char *arg, struct gtp_why *why)
{
	int err = gtp_monitor_switch("jumps", arg, &gtp_jumps, why);
	u32 used, size;

	if (err)
		return err;
	gtp_jit_pad_usage(&used, &size);
	gtp_stub_printf(
		stub,
		"jumps is %s for what is armed next; %u jumps, %u of %u bytes of pads are in use\n",
		gtp_monitor_on_off(READ_ONCE(gtp_jumps)), gtp_jump_count(), used, size);
	gtp_stub_printf(stub, "%ld calls are followed; until all are back, gdbtp stays loaded\n",
			gtp_follow_inside());
	return 0;
}

static void list_bytecode(struct gtp_stub *stub, const struct ax_verified *v)
{
	struct ax_insn insn;
	char text[80];
	u32 pc;

	for (pc = 0; pc < v->len; pc = insn.next) {
		if (ax_decode(v->code, v->len, pc, &insn) != AX_OK)
			return;
		ax_disasm(&insn, text, sizeof(text));
		gtp_stub_printf(stub, "%5u  %s\n", pc, text);
	}
}

static void list_expr(struct gtp_stub *stub, const char *what, u32 n, const struct gtp_expr *e)
{
	if (n)
		gtp_stub_printf(stub, "%s %u: %u bytes of bytecode\n", what, n, e->ax.len);
	else
		gtp_stub_printf(stub, "%s: %u bytes of bytecode\n", what, e->ax.len);
	list_bytecode(stub, &e->ax);
	if (e->compiled)
		gtp_stub_printf(stub, "machine code: disassemble 0x%llx,+%u\n", (u64)e->compiled,
				e->compiled_len);
}

static void list_tracepoint(struct gtp_stub *stub, const struct gtp_tracepoint *tp)
{
	const struct gtp_action *a;
	u32 n = 0;

	gtp_stub_printf(stub, "tracepoint %u at 0x%llx\n", tp->num, tp->addr);
	if (tp->cond)
		list_expr(stub, "condition", 0, tp->cond);
	for (a = tp->actions; a; a = a->next) {
		n++;
		if (a->expr)
			list_expr(stub, "action", n, a->expr);
	}
	if (tp->code)
		gtp_stub_printf(stub, "machine code of all actions: disassemble 0x%llx,+%u\n",
				(u64)tp->code, tp->code_len);
	if (!gtp_trace_running(&gtp_host.trace))
		gtp_stub_print(stub, "there is machine code only while the trace is running\n");
}

static int monitor_disas(struct gtp_stub *stub, const char *arg, struct gtp_why *why)
{
	const struct gtp_tracepoint *tp;
	bool found = false;
	u32 num;

	if (kstrtouint(arg, 10, &num)) {
		gtp_why(why, "disas takes the number of a tracepoint, not '%s'", arg);
		return -EINVAL;
	}
	for (tp = gtp_host.trace.tps.first; tp; tp = tp->next) {
		if (tp->num != num)
			continue;
		list_tracepoint(stub, tp);
		found = true;
	}
	if (!found) {
		gtp_why(why, "tracepoint %u is not known here; it is from tstart on", num);
		return -ENOENT;
	}
	return 0;
}

static int monitor_self_trace(struct gtp_stub *stub, const char *arg, struct gtp_why *why)
{
	int err = gtp_monitor_switch("self-trace", arg, &gtp_self_trace, why);

	if (err)
		return err;
	gtp_stub_printf(stub, "self-trace is %s; hits of GDB's own tasks skipped so far: %llu\n",
			gtp_monitor_on_off(READ_ONCE(gtp_self_trace)), gtp_self_skipped());
	return 0;
}

static int monitor_notrace(struct gtp_stub *stub, const char *arg, struct gtp_why *why)
{
	int err = gtp_monitor_switch("notrace", arg, &gtp_allow_notrace, why);

	if (err)
		return err;
	gtp_stub_printf(stub, "notrace is %s: functions that tracers run through are %s\n",
			gtp_monitor_on_off(READ_ONCE(gtp_allow_notrace)),
			READ_ONCE(gtp_allow_notrace) ? "probed too" : "not probed");
	return 0;
}

static int monitor_files(struct gtp_stub *stub, const char *arg, struct gtp_why *why)
{
	const struct gtp_file_space *space = NULL;

	while ((space = gtp_files_next(space))) {
		/* A name may be longer than a line of gtp_stub_printf(). */
		gtp_stub_printf(stub, "0x%llx  ", space->base);
		gtp_stub_print(stub, space->name);
		gtp_stub_printf(stub, ", %u probes\n", space->armed);
	}
	return 0;
}

static const struct {
	const char *name;
	int (*run)(struct gtp_stub *stub, const char *arg, struct gtp_why *why);
	const char *doc;
} commands[] = {
	{ "self-trace", monitor_self_trace,
	  "monitor self-trace     on or off: trace the tasks of this GDB too\n" },
	{ "jit", monitor_jit,
	  "monitor jit            on or off: compile expressions, or interpret\n" },
	{ "jumps", monitor_jumps,
	  "monitor jumps          on or off: jumps instead of kprobes where possible\n" },
	{ "notrace", monitor_notrace,
	  "monitor notrace        on or off: allow probes where tracers themselves run through\n" },
	{ "files", monitor_files,
	  "monitor files          the files of programs that are traced, and the space of each\n" },
	{ "disas", monitor_disas,
	  "monitor disas N        bytecode of tracepoint N, and where its code is\n" },
};

int gtp_kernel_monitor(void *ctx, struct gtp_stub *stub, const char *command, struct gtp_why *why)
{
	bool help = !strcmp(command, "help");
	u32 i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		const char *arg = gtp_monitor_argument(commands[i].name, command);

		if (help)
			gtp_stub_print(stub, commands[i].doc);
		else if (arg)
			return commands[i].run(stub, arg, why);
	}
	return help ? 0 : -ENOENT;
}
