// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gets $_sdata, the record that an event's own function makes, from ftrace at the hit.
 *
 * The event's function writes into an ftrace instance of ours, in which no event is ever enabled,
 * so nothing but our calls writes there. ftrace passes every record of every instance to all
 * registered exports, on the same CPU, before the function returns: our export copies it into the
 * frame. The export also gets the records of other instances. Our record is the one that arrives
 * while our call runs on this CPU.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/preempt.h>
#include <linux/trace.h>
#include <asm/processor-flags.h>

#include "base/compat.h"
#include "kernel/hit/access_kernel.h"
#include "probe/event/event_data.h"
#include "probe/event/event_record.h"

#define INSTANCE "gdbtp"

/**
 * struct capture - one CPU's call of an event's function, which makes a record
 * @buf: receives the record; NULL: no call is in progress on this CPU
 * @regs: the registers at the hit that makes the call
 * @type: the number of the event
 * @context: the bits of preempt_count() for interrupt, softirq and NMI; a record made in another
 * context is not ours
 * @result: 0 once the record is in the frame
 * @copy: the record's copy in the frame
 */
struct capture {
	struct gtp_buffer *buf;
	const struct gtp_regs *regs;
	u32 context;
	u16 type;
	int result;
	u8 *copy;
};

static DEFINE_PER_CPU(struct capture, capture);

static struct trace_array *instance;
static u32 users;

static u32 context_now(void)
{
	return preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_MASK);
}

/*
 * Clear the record's flag for disabled interrupts: the hit disabled them, and at the tracepoint
 * they were on.
 */
static void clear_irqs_off(u8 *record)
{
	struct trace_entry *entry = (struct trace_entry *)record;

	entry->flags &= ~TRACE_FLAG_IRQS_OFF;
}

static void keep(struct capture *c, const void *record, u32 size)
{
	c->result = gtp_buffer_add_static(c->buf, record, size, &c->copy);
	if (likely(!c->result) && c->regs->eflags & X86_EFLAGS_IF)
		clear_irqs_off(c->copy);
	c->buf = NULL;
}

/* Copy our record; ftrace calls this for every record of every instance, with preemption off. */
static void seen(struct trace_export *export, const void *record, unsigned int size)
{
	struct capture *c = this_cpu_ptr(&capture);
	const struct trace_entry *entry = record;

	if (c->buf && c->context == context_now() && entry->type == c->type)
		keep(c, record, size);
}

static struct trace_export export = {
	.write = seen,
	.flags = TRACE_EXPORT_EVENT,
};

/*
 * Return the words above the return address, where arguments that are not in registers are. The
 * number of such arguments is unknown, so read as many words as any event may have. The page of the
 * return address can always be read; the next page may be past the stack's end, where no argument
 * can be.
 */
static const u64 *stack_words(u64 at, u64 *copy)
{
	const u32 n = GTP_EVENT_STACK_WORDS * sizeof(*copy);

	if (gtp_access_read_kernel(copy, at, n)) {
		memset(copy, 0, n);
		gtp_access_read_kernel(copy, at, min_t(u32, n, PAGE_SIZE - at % PAGE_SIZE));
	}
	return copy;
}

static noinline void record_across_pages(const struct gtp_regs *regs,
					 const struct gtp_event_data *data)
{
	u64 copy[GTP_EVENT_STACK_WORDS];

	gtp_event_record(regs, stack_words(regs->rsp + 8, copy), data->probe, data->file);
}

static __always_inline void record(const struct gtp_regs *regs, const struct gtp_event_data *data)
{
	const u64 *stack = (const u64 *)regs->rsp + 1;
	const u64 *last = stack + GTP_EVENT_STACK_WORDS - 1;

	if (likely(!((regs->rsp ^ (u64)last) & PAGE_MASK)))
		gtp_event_record(regs, stack, data->probe, data->file);
	else
		record_across_pages(regs, data);
}

int gtp_event_data_take(const struct gtp_event_data *data, const struct gtp_regs *regs,
			struct gtp_buffer *buf)
{
	struct capture *c = this_cpu_ptr(&capture);

	c->regs = regs;
	c->type = data->type;
	c->context = context_now();
	c->result = -ENODATA;
	barrier();
	c->buf = buf;
	barrier();
	record(regs, data);
	barrier();
	c->buf = NULL;
	return c->result;
}

/* True if an ftrace instance with the name INSTANCE exists already. */
static bool name_is_taken(void)
{
	struct trace_event_file *file = trace_get_event_file(INSTANCE, "sched", "sched_switch");

	if (IS_ERR(file))
		return PTR_ERR(file) != -ENOENT;
	trace_put_event_file(file);
	return true;
}

static int make_instance(struct gtp_why *why)
{
	if (instance)
		return 0;
	if (name_is_taken()) {
		gtp_why(why,
			"somebody else has the ftrace instance '%s'; remove it from tracefs' instances",
			INSTANCE);
		return -EBUSY;
	}
	instance = gtp_trace_array_get(INSTANCE);
	if (!instance) {
		gtp_why(why,
			"ftrace makes no instance '" INSTANCE "': is there tracefs, and memory?");
		return -ENODEV;
	}
	return 0;
}

static int hook(struct gtp_why *why)
{
	int err = users ? 0 : register_ftrace_export(&export);

	if (err)
		gtp_why(why, "ftrace refused to show its records (error %d)", -err);
	return err;
}

int gtp_event_data_get(const struct gtp_event *ev, struct gtp_event_data *data, struct gtp_why *why)
{
	struct trace_event_file *file;
	int err;

	if (!ev->call) {
		gtp_why(why, "%s has no TRACE_EVENT that could write a record", ev->tp->name);
		return -ENOENT;
	}
	err = make_instance(why);
	if (err)
		return err;
	file = trace_get_event_file(INSTANCE, ev->call->class->system, trace_event_name(ev->call));
	if (IS_ERR(file)) {
		gtp_why(why, "ftrace does not give us the event (error %ld)", -PTR_ERR(file));
		return PTR_ERR(file);
	}
	err = hook(why);
	if (!err) {
		users++;
		data->probe = ev->call->class->probe;
		data->type = ev->call->event.type;
		data->file = file;
	}
	/*
	 * Drop the reference, so that the event's module can be unloaded. @file exists until then,
	 * and unloading removes our probe first (see event.c).
	 */
	trace_put_event_file(file);
	return err;
}

/*
 * Unregister the export, and wait for it: another CPU may still be in our export, with a record of
 * another instance. The wait must be over before the export is added to ftrace's list again, or the
 * module is freed.
 */
void gtp_event_data_put(void)
{
	if (--users)
		return;
	unregister_ftrace_export(&export);
	synchronize_rcu();
}

void gtp_event_data_exit(void)
{
	if (!instance)
		return;
	trace_array_put(instance);
	/*
	 * trace_array_destroy() waits until no task runs a probe of a kernel tracepoint; after a
	 * task has died in one, that wait never ends.
	 */
	if (test_taint(TAINT_DIE))
		pr_warn("a task has died: the ftrace instance '" INSTANCE "' stays behind\n");
	else if (trace_array_destroy(instance))
		pr_warn("the ftrace instance '" INSTANCE "' is in use and stays behind\n");
	instance = NULL;
}
