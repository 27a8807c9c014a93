// SPDX-License-Identifier: GPL-2.0-only
/*
 * The one trace session in this kernel, the kernel functions that it and its hits call, and the end
 * of a run by a hit.
 */
#include <linux/irq_work.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include "base/compat.h"
#include "base/sample.h"
#include "base/watch.h"
#include "kernel/backends.h"
#include "kernel/base/image_kernel.h"
#include "kernel/base/lock_kernel.h"
#include "kernel/base/mem_kernel.h"
#include "kernel/base/params_kernel.h"
#include "kernel/hit/access_kernel.h"
#include "kernel/hit/cpu_kernel.h"
#include "kernel/hit/hit_kernel.h"
#include "kernel/hit/stack_kernel.h"
#include "kernel/hit/ustack_kernel.h"
#include "kernel/hit/walk_kernel.h"
#include "kernel/host.h"
#include "kernel/jit/run_kernel.h"
#include "kernel/lines.h"
#include "kernel/printf.h"
#include "probe/arm.h"
#include "probe/event/event.h"
#include "probe/event/event_list.h"
#include "probe/sample/place.h"
#include "probe/user/files.h"
#include "probe/wait.h"
#include "session/dprintf.h"

struct gtp_host gtp_host;

enum {
	/*
	 * Time for which printf's text waits: a frequent probe must not wake the worker for each
	 * line.
	 */
	TEXT_DELAY_MS = 50,
	/* Delay of the next try if gtp_lock was held. */
	RETRY_MS = 5,
};

static void settle(struct work_struct *work);
static DECLARE_DELAYED_WORK(settle_work, settle);

/* 1: a hit has queued settle_work for its text, and the work has not begun to read text yet. */
static atomic_t text_asked = ATOMIC_INIT(0);

/*
 * Queue settle_work. Removing thousands of probes takes seconds: use an unbound queue, so that no
 * other work waits.
 */
static void settle_in(unsigned int ms)
{
	queue_delayed_work(gtp_unbound_wq(), &settle_work, msecs_to_jiffies(ms));
}

/*
 * Pass on the waiting lines of dprintfs. gtp_lines_drain() interrupts each CPU, and a dprintf may
 * be in the code of that interrupt. So lines that are put meanwhile wait for TEXT_DELAY_MS, like
 * lines of any other hit.
 */
void gtp_host_lines(void)
{
	switch (gtp_lines_drain(&gtp_host.trace, gtp_host.stub, gtp_host.has_room)) {
	case GTP_LINES_MORE:
		settle_in(RETRY_MS);
		break;
	case GTP_LINES_FRESH:
		settle_in(TEXT_DELAY_MS);
		break;
	case GTP_LINES_NONE:
		break;
	}
}

/* Hand over to GDB the text that hits have printed with printf and dprintf. */
static void hand_over_text(void)
{
	if (gtp_host.stub && gtp_printf_drain(&gtp_host.trace, gtp_host.stub, gtp_host.has_room))
		settle_in(TEXT_DELAY_MS);
	gtp_host_lines();
}

/* Finish a run that a hit has ended, after handing over the run's text. */
bool gtp_host_settle(void)
{
	if (!gtp_trace_settle(&gtp_host.trace))
		return false;
	hand_over_text();
	if (gtp_host.stub)
		gtp_stub_trace_ended(gtp_host.stub);
	return true;
}

static void settle(struct work_struct *work)
{
	/*
	 * Arming many probes may take a long time, and a worker that sleeps that long looks hung.
	 */
	if (!mutex_trylock(&gtp_lock)) {
		settle_in(RETRY_MS);
		return;
	}
	/* A full barrier before the text is read: later text queues the work again. */
	atomic_xchg(&text_asked, 0);
	if (!gtp_host_settle())
		hand_over_text();
	mutex_unlock(&gtp_lock);
}

/*
 * Queue settle_work from an irq_work. A hit may be anywhere, even in the scheduler with a run
 * queue's lock held, or in an NMI, where queueing work could deadlock. The interrupt that the CPU
 * sends to itself for the irq_work arrives after that.
 */
static void end_kicked(struct irq_work *work)
{
	mod_delayed_work(gtp_unbound_wq(), &settle_work, 0);
}

static void text_kicked(struct irq_work *work)
{
	settle_in(TEXT_DELAY_MS);
}

static struct irq_work end_kick = IRQ_WORK_INIT(end_kicked);
static struct irq_work text_kick = IRQ_WORK_INIT(text_kicked);

static void kick_end(void)
{
	irq_work_queue(&end_kick);
}

/*
 * Kick the worker once, and again only after the work has run. A tracepoint that prints may be in
 * the code that handles the kick: if every line kicked, each interrupt would cause the next one,
 * and its CPU would do nothing else.
 */
static void kick_text(void)
{
	if (!atomic_xchg(&text_asked, 1))
		irq_work_queue(&text_kick);
}

/* --- callbacks of hits and of the session --- */

static void host_print(void *ctx, u32 tp, const char *text, u32 len)
{
	gtp_text_put(gtp_cpu_text(this_cpu_read(gtp_this_cpu)), text, len);
	kick_text();
}

static bool host_line(void *ctx, const struct gtp_line *line, const void *text)
{
	bool taken = gtp_lines_hit(line, text);

	kick_text();
	return taken;
}

static void host_stopping(void *ctx)
{
	kick_end();
}

