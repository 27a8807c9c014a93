// SPDX-License-Identifier: GPL-2.0-only
/* The fake machine's callbacks, in place of those by which the module uses the kernel. */
#include <assert.h>
#include <stdlib.h>
#include "fake_target.h"
#include "hit/hit.h"

/* --- memory of the session --- */

static void *fake_alloc(void *ctx, size_t bytes)
{
	struct fake *f = ctx;
	void *p;

	if (++f->allocs == f->fail_alloc)
		return NULL;
	p = f->obtain ? f->obtain(bytes) : calloc(1, bytes ? bytes : 1);
	assert(p);
	f->live++;
	return p;
}

static void fake_free(void *ctx, void *p)
{
	struct fake *f = ctx;

	if (p)
		f->live--;
	(f->give ? f->give : free)(p);
}

/* --- memory of the machine --- */

static struct fake_map *map_at(struct fake *f, u64 addr)
{
	struct fake_map *m;

	for (m = f->maps; m; m = m->next)
		if (addr - m->addr < m->len)
			return m;
	return NULL;
}

u8 *fake_map(struct fake *f, u64 addr, const void *bytes, u32 len)
{
	struct fake_map *m = calloc(1, sizeof(*m) + len);

	assert(m);
	m->addr = addr;
	m->len = len;
	if (bytes)
		memcpy(m->bytes, bytes, len);
	m->next = f->maps;
	f->maps = m;
	return m->bytes;
}

void fake_unmap(struct fake *f, u64 addr)
{
	struct fake_map **at;

	for (at = &f->maps; *at; at = &(*at)->next) {
		if ((*at)->addr == addr) {
			struct fake_map *m = *at;

			*at = m->next;
			free(m);
			return;
		}
	}
	assert(!"nothing is mapped there");
}

static u8 *byte_at(struct fake *f, u64 addr)
{
	struct fake_map *m = map_at(f, addr);

	return m ? m->bytes + (addr - m->addr) : NULL;
}

int fake_read(void *ctx, void *dst, u64 addr, u32 len)
{
	struct fake *f = ctx;
	/* clang-format off */
	void (*interrupt)(struct fake *f) = f->while_reading;
	/* clang-format on */
	u32 i;

	if (interrupt) {
		f->while_reading = NULL;
		interrupt(f);
	}
	for (i = 0; i < len; i++)
		if (!byte_at(f, addr + i))
			return -EFAULT;
	for (i = 0; i < len; i++)
		((u8 *)dst)[i] = *byte_at(f, addr + i);
	return 0;
}

int fake_write(void *ctx, u64 addr, const void *src, u32 len)
{
	struct fake *f = ctx;
	u32 i;

	for (i = 0; i < len; i++)
		if (!byte_at(f, addr + i))
			return -EFAULT;
	for (i = 0; i < len; i++)
		*byte_at(f, addr + i) = ((const u8 *)src)[i];
	return 0;
}

/* --- log --- */

void fake_note(char *log, const char *fmt, ...)
{
	size_t len = strlen(log);
	va_list args;

	va_start(args, fmt);
	vsnprintf(log + len, FAKE_LOG_MAX - len, fmt, args);
	va_end(args);
}

void fake_log_clear(struct fake *f)
{
	f->log[0] = '\0';
	f->told[0] = '\0';
	f->printed[0] = '\0';
}

/* --- target --- */

/* Arm a location: set its @probe to the machine. */
static int arm(void *ctx, struct gtp_location *loc, struct gtp_why *why)
{
	struct fake *f = ctx;

	assert(!loc->probe);
	if (loc->addr == f->refuse_arm && (f->beside || !f->refuse_beside)) {
		gtp_why(why, "no probe");
		return -EINVAL;
	}
	if (loc->kind == GTP_LOCATION_EVENT && loc->addr != f->marker) {
		gtp_why(why, "there is no kernel tracepoint");
		return -ENOENT;
	}
	if (loc->fast_only && loc->addr != f->jump) {
		loc->no_jump = "control may arrive";
		gtp_why(why, "it cannot be fast: %s; use trace, not ftrace", loc->no_jump);
		return -EOPNOTSUPP;
	}
	fake_note(f->log, "%s %llx\n", "arm", loc->addr);
	loc->probe = f;
	f->beside |= loc->addr == f->refuse_beside;
	loc->probe_kind = "fake";
	loc->no_room = f->armed >= f->room;
	loc->fast = f->jump && loc->addr == f->jump;
	loc->no_jump = loc->fast ? NULL : "control may arrive";
	f->armed++;
	if (f->while_arming)
		f->while_arming(f, loc);
	return 0;
}

