// SPDX-License-Identifier: GPL-2.0-only
/* `monitor` commands: status, settings and counters for which GDB has no command. */
#include "base/version.h"
#include "session/aggregate.h"
#include "session/dprintf.h"
#include "session/pair.h"
#include "stub/console.h"
#include "stub/handlers.h"
#include "stub/monitor.h"
#include "stub/reply.h"
#include "stub/wait.h"

enum { COMMAND_MAX = 127 };

/* struct command - a `monitor` command: either @print, or, if it takes a word, @set prints */
struct command {
	const char *name;
	void (*print)(struct gtp_stub *s);
	int (*set)(struct gtp_stub *s, const char *arg, struct gtp_why *why);
	const char *doc;
};

int gtp_monitor_switch(const char *name, const char *arg, bool *value, struct gtp_why *why)
{
	static const struct {
		const char *word;
		bool on;
	} words[] = {
		{ "on", true },	  { "yes", true }, { "y", true },  { "1", true },
		{ "off", false }, { "no", false }, { "n", false }, { "0", false },
	};
	u32 i;

	if (!*arg)
		return 0;
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcasecmp(words[i].word, arg))
			continue;
		WRITE_ONCE(*value, words[i].on);
		return 0;
	}
	gtp_why(why, "%s takes on, off or nothing, not '%s'", name, arg);
	return -EINVAL;
}

static void print_version(struct gtp_stub *s)
{
	gtp_stub_printf(s, "gdbtp %s on kernel %s\n", GTP_VERSION, s->ops->release(s->ctx));
}

static void print_build_id(struct gtp_stub *s)
{
	const char *id = s->trace->build_id;

	gtp_stub_printf(s, "%s\n", id && *id ? id : "unknown");
}

static void print_stacks(struct gtp_stub *s)
{
	const struct gtp_stacks *stacks = s->trace->run.stacks;

	if (!stacks)
		return;
	gtp_stub_printf(s, "stacks:    %u different ones, %u of %u KiB\n", READ_ONCE(stacks->count),
			READ_ONCE(stacks->used) / 128, stacks->words / 128);
	gtp_wait_print_lost_stacks(s, "stacks:    ");
}

static void print_tasks(struct gtp_stub *s)
{
	for (u32 num = GTP_TSV_NR_BUILTIN; num < GTP_TSV_MAX; num++) {
		const struct gtp_tsv *tsv = s->trace->run.tsvs.slot[num];
		const struct gtp_tasks *tasks = tsv ? tsv->tasks : NULL;

		if (tasks && s->trace->run.tsvs.ways[num] == AX_TSV_TASK)
			gtp_stub_printf(
				s,
				"tasks:     $%s was set for %llu, %u still have it; no room for %llu; %llu died with it\n",
				tsv->name, READ_ONCE(tasks->sets), gtp_tasks_count(tasks),
				READ_ONCE(tasks->no_room), READ_ONCE(tasks->died));
	}
}

static void print_buffer(struct gtp_stub *s)
{
	struct gtp_totals sum;

	gtp_trace_totals(s->trace, &sum);
	gtp_stub_printf(s, "frames:    %llu in the buffers, %llu collected\n", sum.frames,
			sum.created);
	if (sum.frames > GTP_INDEX_MOST)
		gtp_stub_printf(s, "numbered:  the oldest %u; GDB counts no further\n",
				GTP_INDEX_MOST);
	gtp_stub_printf(s, "buffers:   %llu of %llu bytes free\n", sum.free, sum.size);
	gtp_stub_printf(s, "not seen:  %llu hits inside another hit, %llu missed by the kernel\n",
			sum.nested, sum.missed);
	gtp_wait_print_busy(s, "not seen:  ");
	gtp_trace_check_clock(s->trace);
	gtp_wait_print_clock(s, "clock:     ");
	gtp_wait_print_failed(s, "errors:    ");
	print_stacks(s);
	print_tasks(s);
	if (sum.refused)
		gtp_stub_printf(s, "not armed: %u of the places; monitor probes says why\n",
				sum.refused);
	if (sum.no_sdata)
		gtp_stub_printf(s, "no $_sdata: %llu frames for which the kernel made no record\n",
				sum.no_sdata);
	if (sum.no_target)
		gtp_stub_printf(
			s,
			"no target: %llu times $enable or $disable was set to no tracepoint's number\n",
			sum.no_target);
}

