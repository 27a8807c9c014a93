// SPDX-License-Identifier: GPL-2.0-only
/* Reads and sets trace state variables at a hit. */
#include "aggregate/pair.h"
#include "aggregate/table.h"
#include "hit/variable.h"

/*
 * Return the number of the hit's kernel stack. If a sample has interrupted a program, there is no
 * such stack, and a word that says so takes its place. The session makes sure that there is a table
 * of stacks, but a hit does not rely on that.
 */
static u32 look_up_stack(const struct gtp_cpu *cpu)
{
	const struct gtp_run *run = cpu->run;
	u64 *pc;
	u32 n;

	if (unlikely(!run->stacks))
		return 0;
	pc = gtp_stacks_scratch(run->stacks, cpu->id);
	if (gtp_sample_is(cpu->tp->addr) && gtp_regs_in_user(cpu->env.regs)) {
		*pc = gtp_ustack_tag(0, GTP_USTACK_IN_PROGRAM);
		return gtp_stacks_put(run->stacks, pc, 1);
	}
	n = run->hit_ops->stack(run->ctx, run->stacks->walk, cpu->env.regs, gtp_hit_pc(cpu), pc,
				GTP_STACKS_TAKE);
	return gtp_stacks_put(run->stacks, pc, n);
}

static u32 look_up_ustack(const struct gtp_cpu *cpu)
{
	const struct gtp_run *run = cpu->run;
	struct gtp_ustack_from from;
	bool cut;
	u64 *pc;
	u32 n;

	if (unlikely(!run->stacks))
		return 0;
	pc = gtp_stacks_scratch(run->stacks, cpu->id);
	run->hit_ops->ustack(run->ctx, cpu->env.regs, &from);
	n = gtp_ustack_take(&from, run->hit_ops->read, run->ctx, pc, &cut);
	if (unlikely(cut))
		gtp_fetch_add(&run->stacks->cut, 1);
	return gtp_stacks_put(run->stacks, pc, n);
}

/*
 * Return the value of $kstack. A hit takes its stack only once, however often its expressions use
 * $kstack: the bytecode for a single "collect $kstack" already uses it twice, as it reads the
 * variable and then collects it. Not inline, so that other variables save no registers for it.
 */
static noinline s64 stack_number(struct gtp_cpu *cpu)
{
	if (!(cpu->in_hit & GTP_HIT_KSTACK)) {
		cpu->kstack = look_up_stack(cpu);
		WRITE_ONCE(cpu->in_hit, cpu->in_hit | GTP_HIT_KSTACK);
	}
	return cpu->kstack;
}

static noinline s64 ustack_number(struct gtp_cpu *cpu)
{
	if (!(cpu->in_hit & GTP_HIT_USTACK)) {
		cpu->ustack = look_up_ustack(cpu);
		WRITE_ONCE(cpu->in_hit, cpu->in_hit | GTP_HIT_USTACK);
	}
	return cpu->ustack;
}

static noinline s64 stack_bytes(struct gtp_cpu *cpu)
{
	const struct gtp_run *run = cpu->run;

	return run->hit_ops->stack_bytes(run->ctx, cpu->env.regs, gtp_hit_pc(cpu));
}

/* $bt does not record the flags, because a pad with a condition need not preserve them. */
static const u64 regs_for_backtrace = GTP_REGS_KNOWN & ~BIT_ULL(GTP_REG_FLAGS);

int gtp_hit_add_stack(struct gtp_cpu *cpu)
{
	const struct gtp_run *run = cpu->run;
	const struct gtp_regs *regs = cpu->env.regs;
	s64 bytes = stack_bytes(cpu);
	int rc = gtp_buffer_add_regs(&cpu->buf, regs, gtp_hit_pc(cpu), regs_for_backtrace);

	if (!rc)
		rc = gtp_buffer_add_mem(&cpu->buf, gtp_regs_stack(regs), (u64)bytes,
					run->hit_ops->read, run->ctx);
	if (rc == -EFAULT) {
		bytes = 0;
		rc = 0;
	}
	return rc ? rc : gtp_buffer_add_var(&cpu->buf, GTP_TSV_BT, bytes);
}

/* Return the time in ns. Not inline, so that other variables save no registers for it. */
static noinline s64 clock_ns(struct gtp_cpu *cpu)
{
	return (s64)gtp_hit_time_ns(cpu);
}

/*
 * Return the time of day, read once for the whole hit: its seconds and nanoseconds must belong to
 * one moment.
 */