static void disarm(void *ctx, struct gtp_location *first)
{
	struct fake *f = ctx;
	struct gtp_location *loc;

	for (loc = first; loc; loc = loc->next) {
		if (gtp_location_is_refused(loc) || !loc->probe)
			continue;
		assert(loc->probe == f);
		if (f->while_disarming)
			f->while_disarming(f, loc);
		fake_note(f->log, "%s %llx\n", "disarm", loc->addr);
		loc->probe = NULL;
		f->beside &= loc->addr != f->refuse_beside;
		loc->missed += f->missed;
		f->armed--;
	}
}

static u64 missed(void *ctx, const struct gtp_location *loc)
{
	const struct fake *f = ctx;

	return loc->missed + (loc->probe ? f->missed : 0);
}

static void buffers_put(void *ctx, struct gtp_cpu **cpus, u32 ncpus)
{
	struct fake *f = ctx;
	u32 i;

	assert(!f->armed);
	fake_note(f->log, "free\n");
	for (i = 0; i < ncpus; i++) {
		if (cpus[i]) {
			fake_free(f, cpus[i]->stat);
			fake_free(f, cpus[i]->buf.mem);
		}
		fake_free(f, cpus[i]);
	}
	fake_free(f, cpus);
}

static struct gtp_cpu *cpu_new(struct fake *f, u32 id, u32 bytes, bool circular, u32 nslots)
{
	struct gtp_cpu *cpu = fake_alloc(f, sizeof(*cpu));
	void *mem;

	if (!cpu)
		return NULL;
	cpu->id = id;
	cpu->stat = fake_alloc(f, gtp_hit_stat_bytes(nslots));
	mem = cpu->stat ? fake_alloc(f, bytes) : NULL;
	if (!mem) {
		fake_free(f, cpu->stat);
		fake_free(f, cpu);
		return NULL;
	}
	gtp_buffer_init(&cpu->buf, mem, bytes, circular);
	return cpu;
}

static int buffers_get(void *ctx, u64 bytes, bool circular, u32 nslots, struct gtp_cpu ***cpus,
		       u32 *ncpus, struct gtp_why *why)
{
	struct fake *f = ctx;
	u32 each = (u32)(bytes / f->ncpus) & ~7U;
	struct gtp_cpu **all = NULL;
	u32 i;

	fake_note(f->log, "buffers %llu %s\n", bytes, circular ? "circular" : "linear");
	if (!bytes)
		each = FAKE_CPU_BYTES;
	if (each < GTP_BUFFER_MIN)
		each = GTP_BUFFER_MIN;
	if (bytes <= FAKE_BYTES_MAX)
		all = fake_alloc(f, f->ncpus * sizeof(struct gtp_cpu *));
	for (i = 0; all && i < f->ncpus; i++) {
		all[i] = cpu_new(f, i, each, circular, nslots);
		if (!all[i]) {
			buffers_put(f, all, i);
			all = NULL;
		}
	}
	if (!all) {
		gtp_why(why, "no memory for trace buffers");
		return -ENOMEM;
	}
	*cpus = all;
	*ncpus = f->ncpus;
	return 0;
}

static void *buffer_alloc(void *ctx, const struct gtp_cpu *cpu, u32 bytes)
{
	return fake_alloc(ctx, bytes);
}

static int arm_done(void *ctx, struct gtp_location *first, struct gtp_why *why)
{
	struct fake *f = ctx;
	struct gtp_location *loc;

	for (loc = first; loc; loc = loc->next) {
		if (loc->addr != f->refuse_done || gtp_location_is_refused(loc))
			continue;
		gtp_why(&loc->refused, "overwritten");
		loc->probe = NULL;
		f->armed--;
	}
	return 0;
}

static void tell(void *ctx, const char *text)
{
	struct fake *f = ctx;

	fake_note(f->told, "%s", text);
	if (f->while_telling)
		f->while_telling(f, text);
}

static void name(void *ctx, u64 addr, char *buf, size_t size)
{
	if (addr == 0x3000)
		snprintf(buf, size, "f+0x1/0x2");
}

static int lines_get(void *ctx, struct gtp_why *why)
{
	struct fake *f = ctx;
	u32 i;

	for (i = 0; i < f->ncpus; i++) {
		if (!f->lines[i])
			f->lines[i] = fake_alloc(f, sizeof(*f->lines[i]));
		if (!f->lines[i]) {
			gtp_why(why, "no memory for lines");
			return -ENOMEM;
		}
	}
	return 0;
}

