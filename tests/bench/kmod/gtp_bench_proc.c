// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/gtp_bench: writing a line measures, reading returns the result.
 *
 *	measure NAME CALLS REPEATS	time CALLS calls of the function, REPEATS times
 *	probe NAME | unprobe		a kprobe that does nothing, for comparison; for "event"
 *					a tracepoint's probe
 *	uprobe OFFSET FILE		the same in a program; unprobe removes it
 *
 * Times are ticks of the TSC. They are numbers of instructions only if QEMU counts instructions
 * (-icount shift=0); the times of the functions "empty" and "nops" show whether it does.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "gtp_bench.h"

enum {
	LINE_MAX_LEN = 256,
	CALLS_MAX = 100000, /* limit for CALLS: interrupts are off during the calls */
	REPEATS_MAX = 32,
};

static DEFINE_MUTEX(lock); /* protects all variables below */
static u64 ticks[REPEATS_MAX];
static u32 nticks;

static u64 now(void)
{
	u32 low, high;

	asm volatile("lfence; rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (u64)high << 32 | low;
}

/* Define a loop for each function, so that each loop calls its function directly. */
#define X(name)                                                                                    \
	static noinline u64 loop_##name(u32 calls)                                                 \
	{                                                                                          \
		u64 start = now();                                                                 \
		while (calls--)                                                                    \
			gtp_bench_##name(&gtp_bench_obj, 3);                                       \
		return now() - start;                                                              \
	}
GTP_BENCH_PLACES(X)
GTP_BENCH_YARDSTICKS(X)
#undef X

/* struct place - a measured function; @at: points to the address for a probe; NULL: no probe */
struct place {
	const char *name;
	u64 (*loop)(u32 calls);
	const unsigned long *at;
};

static const unsigned long gtp_bench_entry_at = (unsigned long)gtp_bench_entry;

static const struct place places[] = {
#define X(name_) { .name = #name_, .loop = loop_##name_, .at = &gtp_bench_##name_##_at },
	GTP_BENCH_PLACES(X)
#undef X
#define X(name_) { .name = #name_, .loop = loop_##name_ },
		GTP_BENCH_YARDSTICKS(X)
#undef X
};

static const struct place *find(const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(places); i++)
		if (!strcmp(places[i].name, name))
			return &places[i];
	return NULL;
}

static int measure(const char *name, u32 calls, u32 repeats)
{
	const struct place *p = find(name);
	unsigned long flags;

	if (!p || !calls || calls > CALLS_MAX || !repeats || repeats > REPEATS_MAX)
		return -EINVAL;
	for (nticks = 0; nticks < repeats; nticks++) {
		local_irq_save(flags);
		ticks[nticks] = p->loop(calls);
		local_irq_restore(flags);
	}
	return 0;
}

/* --- the floor: the cost of a kprobe that does nothing --- */

static u64 floor_hits;

static int floor_hit(struct kprobe *kp, struct pt_regs *regs)
{
	floor_hits++;
	return 0;
}

static struct kprobe floor_probe;
static bool event_probed;

static int probe_event(void)
{
	int err = event_probed ? -EINVAL : gtp_bench_event_probe(&floor_hits);

	event_probed |= !err;
	return err;
}

static int unprobe(void)
{
	if (event_probed)
		gtp_bench_event_unprobe(&floor_hits);
	event_probed = false;
	gtp_bench_user_unprobe();
	if (floor_probe.addr)
		unregister_kprobe(&floor_probe);
	memset(&floor_probe, 0, sizeof(floor_probe));
	return 0;
}

static int probe(const char *name)
{
	const struct place *p = find(name);
	int err;

	floor_hits = 0;
	if (!strcmp(name, "event"))
		return probe_event();
	if (!p || !p->at || floor_probe.addr)
		return -EINVAL;
	floor_probe.addr = (kprobe_opcode_t *)*p->at;
	floor_probe.pre_handler = floor_hit;
	err = register_kprobe(&floor_probe);
	if (err)
		memset(&floor_probe, 0, sizeof(floor_probe));
	return err;
}

/* --- the file --- */

static int obey(const char *line)
{
	char name[16];
	u32 calls, repeats;
	u64 offset;
	int file;

	if (sscanf(line, "measure %15s %u %u", name, &calls, &repeats) == 3)
		return measure(name, calls, repeats);
	if (sscanf(line, "probe %15s", name) == 1)
		return probe(name);
	if (sscanf(line, "uprobe %llx %n", &offset, &file) == 1) {
		floor_hits = 0;
		return gtp_bench_user_probe(line + file, offset, &floor_hits);
	}
	return strcmp(line, "unprobe") ? -EINVAL : unprobe();
}

static ssize_t bench_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char line[LINE_MAX_LEN];
	int err;

	if (!len || len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buf, len))
		return -EFAULT;
	line[len] = '\0';
	mutex_lock(&lock);
	err = obey(strim(line));
	mutex_unlock(&lock);
	return err ? err : len;
}

/*
 * Show the last result, and for each place its first ten bytes, which show how a probe is set: e9
 * is a jump, cc a breakpoint.
 */
static int bench_show(struct seq_file *m, void *unused)
{
	u32 i;

	mutex_lock(&lock);
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		const struct place *p = &places[i];

		if (p->at)
			seq_printf(m, "place %s 0x%lx %10ph\n", p->name, *p->at, (void *)*p->at);
	}
	for (i = 0; i < nticks; i++)
		seq_printf(m, "ticks %llu\n", ticks[i]);
	seq_printf(m, "floor_hits %llu\n", floor_hits);
	mutex_unlock(&lock);
	return 0;
}

static int bench_open(struct inode *inode, struct file *file)
{
	return single_open(file, bench_show, NULL);
}

static const struct proc_ops bench_ops = {
	.proc_open = bench_open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
	.proc_write = bench_write,
};

static int __init bench_init(void)
{
	return proc_create("gtp_bench", 0600, NULL, &bench_ops) ? 0 : -ENOMEM;
}

static void __exit bench_exit(void)
{
	remove_proc_entry("gtp_bench", NULL);
	unprobe();
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("functions whose calls gdbtp's bench counts in instructions");
MODULE_LICENSE("GPL");