static void print_settings(struct gtp_stub *s)
{
	const struct gtp_trace *t = s->trace;

	gtp_stub_printf(s, "settings:  circular %s, disconnected tracing %s, strict %s, ",
			gtp_monitor_on_off(t->circular), gtp_monitor_on_off(t->disconnected),
			gtp_monitor_on_off(t->strict));
	gtp_stub_printf(s, "stop-on-error %s, ", gtp_monitor_on_off(!t->pass_errors));
	gtp_stub_print(s, "buffer size ");
	if (t->buffer_bytes)
		gtp_stub_printf(s, "%llu bytes\n", t->buffer_bytes);
	else
		gtp_stub_print(s, "default\n");
}

static const char *how(const struct gtp_location *loc)
{
	if (gtp_location_is_refused(loc))
		return "not armed";
	return loc->probe_kind ? loc->probe_kind : "armed";
}

static const char *probe_kind(const struct gtp_tracepoint *tp)
{
	if (tp->gone)
		return "gone with its module";
	if (!tp->loc)
		return "not in a run";
	return how(tp->loc);
}

static const char *state(const struct gtp_tracepoint *tp)
{
	bool on = READ_ONCE(tp->on);

	if (on == tp->enabled)
		return on ? "enabled" : "disabled";
	return on ? "enabled by a hit" : "disabled by a hit";
}

static void print_tracepoint(struct gtp_stub *s, const struct gtp_tracepoint *tp)
{
	struct gtp_tp_stat sum = gtp_trace_hits(s->trace, tp);

	gtp_stub_printf(s, "tracepoint %u at 0x%llx: %llu hits, %llu bytes, %s, %s", tp->num,
			tp->addr, sum.hits, sum.usage, state(tp), probe_kind(tp));
	if (tp->pass)
		gtp_stub_printf(s, ", pass count %llu", tp->pass);
	if (sum.failed)
		gtp_stub_printf(s, ", %llu errors", sum.failed);
	gtp_stub_print(s, "\n");
}

static void print_cpu(struct gtp_stub *s, const struct gtp_cpu *cpu)
{
	if (cpu->buf.created || cpu->nested)
		gtp_stub_printf(s, "cpu %u: %llu frames, %u of %u bytes used, %llu nested hits\n",
				cpu->id, gtp_buffer_frames(&cpu->buf), gtp_buffer_used(&cpu->buf),
				cpu->buf.size, cpu->nested);
}

static void print_run(struct gtp_stub *s)
{
	char text[240];
	struct gtp_out out;

	gtp_out_init(&out, text, sizeof(text));
	gtp_wait_describe_run(s->trace, &out);
	gtp_stub_printf(s, "%s\n", text);
}

static void print_stays(struct gtp_stub *s)
{
	const struct gtp_target_ops *target = s->trace->target;
	struct gtp_why why = { "" };

	if (target->stays && target->stays(s->trace->ctx, &why))
		gtp_stub_printf(s, "unloading: not possible until a reboot: %s\n", why.text);
}

static void print_status(struct gtp_stub *s)
{
	const struct gtp_trace *t = s->trace;
	const struct gtp_tracepoint *tp;
	u32 i;

	print_version(s);
	gtp_stub_print(s, "build-id:  ");
	print_build_id(s);
	gtp_stub_print(s, "run:       ");
	print_run(s);
	print_buffer(s);
	print_settings(s);
	print_stays(s);
	for (tp = t->tps.first; tp; tp = tp->next)
		print_tracepoint(s, tp);
	for (i = 0; i < t->run.ncpus; i++)
		if (t->run.cpus[i])
			print_cpu(s, t->run.cpus[i]);
}

static void print_probe(struct gtp_stub *s, const struct gtp_location *loc)
{
	const struct gtp_tracepoint *tp;

	gtp_stub_printf(s, "0x%llx  %s, %llu missed, tracepoints", loc->addr, how(loc),
			s->trace->target->missed(s->trace->ctx, loc));
	for (tp = loc->first; tp; tp = tp->next_here)
		if (tp->dprintf)
			gtp_stub_print(s, " dprintf");
		else
			gtp_stub_printf(s, " %u", tp->num);
	if (gtp_location_is_refused(loc))
		gtp_stub_printf(s, "; refused: %s", loc->refused.text);
	else if (loc->no_jump)
		gtp_stub_printf(s, "; no jump: %s", loc->no_jump);
	gtp_stub_print(s, "\n");
}

static void print_probes(struct gtp_stub *s)
{
	const struct gtp_location *loc;
	const struct gtp_dprintf *dp;

	if (!s->trace->locs && !s->trace->dprintfs.list)
		gtp_stub_print(s, "no location is probed\n");
	for (loc = s->trace->locs; loc; loc = loc->next)
		print_probe(s, loc);
	for (dp = s->trace->dprintfs.list; dp; dp = dp->next)
		if (dp->own)
			print_probe(s, dp->own);
}

/* --- monitor dprintf --- */

