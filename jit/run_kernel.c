// SPDX-License-Identifier: GPL-2.0-only
/* Machine code for a run's expressions in the kernel, and what `monitor` says about it. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "kernel/kernel.h"
#include "jit/exec_kernel.h"
#include "probe/jump/jump.h"

static bool available; /* the arena has its common stubs */
static bool making;    /* between gtp_jit_code_begin() and gtp_jit_code_end() */
static bool refused;   /* something, since then: whatever came before it will not be armed */
static u32 used_before;

/* Without an arena everything works as before, by the interpreter. */
void gtp_jit_start(void)
{
	int err = gtp_jit_init();

	available = !err;
	if (err)
		pr_warn("no memory for machine code (%d): expressions are interpreted\n", err);
}

int gtp_jit_code_begin(void *ctx, struct gtp_why *why)
{
	u32 size;
	int err;

	lockdep_assert_held(&gtp_host.lock);
	making = false;
	refused = false;
	gtp_jit_usage(&used_before, &size);
	if (!available || !READ_ONCE(gtp_jit))
		return 0;
	err = gtp_jit_open();
	if (err)
		gtp_why(why, "no memory to write machine code; monitor jit off does without");
	making = !err;
	return err;
}

static int compile(struct ax_jit_request *req, struct gtp_jit_code *code, struct gtp_why *why)
{
	int err = gtp_jit_compile(req, code);
	u32 used, size;

	if (err && err != -EOPNOTSUPP)
		refused = true;
	gtp_jit_usage(&used, &size);
	if (err == -ENOSPC)
		gtp_why(why,
			"its machine code has no room: %u of %u bytes are used; monitor jit off does without",
			used, size);
	else if (err)
		gtp_why(why, "its machine code cannot be made (%d); monitor jit off does without",
			err);
	return err;
}

int gtp_jit_code_make(void *ctx, struct gtp_expr *e, u64 pc, struct gtp_why *why)
{
	struct ax_jit_request req = { .v = &e->ax, .pc = pc };
	struct gtp_jit_code code;
	int err;

	if (!making)
		return 0;
	err = compile(&req, &code, why);
	if (err)
		return err;
	e->compiled = (void *)code.fn;
	e->compiled_len = code.len;
	return 0;
}

static struct ax_jit_item to_item(const struct gtp_action *a)
{
	static const u8 kind[] = {
		[GTP_ACTION_REGS] = AX_JIT_REGS,
		[GTP_ACTION_MEM] = AX_JIT_MEM,
		[GTP_ACTION_EXPR] = AX_JIT_EXPR,
		[GTP_ACTION_STATIC] = AX_JIT_ELSEWHERE,
	};

	return (struct ax_jit_item){
		.kind = kind[a->kind],
		.mask = a->mask,
		.base = a->base,
		.offset = a->offset,
		.len = a->len,
		.v = a->expr ? &a->expr->ax : NULL,
	};
}

/* Static data alone are nothing for a snippet. */
static bool has_work(const struct gtp_tracepoint *tp)
{
	const struct gtp_action *a = tp->actions;

	while (a && a->kind == GTP_ACTION_STATIC)
		a = a->next;
	return a;
}

int gtp_jit_code_make_actions(void *ctx, struct gtp_tracepoint *tp, struct gtp_why *why)
{
	struct ax_jit_request req = { .pc = tp->addr };
	const struct gtp_action *a;
	struct ax_jit_item *items;
	struct gtp_jit_code code;
	int err;

	if (!making || !has_work(tp))
		return -EOPNOTSUPP;
	items = gtp_mem_alloc(tp->nactions * sizeof(*items));
	if (!items) {
		refused = true;
		gtp_why(why, "no memory to make machine code");
		return -ENOMEM;
	}
	for (a = tp->actions; a; a = a->next)
		items[req.nitems++] = to_item(a);
	req.items = items;
	err = compile(&req, &code, why);
	gtp_mem_free(items);
	if (err)
		return err;
	tp->code = (void *)code.fn;
	tp->code_len = code.len;
	tp->frame_bytes = code.frame_bytes;
	return 0;
}

void gtp_jit_code_end(void *ctx)
{
	if (refused)
		gtp_jit_rewind(used_before);
	if (making)
		gtp_jit_close();
	making = false;
}

void gtp_jit_code_forget(void *ctx)
{
	gtp_jit_reset();
}

/* --- monitor --- */

static int monitor_jit(struct gtp_stub *stub, const char *arg, struct gtp_why *why)
{
	u32 used, size;
	bool on;

	if (*arg && kstrtobool(arg, &on)) {
		gtp_why(why, "jit takes on, off or nothing, not '%s'", arg);
		return -EINVAL;
	}
	if (*arg)
		WRITE_ONCE(gtp_jit, on);
	gtp_jit_usage(&used, &size);
	gtp_stub_printf(stub, "jit is %s for the next tstart; %u of %u bytes are in use now\n",
			READ_ONCE(gtp_jit) ? "on" : "off", used, size);
	return 0;
}

static int monitor_jumps(struct gtp_stub *stub, const char *arg, struct gtp_why *why)
{
	u32 used, size;
	bool on;

	if (*arg && kstrtobool(arg, &on)) {
		gtp_why(why, "jumps takes on, off or nothing, not '%s'", arg);
		return -EINVAL;
	}
	if (*arg)
		WRITE_ONCE(gtp_jumps, on);
	gtp_jit_pad_usage(&used, &size);
	gtp_stub_printf(stub,
			"jumps is %s for what is armed next; %u jumps, %u of %u bytes of pads are in use\n",
			READ_ONCE(gtp_jumps) ? "on" : "off", gtp_jump_count(), used, size);
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

static const struct {
	const char *name;
	int (*run)(struct gtp_stub *stub, const char *arg, struct gtp_why *why);
	const char *doc;
} commands[] = {
	{ "jit", monitor_jit,
	  "monitor jit          on or off: compile expressions, or interpret\n" },
	{ "jumps", monitor_jumps,
	  "monitor jumps        on or off: jumps instead of kprobes where possible\n" },
	{ "disas", monitor_disas,
	  "monitor disas N      bytecode of tracepoint N, and where its code is\n" },
};

/* gtp_jit_monitor - "jit", "disas", "help"; 0 or -errno with @why, as struct gtp_stub_ops has it */
int gtp_jit_monitor(struct gtp_stub *stub, const char *command, struct gtp_why *why)
{
	bool help = !strcmp(command, "help");
	u32 i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		size_t n = strlen(commands[i].name);

		if (help)
			gtp_stub_print(stub, commands[i].doc);
		else if (!strncmp(command, commands[i].name, n) &&
			 (!command[n] || command[n] == ' '))
			return commands[i].run(stub, skip_spaces(command + n), why);
	}
	return help ? 0 : -ENOENT;
}