static noinline s64 wall_ns(struct gtp_cpu *cpu)
{
	u64 time = gtp_hit_time(cpu);

	if (cpu->wall_at != time) {
		cpu->wall = cpu->run->hit_ops->wall_ns(cpu->run->ctx);
		cpu->wall_at = time;
	}
	return (s64)cpu->wall;
}

static s64 builtin(struct gtp_cpu *cpu, enum gtp_tsv_builtin which)
{
	return cpu->run->hit_ops->builtin(cpu->run->ctx, which, cpu->env.entered);
}

s64 gtp_hit_task_value(const struct gtp_run *run, u16 num)
{
	const struct gtp_tasks *tasks = run->tsvs.slot[num]->tasks;
	u64 born, task;

	if (unlikely(!tasks))
		return 0;
	task = run->hit_ops->task(run->ctx, &born);
	return gtp_tasks_get(tasks, task, born);
}

/* Set the current task's value. Not inline, so that other variables need no stack memory for it. */
static noinline void set_task(struct gtp_cpu *cpu, u16 num, s64 value)
{
	const struct gtp_run *run = cpu->run;
	struct gtp_tasks *tasks = run->tsvs.slot[num]->tasks;
	u64 born, task;

	if (unlikely(!tasks))
		return;
	task = run->hit_ops->task(run->ctx, &born);
	gtp_tasks_set(tasks, task, born, value);
}

/* Run control has checked that the variable exists. */
s64 gtp_hit_getv(void *ctx, u16 num)
{
	struct gtp_cpu *cpu = ctx;

	switch (num) {
	case GTP_TSV_CPU_ID:
		return cpu->id;
	case GTP_TSV_CLOCK:
		return clock_ns(cpu);
	case GTP_TSV_CURRENT_TASK:
	case GTP_TSV_CURRENT_TASK_PID:
	case GTP_TSV_HARDIRQ_COUNT:
	case GTP_TSV_SOFTIRQ_COUNT:
	case GTP_TSV_IRQ_COUNT:
	case GTP_TSV_CURRENT_TASK_USER:
	case GTP_TSV_TASK_PT_REGS:
	case GTP_TSV_RDTSC:
	case GTP_TSV_CPU_NUMBER:
		return builtin(cpu, num);
	case GTP_TSV_RET:
	case GTP_TSV_KRET:
	case GTP_TSV_LATENCY:
	case GTP_TSV_ENTRY_CLOCK:
	case GTP_TSV_WATCH_ADDR:
	case GTP_TSV_WATCH_VAL:
	case GTP_TSV_WATCH_PREV_VAL:
		return (s64)cpu->local[num];
	case GTP_TSV_XTIME_SEC:
		return wall_ns(cpu) / GTP_NS_PER_SEC;
	case GTP_TSV_XTIME_NSEC:
		return wall_ns(cpu) % GTP_NS_PER_SEC;
	case GTP_TSV_SELF_TRACE:
		return 1;
	case GTP_TSV_KSTACK:
		return stack_number(cpu);
	case GTP_TSV_USTACK:
		return ustack_number(cpu);
	case GTP_TSV_BT:
		return stack_bytes(cpu);
	default:
		if (cpu->run->tsvs.ways[num] == AX_TSV_LOCAL)
			return (s64)cpu->local[num];
		if (cpu->run->tsvs.ways[num] == AX_TSV_TASK)
			return gtp_hit_task_value(cpu->run, num);
		return READ_ONCE(cpu->run->tsvs.slot[num]->value);
	}
}

static int read_text(struct gtp_cpu *cpu, void *dst, u64 addr, u32 len)
{
	return cpu->run->hit_ops->read(cpu->run->ctx, dst, addr, len);
}

/* Copy the string with its NUL, as far as it can be read, and fill the rest with zeroes. */
static void copy_string(struct gtp_cpu *cpu, char *text, u64 addr)
{
	u32 len = GTP_AGGR_STRING, n;

	if (read_text(cpu, text, addr, GTP_AGGR_STRING)) {
		/* The page after the string may not be mapped. */
		for (len = 0; len < GTP_AGGR_STRING; len++)
			if (read_text(cpu, text + len, addr + len, 1) || !text[len])
				break;
		if (!len && read_text(cpu, text, addr, 1)) {
			memcpy(text, "<bad address>\0\0", GTP_AGGR_STRING);
			return;
		}
	}
	n = (u32)strnlen(text, len);
	memset(text + n, 0, GTP_AGGR_STRING - n);
}