static const char *const dprintf_to[] = {
	[GTP_DPRINTF_CONSOLE] = "console",
	[GTP_DPRINTF_TRACE] = "trace",
	[GTP_DPRINTF_LOG] = "log",
};

static int choose_dprintf(struct gtp_stub *s, const char *arg, struct gtp_why *why)
{
	u32 i;

	if (!*arg)
		return 0;
	if (!strcmp(arg, "clear")) {
		gtp_dprintf_clear(s->trace, true);
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(dprintf_to); i++) {
		if (strcmp(arg, dprintf_to[i]))
			continue;
		s->trace->dprintfs.to = i;
		return 0;
	}
	gtp_why(why, "dprintf takes console, trace, log, clear or nothing, not '%s'", arg);
	return -EINVAL;
}

static void print_dprintf(struct gtp_stub *s, const struct gtp_dprintf *dp)
{
	const struct gtp_location *loc = gtp_dprintf_location(dp);
	struct gtp_dprintf_sum sum;

	gtp_dprintf_sum(s->trace, dp, &sum);
	gtp_stub_printf(s, "0x%llx  %llu hits, %llu dropped, %s%s", dp->addr, sum.hits, sum.dropped,
			dp->gone ? "gone with its module" :
			loc	 ? how(loc) :
				   "at rest",
			dp->persist && s->trace->dprintfs.to != GTP_DPRINTF_CONSOLE ?
				", stays without GDB" :
				"");
	if (loc && gtp_location_is_refused(loc))
		gtp_stub_printf(s, "; refused: %s", loc->refused.text);
	gtp_stub_print(s, "\n");
}

static void print_dprintfs(struct gtp_stub *s)
{
	const struct gtp_dprintfs *all = &s->trace->dprintfs;
	const struct gtp_dprintf *dp;
	struct gtp_dprintf_sum sum;

	for (dp = all->list; dp; dp = dp->next)
		if (dp->inserted)
			print_dprintf(s, dp);
	gtp_dprintf_sum(s->trace, NULL, &sum);
	gtp_stub_printf(s, "all so far: %llu hits, %llu lines printed, %llu dropped\n", sum.hits,
			all->printed, sum.dropped + all->limited);
	if (sum.nested || sum.missed)
		gtp_stub_printf(
			s,
			"not seen without a run: %llu hits inside another hit, %llu missed by the kernel\n",
			sum.nested, sum.missed);
}

static int set_dprintf(struct gtp_stub *s, const char *arg, struct gtp_why *why)
{
	static const char *const where[] = {
		[GTP_DPRINTF_CONSOLE] = "GDB's console, while it waits in continue",
		[GTP_DPRINTF_TRACE] = "the kernel's trace, /sys/kernel/tracing/trace",
		[GTP_DPRINTF_LOG] = "the kernel's log, 200 lines a second at most",
	};
	int err = choose_dprintf(s, arg, why);

	if (err)
		return err;
	/* Lines may have been waiting for GDB's console: print them now. */
	if (s->ops->lines)
		s->ops->lines(s->ctx);
	gtp_stub_printf(s, "dprintf prints to %s\n", where[s->trace->dprintfs.to]);
	print_dprintfs(s);
	return 0;
}

/* --- the table of commands --- */

static void print_help(struct gtp_stub *s);

static int set_strict(struct gtp_stub *s, const char *arg, struct gtp_why *why)
{
	int err = gtp_monitor_switch("strict", arg, &s->trace->strict, why);

	if (!err)
		gtp_stub_printf(s, "strict is %s: a place that cannot be probed %s\n",
				gtp_monitor_on_off(s->trace->strict),
				s->trace->strict ? "refuses all of them" :
						   "is reported, and the others are armed");
	return err;
}

static int set_stop_on_error(struct gtp_stub *s, const char *arg, struct gtp_why *why)
{
	struct gtp_trace *t = s->trace;
	bool on = !t->pass_errors;
	int err = gtp_monitor_switch("stop-on-error", arg, &on, why);

	if (err)
		return err;
	t->pass_errors = !on;
	gtp_stub_printf(
		s, "stop-on-error is %s for the next tstart: a failure at a hit %s\n",
		gtp_monitor_on_off(on),
		on ? "ends the run" :
		     "is counted, its value is missing from the frame, and the run goes on");
	return 0;
}

/* Read a number from 1 to @most into @value; an empty @arg changes nothing. */
static int set_number(const char *arg, const char *name, u32 most, u32 *value, struct gtp_why *why)
{
	bool given = *arg;
	u64 n = 0;

	for (; *arg >= '0' && *arg <= '9' && n <= most; arg++)
		n = n * 10 + (u64)(*arg - '0');
	if (*arg || n > most || (given && !n)) {
		gtp_why(why, "%s takes a number from 1 to %u or nothing", name, most);
		return -EINVAL;
	}
	if (n)
		*value = (u32)n;
	return 0;
}