static void between_hits(void *ctx, struct gtp_cpu *cpu, void (*fn)(void *arg), void *arg)
{
	struct fake *f = ctx;

	if (f->while_exchanging)
		f->while_exchanging(f, cpu);
	fn(arg);
}

static u64 memory_most(void *ctx)
{
	return ((struct fake *)ctx)->memory_most;
}

static u64 wallclock_us(void *ctx)
{
	return ((struct fake *)ctx)->wall_us;
}

static bool is_marker(void *ctx, u64 addr)
{
	return addr && addr == ((const struct fake *)ctx)->marker;
}

static int sdata(void *ctx, struct gtp_location *loc, struct gtp_why *why)
{
	static const char text[] = "gtp_target:gtp_target_many\n0 8 0 head u64\n8 4 1 a int\n";
	struct gtp_sdata_format *format = fake_alloc(ctx, sizeof(*format) + sizeof(text));

	if (!format) {
		gtp_why(why, "no memory for the description");
		return -ENOMEM;
	}
	format->addr = loc->addr;
	format->len = sizeof(text) - 1;
	memcpy(format->text, text, sizeof(text) - 1);
	loc->format = format;
	return 0;
}

const struct gtp_target_ops fake_target_ops = {
	.is_marker = is_marker,
	.arm = arm,
	.arm_done = arm_done,
	.tell = tell,
	.name = name,
	.sdata = sdata,
	.disarm = disarm,
	.missed = missed,
	.buffers_get = buffers_get,
	.buffers_put = buffers_put,
	.buffer_alloc = buffer_alloc,
	.lines_get = lines_get,
	.between_hits = between_hits,
	.memory_most = memory_most,
	.stacks_bytes = fake_stacks_bytes,
	.wallclock_us = wallclock_us,
};

/* --- hits --- */

static u64 hit_clock(void *ctx)
{
	struct fake *f = ctx;

	return f->clock += f->clock_step;
}

static u64 wall_ns(void *ctx)
{
	struct fake *f = ctx;

	f->wall_reads++;
	return f->wall_us * 1000 + f->wall_reads;
}

/* The value of most variables is a number that identifies the variable. */
static s64 builtin(void *ctx, enum gtp_tsv_builtin which, u32 entered)
{
	struct fake *f = ctx;

	switch (which) {
	case GTP_TSV_CURRENT_TASK:
		return (s64)f->task;
	case GTP_TSV_CURRENT_TASK_PID:
		return f->pid;
	case GTP_TSV_HARDIRQ_COUNT:
		return f->contexts - entered;
	default:
		return 0x1000 + which;
	}
}

static bool tsv_lock(void *ctx, unsigned long *flags)
{
	struct fake *f = ctx;

	if (f->tsv_stuck)
		return false;
	assert(!f->tsv_locked);
	f->tsv_locked = ++f->tsv_locks;
	*flags = 0x10cced;
	return true;
}

static void tsv_unlock(void *ctx, unsigned long flags)
{
	struct fake *f = ctx;

	assert(f->tsv_locked && flags == 0x10cced);
	f->tsv_locked = false;
}

static void print(void *ctx, u32 tp, const char *text, u32 len)
{
	fake_note(((struct fake *)ctx)->printed, "%u %.*s\n", tp, (int)len, text);
}

static bool line(void *ctx, const struct gtp_line *head, const void *text)
{
	struct fake *f = ctx;

	assert(head->cpu == f->cpu);
	return gtp_lines_put(f->lines[head->cpu], head, text);
}

static void stopping(void *ctx)
{
	((struct fake *)ctx)->stopping++;
}

static int take_sdata(void *ctx, const struct gtp_location *loc, const struct gtp_regs *regs,
		      struct gtp_buffer *buf)
{
	u8 record[12] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	assert(loc->kind == GTP_LOCATION_EVENT);
	/* For this value of rsi, the fake machine makes no record. */
	if (regs->rsi == 404)
		return -ENODATA;
	gtp_put_le(record + 8, regs->rsi, 4);
	return gtp_buffer_add_static(buf, record, sizeof(record), NULL);
}

const struct gtp_hit_ops fake_hit_ops = {
	.sdata = take_sdata,
	.read = fake_read,
	.clock = hit_clock,
	.wall_ns = wall_ns,
	.builtin = builtin,
	.task = fake_task,
	.stack = fake_stack,
	.ustack = fake_ustack,
	.stack_bytes = fake_stack_bytes,
	.tsv_lock = tsv_lock,
	.tsv_unlock = tsv_unlock,
	.print = print,
	.line = line,
	.stopping = stopping,
};