/* Store a string key. Not inline, so that other variables need no stack memory for it. */
static noinline void set_string(struct gtp_cpu *cpu, u16 num, u64 addr)
{
	union {
		char text[GTP_AGGR_STRING];
		u64 word[GTP_AGGR_STRING / 8];
	} key;

	copy_string(cpu, key.text, addr);
	cpu->local[num] = key.word[0];
	cpu->local[GTP_TSV_SECOND + num] = key.word[1];
}

/*
 * Update an aggregation. There may be no table: a dprintf can outlive the run that had the
 * aggregation.
 */
static void update(struct gtp_cpu *cpu, u16 num, s64 value)
{
	u64 table = cpu->local[GTP_TSV_TABLE + num];

	if (table)
		gtp_aggr_update((struct gtp_aggr_table *)(unsigned long)table, cpu->local, value);
}

/* Start or end a pair. Machine code calls this only if it cannot do so by itself. */
bool gtp_hit_pair(void *ctx, u16 num, u64 key)
{
	struct gtp_cpu *cpu = ctx;
	struct gtp_pair *pair = (void *)(unsigned long)cpu->local[GTP_TSV_TABLE + num];
	bool found = false;

	if (pair && cpu->run->tsvs.ways[num] == AX_TSV_START) {
		gtp_pair_start(pair, cpu->id, key, gtp_hit_time_ns(cpu), cpu->local);
		return false;
	}
	if (pair)
		found = gtp_pair_end(pair, cpu->id, key, gtp_hit_time_ns(cpu), cpu->local);
	if (!found)
		cpu->leave_out = true;
	return !found;
}

static bool is_meant(const struct gtp_tracepoint *tp, u64 num)
{
	return !num || tp->num == num;
}

static bool switch_in(struct gtp_tracepoint *const *bucket, u64 num, bool on)
{
	struct gtp_tracepoint *tp;
	bool any = false;

	for (tp = gtp_acquire(bucket); tp; tp = tp->next_run) {
		if (!is_meant(tp, num))
			continue;
		WRITE_ONCE(tp->on, on);
		any = true;
	}
	return any;
}

/* Switch the run's tracepoints with the number @num, or all if @num is 0. Needs no lock. */
static void switch_tracepoints(struct gtp_cpu *cpu, u64 num, bool on)
{
	struct gtp_tracepoint *const *by_num = cpu->run->by_num;

	if (num) {
		if (!switch_in(&by_num[num % GTP_RUN_BUCKETS], num, on))
			cpu->no_target++;
		return;
	}
	for (u32 i = 0; i < GTP_RUN_BUCKETS; i++)
		switch_in(&by_num[i], 0, on);
}

/*
 * Handle the setting of $enable, $disable or a similar variable. Setting $self_trace has no effect
 * at a hit; naming it in an expression is enough.
 */
static noinline void set_switch(struct gtp_cpu *cpu, u16 num, u64 value)
{
	if (num != GTP_TSV_SELF_TRACE)
		switch_tracepoints(cpu, value, num == GTP_TSV_ENABLE);
}

void gtp_hit_setv(void *ctx, u16 num, s64 value)
{
	struct gtp_cpu *cpu = ctx;
	enum ax_tsv_way way = cpu->run->tsvs.ways[num];

	if (likely(way == AX_TSV_CALL || way == AX_TSV_ADDED)) {
		WRITE_ONCE(cpu->run->tsvs.slot[num]->value, value);
		return;
	}
	if (way == AX_TSV_LOCAL)
		WRITE_ONCE(cpu->local[num], (u64)value);
	else if (way == AX_TSV_STRING)
		set_string(cpu, num, (u64)value);
	else if (way == AX_TSV_SWITCH)
		set_switch(cpu, num, (u64)value);
	else if (way == AX_TSV_START || way == AX_TSV_END)
		gtp_hit_pair(cpu, num, (u64)value);
	else if (way == AX_TSV_TASK)
		set_task(cpu, num, value);
	else
		update(cpu, num, value);
}

/* Called only for variables whose access is AX_TSV_ADDED. */
s64 gtp_hit_addv(void *ctx, u16 num, s64 by)
{
	struct gtp_tsv *tsv = ((struct gtp_cpu *)ctx)->run->tsvs.slot[num];

	return (s64)((u64)gtp_fetch_add(&tsv->value, by) + (u64)by);
}
