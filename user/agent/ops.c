// SPDX-License-Identifier: GPL-2.0-only
/* The functions that hits in a process need. They call nothing outside of the agent. */
#include <asm/unistd.h>

#include "aggregate/tasks.h"
#include "base/cpu.h"
#include "user/agent/inside.h"

/*
 * A thread holds the lock for the time of one expression, but it may lose its processor meanwhile.
 * These tries take some milliseconds. After such a failure hits try for microseconds only, until
 * one succeeds.
 */
enum { TRIES_LONG = 1 << 17, TRIES_SHORT = 1 << 9 };

static struct gtp_agent_shared *shared(void)
{
	return gtp_agent_data;
}

static u64 clock_ns(void *ctx)
{
	return gtp_calibration_ns(&shared()->clock, gtp_read_tsc());
}

static u64 wall_ns(void *ctx)
{
	return clock_ns(ctx) + READ_ONCE(shared()->wall);
}

static s64 get_tid(void)
{
	s64 tid;

	__asm__ volatile("syscall" : "=a"(tid) : "a"(__NR_gettid) : "rcx", "r11", "memory");
	return tid;
}

static s64 thread_id(void)
{
	const struct gtp_agent_shared *s = shared();

	if (s->tid_at)
		return *(const s32 *)(unsigned long)(gtp_agent_key() + (u64)s->tid_at);
	return gtp_agent_may_call(s) ? get_tid() : 0;
}

static s64 builtin(void *ctx, enum gtp_tsv_builtin which, u32 entered)
{
	switch (which) {
	case GTP_TSV_CURRENT_TASK:
		return (s64)gtp_agent_key();
	case GTP_TSV_CURRENT_TASK_PID:
		return thread_id();
	case GTP_TSV_CURRENT_TASK_USER:
		return 1;
	case GTP_TSV_RDTSC:
		return (s64)gtp_read_tsc();
	case GTP_TSV_CPU_NUMBER:
		return shared()->nparts;
	default:
		return 0;
	}
}

/* There are no stacks yet: the host refuses expressions that use one. */
static u32 no_stack(void *ctx, struct gtp_walk *walk, const struct gtp_regs *regs, u64 pc, u64 *to,
		    u32 max)
{
	*to = GTP_STACKS_LOST;
	return 1;
}

static void no_ustack(void *ctx, const struct gtp_regs *regs, struct gtp_ustack_from *from)
{
	*from = (struct gtp_ustack_from){ 0 };
}

static u32 no_stack_bytes(void *ctx, const struct gtp_regs *regs, u64 pc)
{
	return 0;
}

/* Hits of one thread do not nest, so no thread waits for itself. */
static bool tsv_lock(void *ctx, unsigned long *flags)
{
	struct gtp_agent_shared *s = shared();
	u32 tries = unlikely(READ_ONCE(s->tsv_stuck)) ? TRIES_SHORT : TRIES_LONG;

	while (unlikely(!gtp_claim(&s->tsv_lock))) {
		if (!--tries) {
			WRITE_ONCE(s->tsv_stuck, true);
			return false;
		}
		__builtin_ia32_pause();
	}
	if (unlikely(READ_ONCE(s->tsv_stuck)))
		WRITE_ONCE(s->tsv_stuck, false);
	return true;
}

static void tsv_unlock(void *ctx, unsigned long flags)
{
	gtp_publish(&shared()->tsv_lock, 0);
}

static void print(void *ctx, u32 tp, const char *text, u32 len)
{
	gtp_fetch_add(&shared()->no_text, 1);
}

static bool line(void *ctx, const struct gtp_line *line, const void *text)
{
	struct gtp_lines *lines = shared()->part[line->cpu]->lines;

	return lines && gtp_lines_put(lines, line, text);
}

static void stopping(void *ctx)
{
	WRITE_ONCE(shared()->stopping, 1);
}

/*
 * Variables of tasks. The host refuses them, because their counters would be data of the image; but
 * hit/variable.c names these functions.
 */
s64 gtp_tasks_get(const struct gtp_tasks *t, u64 task, u64 born)
{
	return 0;
}

void gtp_tasks_set(struct gtp_tasks *t, u64 task, u64 born, s64 value)
{
}

const struct gtp_hit_ops gtp_agent_hit_ops = {
	.read = gtp_agent_read,
	.clock = clock_ns,
	.wall_ns = wall_ns,
	.builtin = builtin,
	.stack = no_stack,
	.ustack = no_ustack,
	.stack_bytes = no_stack_bytes,
	.tsv_lock = tsv_lock,
	.tsv_unlock = tsv_unlock,
	.print = print,
	.line = line,
	.stopping = stopping,
};
