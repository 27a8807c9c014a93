// SPDX-License-Identifier: GPL-2.0-only
/* Shows the kernel's own stack traces of traced functions: /proc/gtp_target_stacks. */
#include <linux/percpu.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/stacktrace.h>

#include "gtp_target.h"

enum { DEPTH = 64 };

struct note {
	unsigned int n;
	unsigned long addr[DEPTH];
};

struct notes {
	struct note of[GTP_TARGET_STACKS];
};

static DEFINE_PER_CPU(struct notes, notes);

/*
 * Needs no lock: code that interrupts this function on the same CPU calls it with another @which.
 */
noinline void gtp_target_note_stack(enum gtp_target_noted which)
{
	struct note *note = &get_cpu_ptr(&notes)->of[which];

	note->n = stack_trace_save(note->addr, DEPTH, 1);
	put_cpu_ptr(&notes);
}

/* Print lines NAME CPU ADDRESS... The first address follows the call of gtp_target_note_stack(). */
static int stacks_show(struct seq_file *m, void *unused)
{
	static const char *const names[] = { "chain", "event", "irq", "nmi" };
	unsigned int which, i;
	int cpu;

	for_each_possible_cpu(cpu) {
		for (which = 0; which < GTP_TARGET_STACKS; which++) {
			const struct note *note = &per_cpu_ptr(&notes, cpu)->of[which];

			if (!note->n)
				continue;
			seq_printf(m, "%s %d", names[which], cpu);
			for (i = 0; i < note->n; i++)
				seq_printf(m, " %lx", note->addr[i]);
			seq_putc(m, '\n');
		}
	}
	return 0;
}

int gtp_target_stack_init(void)
{
	return proc_create_single("gtp_target_stacks", 0600, NULL, stacks_show) ? 0 : -ENOMEM;
}

void gtp_target_stack_exit(void)
{
	remove_proc_entry("gtp_target_stacks", NULL);
}