static int set_aggregate_keys(struct gtp_stub *s, const char *arg, struct gtp_why *why)
{
	struct gtp_trace *t = s->trace;
	int rc = set_number(arg, "aggregate-keys", GTP_AGGR_KEYS_MOST, &t->aggregate_keys, why);

	if (!rc)
		gtp_stub_printf(
			s,
			"aggregate-keys is %u for the next tstart: of each aggregation every CPU has room for so many\n",
			t->aggregate_keys);
	return rc;
}

static int set_pair_entries(struct gtp_stub *s, const char *arg, struct gtp_why *why)
{
	struct gtp_trace *t = s->trace;
	int rc = set_number(arg, "pair-entries", GTP_PAIR_ENTRIES_MOST, &t->pair_entries, why);

	if (!rc)
		gtp_stub_printf(
			s,
			"pair-entries is %u for the next tstart: each pair has room for so many starts without an end\n",
			t->pair_entries);
	return rc;
}

static const struct command commands[] = {
	{ "help", print_help, NULL, "this list" },
	{ "status", print_status, NULL, "the run, its buffers, settings and tracepoints" },
	{ "run", print_run, NULL, "how the run goes or has ended, in one line" },
	{ "probes", print_probes, NULL, "every probed location and how it is probed" },
	{ "version", print_version, NULL, "of gdbtp and of the kernel" },
	{ "build-id", print_build_id, NULL, "of the kernel; vmlinux must have the same" },
	{ "aggregate-keys", NULL, set_aggregate_keys,
	  "how many keys an aggregation has room for on each CPU" },
	{ "pair-entries", NULL, set_pair_entries,
	  "how many starts without an end a pair has room for" },
	{ "dprintf", NULL, set_dprintf, "console, trace, log: where text goes; clear removes all" },
	{ "strict", NULL, set_strict, "on or off: one refused place refuses tstart" },
	{ "stop-on-error", NULL, set_stop_on_error, "on or off: a failure at a hit ends the run" },
};

static int print_foreign(struct gtp_stub *s, const char *command, struct gtp_why *why)
{
	return s->ops->monitor ? s->ops->monitor(s->ctx, s, command, why) : -ENOENT;
}

static void print_help(struct gtp_stub *s)
{
	struct gtp_why why;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		gtp_stub_printf(s, "monitor %-14s %s\n", commands[i].name, commands[i].doc);
	print_foreign(s, "help", &why);
}

const char *gtp_monitor_argument(const char *name, const char *command)
{
	size_t n = strlen(name);

	if (strncmp(name, command, n) || (command[n] && command[n] != ' '))
		return NULL;
	command += n;
	while (*command == ' ')
		command++;
	return command;
}

static int run_command(struct gtp_stub *s, const char *command, struct gtp_why *why)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		const char *arg = gtp_monitor_argument(commands[i].name, command);

		if (!arg)
			continue;
		if (commands[i].set)
			return commands[i].set(s, arg, why);
		if (*arg) {
			gtp_why(why, "monitor %s takes no argument", commands[i].name);
			return -EINVAL;
		}
		commands[i].print(s);
		return 0;
	}
	return print_foreign(s, command, why);
}

static void trim(char *command, u32 len)
{
	while (len && command[len - 1] == ' ')
		len--;
	command[len] = '\0';
}

/*
 * Print the words of an error: GDB ignores words in a reply to qRcmd. Reply E01 to stop a script.
 */
static int refuse(struct gtp_stub *s, const char *words)
{
	gtp_stub_printf(s, "gdbtp: %s\n", words);
	gtp_out_printf(&s->reply, "E01");
	return 0;
}

/* Refuse an unknown command, and list the known ones: GDB only says "Protocol error with Rcmd". */
static int refuse_unknown(struct gtp_stub *s)
{
	int err = refuse(s, "there is no such monitor command; these are all:");

	print_help(s);
	return err;
}

GTP_HANDLER(gtp_pkt_monitor)
{
	char command[COMMAND_MAX + 1];
	int err, n;

	n = gtp_hex_decode((u8 *)command, COMMAND_MAX, in->p, gtp_in_left(in));
	if (n == -E2BIG)
		return refuse(s, "no monitor command is that long; see monitor help");
	if (n < 0)
		return refuse(s, "qRcmd: the command is not in hex");
	trim(command, (u32)n);
	why->text[0] = '\0';
	err = run_command(s, command, why);
	if (!err)
		return gtp_reply_ok(s);
	if (why->text[0])
		return refuse(s, why->text);
	return err == -ENOENT ? refuse_unknown(s) : refuse(s, "the command failed");
}
