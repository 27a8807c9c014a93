// SPDX-License-Identifier: GPL-2.0-only
/*
 * $_sdata: the record that an event's own code makes, taken out of ftrace at the hit.
 *
 * The event's function writes into an ftrace instance of ours, in which no event is ever enabled,
 * so nothing but our calls writes there. ftrace shows every record of every instance to whoever
 * has registered an export, on the same CPU, before the function returns: there it is copied
 * into the frame. An export sees other people's records, too; it knows ours by the call that is
 * under way on this CPU.
 */
#include <linux/preempt.h>
#include <linux/trace.h>
#include <asm/processor-flags.h>

#include <gtp/compat.h>
#include "probe/event.h"

#define INSTANCE "gdbtp"

/**
 * struct capture - one CPU's call that is under way
 * @buf: where the record goes, NULL: nobody waits for one
 * @context: interrupt, NMI or task, in the kernel's bits; a record from another one is not ours
 * @type: of the event
 * @irqs_on: whether the hit found them so
 * @result: 0 when the record is in the frame
 */
struct capture {
	struct gtp_buffer *buf;
	u32 context;
	u16 type;
	bool irqs_on;
	int result;
};

static DEFINE_PER_CPU(struct capture, capture);

static struct trace_array *instance;
static u32 users;

static u32 context_now(void)
{
	return preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_MASK);
}

/*
 * Interrupts are off during a hit, for our own sake, and the record says so. What it would say
 * without us is whether they were on before.
 */
static void set_irq_flag(u8 *record, bool irqs_on)
{
	struct trace_entry *entry = (struct trace_entry *)record;

	if (irqs_on)
		entry->flags &= ~TRACE_FLAG_IRQS_OFF;
}

/* Called for every record of anybody, with preemption off. */
static void seen(struct trace_export *export, const void *record, unsigned int size)
{
	struct capture *c = this_cpu_ptr(&capture);
	const struct trace_entry *entry = record;
	struct gtp_buffer *buf = c->buf;
	u8 *copy;

	if (!buf || c->context != context_now() || entry->type != c->type)
		return;
	c->buf = NULL;
	c->result = gtp_buffer_add_static(buf, record, size, &copy);
	if (!c->result)
		set_irq_flag(copy, c->irqs_on);
}

static struct trace_export export = {
	.write = seen,
	.flags = TRACE_EXPORT_EVENT,
};

/*
 * Arguments that found no register lie behind the return address. How many there are is not
 * known, so as many words are read as any event may have; near the end of a stack there are
 * fewer, and those behind it are nobody's arguments.
 */
static void read_stack(u64 *words, u64 at)
{
	u32 n = GTP_EVENT_STACK_WORDS * sizeof(*words), to_end = PAGE_SIZE - at % PAGE_SIZE;

	if (likely(!gtp_access_read_kernel(words, at, n)))
		return;
	memset(words, 0, n);
	gtp_access_read_kernel(words, at, min(n, to_end));
}

int gtp_event_data_take(const struct gtp_event_data *data, const struct gtp_regs *regs,
			struct gtp_buffer *buf)
{
	struct capture *c = this_cpu_ptr(&capture);
	u64 stack[GTP_EVENT_STACK_WORDS];

	read_stack(stack, regs->rsp + 8);
	c->context = context_now();
	c->type = data->type;
	c->irqs_on = regs->eflags & X86_EFLAGS_IF;
	c->result = -ENODATA;
	barrier();
	c->buf = buf;
	barrier();
	gtp_event_record(data->probe, data->file, regs, stack);
	barrier();
	c->buf = NULL;
	return c->result;
}

/* An instance of that name that is there before ours belongs to somebody. */
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
		gtp_why(why, "ftrace makes no instance '" INSTANCE
			     "': is there tracefs, and memory?");
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

int gtp_event_data_get(const struct gtp_event *ev, struct gtp_event_data *data,
		       struct gtp_why *why)
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
	file = trace_get_event_file(INSTANCE, ev->call->class->system,
				    trace_event_name(ev->call));
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
	 * Without the reference the event's module can go; the file lives until it does, and that
	 * takes our probe off first (see event.c).
	 */
	trace_put_event_file(file);
	return err;
}

void gtp_event_data_put(void)
{
	if (!--users)
		unregister_ftrace_export(&export);
}

void gtp_event_data_exit(void)
{
	if (!instance)
		return;
	/* The hook is off, but somebody's record may be on its way through it. */
	synchronize_rcu();
	trace_array_put(instance);
	if (trace_array_destroy(instance))
		pr_warn("the ftrace instance '" INSTANCE "' is in use and stays behind\n");
	instance = NULL;
}