static const struct gtp_hit_ops hit_ops = {
	.read = gtp_access_read,
	.clock = gtp_hit_clock,
	.wall_ns = gtp_hit_wall_ns,
	.builtin = gtp_hit_builtin,
	.task = gtp_hit_task,
	.stack = gtp_stack_take,
	.ustack = gtp_ustack_begin,
	.stack_bytes = gtp_stack_bytes,
	.tsv_lock = gtp_hit_tsv_lock,
	.tsv_unlock = gtp_hit_tsv_unlock,
	.print = host_print,
	.line = host_line,
	.sdata = gtp_event_take,
	.stopping = host_stopping,
};

static u64 stacks_bytes(void *ctx)
{
	return (u64)READ_ONCE(gtp_stacks_kb) << 10;
}

static u64 wallclock_us(void *ctx)
{
	return ktime_to_us(ktime_get_real());
}

static void tell_progress(const char *what, u32 done, u32 total)
{
	if (gtp_host.stub)
		gtp_stub_progress(gtp_host.stub, what, done, total);
}

static bool host_stays(void *ctx, struct gtp_why *why)
{
	if (!gtp_wait_gave_up())
		return false;
	gtp_why(why,
		"a task has died in a kernel tracepoint, and the kernel waits for it for ever; probes of kernel tracepoints stay where they are, but do nothing, and no other can be set");
	return true;
}

static void host_progress(void *ctx, const char *what, u32 done, u32 total)
{
	gtp_progress(what, done, total);
}

static void host_tell(void *ctx, const char *text)
{
	if (gtp_host.stub)
		gtp_stub_print(gtp_host.stub, text);
}

static void file_name(u64 addr, char *buf, size_t size)
{
	const struct gtp_file_space *space = gtp_files_find(addr);

	if (space)
		snprintf(buf, size, "%s+0x%llx", kbasename(space->name), gtp_space_linked(addr));
}

static void host_name(void *ctx, u64 addr, char *buf, size_t size)
{
	if (gtp_space_is(addr)) {
		file_name(addr, buf, size);
		return;
	}
	if (gtp_sample_is(addr)) {
		gtp_sample_place_name(addr, buf, size);
		return;
	}
	if (gtp_watch_is(addr))
		addr = gtp_watch_at(addr);
	snprintf(buf, size, "%pS", (void *)addr);
	if (buf[0] == '0') /* without a symbol, %pS prints the address */
		buf[0] = '\0';
}

static int host_arm(void *ctx, struct gtp_location *loc, struct gtp_why *why)
{
	return gtp_arm(gtp_backends, loc, why);
}

static int host_arm_done(void *ctx, struct gtp_location *first, struct gtp_why *why)
{
	return gtp_arm_commit(gtp_backends, first, why);
}

static int host_widen(void *ctx, struct gtp_location *loc, struct gtp_why *why)
{
	return gtp_arm_widen(loc, why);
}

static void host_disarm(void *ctx, struct gtp_location *first)
{
	gtp_arm_disarm(gtp_backends, first);
}

static u64 host_missed(void *ctx, const struct gtp_location *loc)
{
	return gtp_arm_missed(loc);
}

static const struct gtp_target_ops target_ops = {
	.is_marker = gtp_event_is_marker,
	.arm = host_arm,
	.arm_done = host_arm_done,
	.widen = host_widen,
	.sdata = gtp_event_sdata,
	.disarm = host_disarm,
	.missed = host_missed,
	.buffers_get = gtp_buffers_get,
	.buffers_put = gtp_buffers_put,
	.buffer_alloc = gtp_buffer_alloc,
	.lines_get = gtp_lines_get,
	.between_hits = gtp_cpu_between_hits,
	.memory_most = gtp_memory_most,
	.stacks_bytes = stacks_bytes,
	.wallclock_us = wallclock_us,
	.clock_off = gtp_hit_clock_off,
	.stays = host_stays,
	.progress = host_progress,
	.tell = host_tell,
	.name = host_name,
	.code_begin = gtp_jit_code_begin,
	.code_make = gtp_jit_code_make,
	.code_make_actions = gtp_jit_code_make_actions,
	.code_end = gtp_jit_code_end,
	.code_forget = gtp_jit_code_forget,
};

/* During a run, files with call frame information stay: all hits may need it. */
static bool is_named(void *ctx, u64 first, u64 last)
{
	const struct gtp_file_space *space = gtp_files_find(first);

	if (READ_ONCE(gtp_host.trace.run.active) && (!space || space->stacks.frames.used))
		return true;
	return gtp_trace_names(&gtp_host.trace, first, last);
}

void gtp_host_forget_files(void)
{
	gtp_files_forget(is_named, NULL);
}

/* --- module init and exit --- */

int gtp_host_init(void)
{
	int err;

	gtp_walk_init();
	mutex_lock(&gtp_lock);
	gtp_progress_to(tell_progress);
	mutex_unlock(&gtp_lock);
	err = gtp_trace_init(&gtp_host.trace, &gtp_mem, &target_ops, &hit_ops, NULL);
	gtp_host.trace.text_start = gtp_image_text();
	gtp_host.trace.build_id = gtp_image_build_id();
	return err;
}

void gtp_host_stop(void)
{
	/*
	 * Hits on other CPUs and the work may still be running. When the run is stopped, no hit
	 * runs any more, so nothing queues the two irq_works below any more.
	 */
	mutex_lock(&gtp_lock);
	gtp_dprintf_clear(&gtp_host.trace, true);
	gtp_trace_stop(&gtp_host.trace, GTP_STOP_USER);
	mutex_unlock(&gtp_lock);

	/*
	 * The last kick may be about to queue the work. Wait for the kicks first; after that
	 * nothing queues the work.
	 */
	irq_work_sync(&end_kick);
	irq_work_sync(&text_kick);
	cancel_delayed_work_sync(&settle_work);
}

void gtp_host_exit(void)
{
	gtp_trace_exit(&gtp_host.trace);
	gtp_lines_exit();
}
