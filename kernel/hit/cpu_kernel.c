// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocates the trace buffers: one for each CPU that is online at tstart, in memory near that CPU.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/smp.h>
#include <linux/topology.h>

#include "kernel/base/mem_kernel.h"
#include "kernel/base/params_kernel.h"
#include "kernel/hit/cpu_kernel.h"
#include "kernel/hit/hit_kernel.h"

DEFINE_PER_CPU(struct gtp_cpu *, gtp_this_cpu);

enum { FRACTION = 4 }; /* take at most 1/FRACTION of the memory that is free now */

u64 gtp_memory_most(void *ctx)
{
	return (u64)si_mem_available() * PAGE_SIZE / FRACTION;
}

/*
 * bytes_per_cpu - return the size of the buffer of each of @n CPUs, for @total bytes; 0 if the
 * request is refused
 */
static u64 bytes_per_cpu(u64 total, u32 n, struct gtp_why *why)
{
	u64 most = gtp_memory_most(NULL), each;

	if (!total)
		total = min_t(u64, (u64)READ_ONCE(gtp_buffer_kb) * SZ_1K * n, most);
	if (total > most) {
		gtp_why(why,
			"a trace buffer of %llu MiB is more than a quarter of the memory that is available, which is %llu MiB: set trace-buffer-size to less",
			total >> 20, most >> 20);
		return 0;
	}
	each = clamp_t(u64, round_down(total / n, PAGE_SIZE), GTP_BUFFER_MIN, SZ_1G);
	return each;
}

static void cpu_free(struct gtp_cpu *cpu)
{
	gtp_mem_free(cpu->buf.mem);
	gtp_mem_free(cpu->stat);
	gtp_mem_free(container_of(cpu, struct gtp_percpu, cpu));
}

static struct gtp_cpu *cpu_alloc(u32 id, u32 bytes, bool circular, u32 nslots)
{
	int node = cpu_to_node(id);
	struct gtp_percpu *p = gtp_mem_alloc_node(sizeof(*p), node);
	void *mem = NULL;

	if (!p)
		return NULL;
	p->cpu.id = id;
	p->cpu.stat = gtp_mem_alloc_node(gtp_hit_stat_bytes(max(nslots, 1U)), node);
	if (p->cpu.stat)
		mem = gtp_mem_alloc_node(bytes, node);
	if (!mem) {
		cpu_free(&p->cpu);
		return NULL;
	}
	gtp_buffer_init(&p->cpu.buf, mem, bytes, circular);
	return &p->cpu;
}

/*
 * Allocate for each online CPU. The caller holds cpus_read_lock(), so no CPU can come online
 * between counting and allocating.
 */
static int fill(struct gtp_cpu **cpus, u64 total, bool circular, u32 nslots, struct gtp_why *why)
{
	u64 each = bytes_per_cpu(total, num_online_cpus(), why);
	const struct gtp_calibration *tsc = gtp_hit_calibrate_tsc();
	unsigned int id;

	if (!each)
		return -ENOMEM;
	for_each_online_cpu(id) {
		cpus[id] = cpu_alloc(id, each, circular, nslots);
		if (!cpus[id]) {
			gtp_why(why,
				"no memory for a trace buffer of %llu KiB on each of %u CPUs: set trace-buffer-size to less",
				each >> 10, num_online_cpus());
			return -ENOMEM;
		}
		cpus[id]->env.tsc = tsc;
		cond_resched();
	}
	return 0;
}

int gtp_buffers_get(void *ctx, u64 bytes, bool circular, u32 nslots, struct gtp_cpu ***cpus,
		    u32 *ncpus, struct gtp_why *why)
{
	struct gtp_cpu **all = gtp_mem_alloc(array_size(nr_cpu_ids, sizeof(*all)));
	unsigned int id;
	int err;

	gtp_hit_tsv_reset();
	if (!all) {
		gtp_why(why, "no memory for the trace buffers");
		return -ENOMEM;
	}
	cpus_read_lock();
	err = fill(all, bytes, circular, nslots, why);
	cpus_read_unlock();
	if (err) {
		gtp_buffers_put(ctx, all, nr_cpu_ids);
		return err;
	}
	for_each_possible_cpu(id)
		per_cpu(gtp_this_cpu, id) = all[id];
	*cpus = all;
	*ncpus = nr_cpu_ids;
	return 0;
}

void gtp_buffers_put(void *ctx, struct gtp_cpu **cpus, u32 ncpus)
{
	u32 i;

	for (i = 0; i < ncpus; i++) {
		if (!cpus[i])
			continue;
		if (per_cpu(gtp_this_cpu, i) == cpus[i])
			per_cpu(gtp_this_cpu, i) = NULL;
		cpu_free(cpus[i]);
	}
	gtp_mem_free(cpus);
}

void *gtp_buffer_alloc(void *ctx, const struct gtp_cpu *cpu, u32 bytes)
{
	return gtp_mem_alloc_node(bytes, cpu_to_node(cpu->id));
}

/*
 * struct errand - a call to make on a CPU; @done: true if the CPU was not in a hit, so that the
 * call was made
 */
struct errand {
	struct gtp_cpu *cpu;
	void (*fn)(void *arg);
	void *arg;
	bool done;
};

/*
 * Make the call in an IPI, with interrupts off. A kprobe's hit may run with interrupts on, so the
 * interrupt may have arrived in the middle of a hit: then do nothing, and the caller tries again. A
 * hit whose task died never ends (GTP_HIT_LOST): do not wait for such a hit.
 */
static void run_errand(void *info)
{
	struct errand *e = info;
	u32 in_hit = READ_ONCE(e->cpu->in_hit);

	e->done = in_hit == GTP_HIT_NONE || in_hit == GTP_HIT_LOST;
	if (e->done)
		e->fn(e->arg);
}

void gtp_cpu_between_hits(void *ctx, struct gtp_cpu *cpu, void (*fn)(void *arg), void *arg)
{
	struct errand e = { .cpu = cpu, .fn = fn, .arg = arg };

	cpus_read_lock();
	/* A CPU that is offline has no hits, and cannot come online meanwhile. */
	while (!e.done) {
		if (smp_call_function_single(cpu->id, run_errand, &e, true))
			run_errand(&e);
		cond_resched();
	}
	cpus_read_unlock();
}

void gtp_buffers_restart(void)
{
	unsigned int id;

	for_each_possible_cpu(id) {
		struct gtp_cpu *cpu = per_cpu(gtp_this_cpu, id);

		if (cpu)
			gtp_restarts_note(&cpu->restarts, &cpu->buf);
	}
}

/*
 * Set the calibration in an IPI on the CPU itself, so that a hit, which has interrupts off, cannot
 * use the old one first and then the new one.
 */
static void use(void *tsc)
{
	struct gtp_cpu *cpu = this_cpu_read(gtp_this_cpu);

	if (cpu)
		WRITE_ONCE(cpu->env.tsc, tsc);
}

void gtp_buffers_calibrate(const struct gtp_calibration *tsc)
{
	unsigned int id;

	cpus_read_lock();
	for_each_possible_cpu(id) {
		struct gtp_cpu *cpu = per_cpu(gtp_this_cpu, id);

		if (cpu && !cpu_online(id))
			WRITE_ONCE(cpu->env.tsc, tsc);
	}
	on_each_cpu(use, (void *)tsc, true);
	cpus_read_unlock();
}