struct gtp_location *fake_armed(struct fake *f, u64 addr)
{
	const struct gtp_dprintf *dp;
	struct gtp_location *loc;

	for (loc = f->trace.locs; loc; loc = loc->next)
		if (loc->addr == addr && loc->kind != GTP_LOCATION_RETURN && loc->probe)
			return loc;
	for (dp = f->trace.dprintfs.list; dp; dp = dp->next)
		if (dp->own && dp->addr == addr && dp->own->probe)
			return dp->own;
	return NULL;
}

void fake_hit(const struct gtp_location *loc, struct gtp_cpu *cpu, const struct gtp_regs *regs,
	      u32 entered)
{
	enum gtp_early early = gtp_hit_early(loc->first, cpu, regs);

	if (early == GTP_EARLY_OPEN)
		gtp_hit(loc->first, cpu, regs, entered);
	else if (early == GTP_EARLY_HOLDS)
		gtp_hit_held(loc->first, cpu, regs, entered);
}

bool fake_fire(struct fake *f, u64 addr, const struct gtp_regs *regs)
{
	struct gtp_location *loc = fake_armed(f, addr);

	assert(f->cpu < f->ncpus);
	if (!loc)
		return false;
	fake_hit(loc, f->trace.run.cpus[f->cpu], regs, f->entered);
	return true;
}

bool fake_call(struct fake *f, u64 addr, u32 nargs, const u64 *args)
{
	struct gtp_regs regs = { .rip = addr + 1, .cs = 0x10, .ss = 0x18, .eflags = 0x246 };
	u64 *const in[] = { &regs.rdi, &regs.rsi, &regs.rdx, &regs.rcx, &regs.r8, &regs.r9 };
	u32 i;

	assert(nargs <= ARRAY_SIZE(in));
	for (i = 0; i < nargs; i++)
		*in[i] = args[i];
	return fake_fire(f, addr, &regs);
}

/* --- short forms of definitions and results --- */

const char *fake_lines(struct fake *f)
{
	static char text[FAKE_LOG_MAX];
	struct gtp_lines *r;

	text[0] = '\0';
	while ((r = gtp_lines_oldest(f->lines, FAKE_CPUS_MAX, U64_MAX))) {
		const struct gtp_line *head = gtp_lines_first(r);
		const void *from = head + 1;
		char words[128];

		if (head->failed)
			ax_error_format(from, words, sizeof(words));
		fake_note(text, "%llx cpu %u pid %d ", head->addr, head->cpu, head->pid);
		if (head->failed)
			fake_note(text, "failed: %s\n", words);
		else
			fake_note(text, "%.*s", (int)head->len, (const char *)from);
		gtp_lines_next(r);
	}
	return text;
}

struct gtp_tracepoint *fake_define(struct fake *f, const char *def, const char *acts)
{
	struct gtp_tracepoint *tp = NULL;
	struct gtp_why why = { "" };
	char text[1024];
	int rc;

	snprintf(text, sizeof(text), "%s%s", def, acts ? "-" : "");
	rc = gtp_tracepoint_define(&f->trace.tps, &f->mem, text, &tp, &why);
	if (!rc && acts) {
		snprintf(text, sizeof(text), "%x:%llx:%s", tp->num, tp->addr, acts);
		rc = gtp_tracepoint_add_actions(&f->trace.tps, &f->mem, text, &why);
	}
	if (rc)
		fprintf(stderr, "%s %s: %s\n", def, acts ? acts : "", why.text);
	assert(!rc);
	return tp;
}

const char *fake_status(struct fake *f)
{
	static char text[4096];
	int len = gtp_trace_status(&f->trace, text, sizeof(text));

	assert(len == (int)strlen(text));
	return text;
}

/* --- the machine --- */

int fake_init(struct fake *f)
{
	memset(f, 0, sizeof(*f));
	f->mem = (struct gtp_mem){ fake_alloc, fake_free, f };
	f->ncpus = 1;
	f->room = ~0U;
	f->memory_most = ~0ULL;
	f->clock = 1000;
	f->clock_step = 1;
	f->wall_us = 1700000000000000;
	f->task = 0xffff888000123400;
	f->pid = 42;
	return gtp_trace_init(&f->trace, &f->mem, &fake_target_ops, &fake_hit_ops, f);
}

int fake_exit(struct fake *f)
{
	f->fail_alloc = 0;
	gtp_trace_exit(&f->trace);
	for (u32 i = 0; i < FAKE_CPUS_MAX; i++)
		fake_free(f, f->lines[i]);
	while (f->maps)
		fake_unmap(f, f->maps->addr);
	return f->live + (int)f->armed;
}
