// SPDX-License-Identifier: GPL-2.0-only
/*
 * Job: functions like those that fill the record of raw_syscalls:sys_enter, as kernels of different
 * configurations have them.
 */
#include <string.h>

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	unsigned long ip, cs, flags, sp, ss;
};

struct trace_entry {
	unsigned short type;
	unsigned char flags, preempt_count;
	int pid;
};

struct record {
	struct trace_entry ent;
	long id;
	unsigned long args[6];
};

struct thread_info {
	unsigned int status;
};

struct task_struct {
	struct thread_info thread_info;
};

struct trace_event_fields {
	const char *name;
	int size, align;
};

struct trace_event_class {
	void *probe;
	const struct trace_event_fields *fields_array;
};

struct trace_event_call {
	struct trace_event_class *class;
};

#define __noipa __attribute__((noipa))

static struct record record;
struct task_struct *current_task;

__noipa void *trace_event_buffer_reserve(void *fbuffer, void *file, unsigned long len)
{
	return file && len <= sizeof(record) ? &record : NULL;
}

__noipa void commit(void *fbuffer)
{
}

__noipa void copy_out(void *to, const void *from)
{
	memcpy(to, from, 6 * sizeof(long));
}

static char buffer[48];

typedef void store(unsigned long *args, const struct pt_regs *regs, long id);

static __always_inline void fill(void *data, struct pt_regs *regs, long id, store *store)
{
	struct record *entry = trace_event_buffer_reserve(buffer, data, sizeof(*entry));

	if (!entry)
		return;
	entry->id = id;
	store(entry->args, regs, id);
	commit(buffer);
}

/* Define a function that fills a record, and the kernel's description of the event. */
#define EVENT(event)                                                                               \
	static __noipa void fill_##event(void *data, struct pt_regs *regs, long id)                \
	{                                                                                          \
		fill(data, regs, id, event);                                                       \
	}                                                                                          \
	static struct trace_event_class class_##event = { fill_##event, fields };                  \
	struct trace_event_call event_##event = { &class_##event }

static const struct trace_event_fields fields[] = { { "id", 8, 8 }, { "args", 48, 8 } };

/* Copy six registers to the arguments. */
#define COPY(args, regs, a, b, c, d, e, f)                                                         \
	do {                                                                                       \
		(args)[0] = (regs)->a;                                                             \
		(args)[1] = (regs)->b;                                                             \
		(args)[2] = (regs)->c;                                                             \
		(args)[3] = (regs)->d;                                                             \
		(args)[4] = (regs)->e;                                                             \
		(args)[5] = (regs)->f;                                                             \
	} while (0)

/* A kernel without 32-bit system calls. */
static inline void native(unsigned long *args, const struct pt_regs *regs, long id)
{
	COPY(args, regs, di, si, dx, r10, r8, r9);
}

EVENT(native);

/* A kernel whose system calls have their arguments in other registers. */
static inline void others(unsigned long *args, const struct pt_regs *regs, long id)
{
	COPY(args, regs, bp, r15, si, di, cx, ax);
}

EVENT(others);

/* A kernel with 32-bit system calls. */
static inline void compat(unsigned long *args, const struct pt_regs *regs, long id)
{
	if (!(current_task->thread_info.status & 2)) {
		native(args, regs, id);
		return;
	}
	COPY(args, regs, bx, cx, dx, si, di, bp);
}

EVENT(compat);

__noipa void __asan_store8(unsigned long addr)
{
}

/* A kernel with KASAN, which checks each store by a call that gets the store's address. */
static inline void checked(unsigned long *args, const struct pt_regs *regs, long id)
{
	int i;

#pragma GCC unroll 6
	for (i = 0; i < 6; i++)
		__asan_store8((unsigned long)&args[i]);
	native(args, regs, id);
}

EVENT(checked);

/*
 * Another function writes the arguments last. The source is known in the first event, unknown in
 * the second.
 */
static inline void copied(unsigned long *args, const struct pt_regs *regs, long id)
{
	native(args, regs, id);
	if (id & 64)
		copy_out(args, &regs->bx);
}

EVENT(copied);

static inline void handed(unsigned long *args, const struct pt_regs *regs, long id)
{
	native(args, regs, id);
	if (id & 64)
		copy_out(args, &record + id);
}

EVENT(handed);

static inline void computed(unsigned long *args, const struct pt_regs *regs, long id)
{
	native(args, regs, id);
	args[3] = regs->r10 + 1;
}

EVENT(computed);

static inline void sometimes(unsigned long *args, const struct pt_regs *regs, long id)
{
	if (id & 64)
		native(args, regs, id);
	else
		args[0] = 0;
}

EVENT(sometimes);

int main(int argc, char **argv)
{
	struct pt_regs regs = { 0 };
	struct task_struct task = { { 0 } };

	current_task = &task;
	fill_native(argv, &regs, argc);
	fill_others(argv, &regs, argc);
	fill_compat(argv, &regs, argc);
	fill_copied(argv, &regs, argc);
	fill_handed(argv, &regs, argc);
	fill_computed(argv, &regs, argc);
	fill_sometimes(argv, &regs, argc);
	return 0;
}
