/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory that hits of each CPU write: a trace buffer, counters, and text of printf for GDB. */
#ifndef _GTP_CPU_KERNEL_H
#define _GTP_CPU_KERNEL_H

#include <linux/percpu.h>

#include "base/why.h"
#include "hit/run.h"
#include "kernel/hit/text_kernel.h"

/**
 * struct gtp_percpu - a CPU's struct gtp_cpu, and a ring for text, which only the module has
 * @cpu: the part that shared code uses
 * @text: the text of printf on its way to GDB
 */
struct gtp_percpu {
	struct gtp_cpu cpu;
	struct gtp_text text;
};

DECLARE_PER_CPU(struct gtp_cpu *, gtp_this_cpu); /* NULL: this CPU came online after tstart */

/* gtp_cpu_text - return the memory for the text that printf writes on a CPU */
static inline struct gtp_text *gtp_cpu_text(struct gtp_cpu *cpu)
{
	return &container_of(cpu, struct gtp_percpu, cpu)->text;
}

/**
 * gtp_buffers_get() - implement buffers_get of struct gtp_target_ops
 * @ctx: unused
 * @bytes: the size of all CPUs' buffers together; 0: the module parameter buffer_kb decides
 * @circular: drop the oldest frames
 * @nslots: the number of counters for each CPU
 * @cpus: receives the array, indexed by CPU; the entry of an offline CPU is NULL, and if that CPU
 *         comes up during the run, its hits are counted as missed
 * @ncpus: receives the length of the array
 * @why: the refusal
 *
 * Context: process, under gtp_lock, no probe armed. Return: 0 or -ENOMEM.
 */
int gtp_buffers_get(void *ctx, u64 bytes, bool circular, u32 nslots, struct gtp_cpu ***cpus,
		    u32 *ncpus, struct gtp_why *why);

/**
 * gtp_buffers_put() - implement buffers_put of struct gtp_target_ops
 * @ctx: unused
 * @cpus: the array from gtp_buffers_get()
 * @ncpus: the length of @cpus
 *
 * Context: process; no probe is armed, so no hit reads gtp_this_cpu.
 */
void gtp_buffers_put(void *ctx, struct gtp_cpu **cpus, u32 ncpus);

/*
 * gtp_buffer_alloc - implement buffer_alloc of struct gtp_target_ops: allocate memory near the CPU
 */
void *gtp_buffer_alloc(void *ctx, const struct gtp_cpu *cpu, u32 bytes);

/*
 * gtp_memory_most - implement struct gtp_target_ops' memory_most: a quarter of the available memory
 */
u64 gtp_memory_most(void *ctx);

/*
 * gtp_cpu_between_hits - implement between_hits of struct gtp_target_ops; an interrupt of that CPU
 * calls @fn.
 * Context: process
 */
void gtp_cpu_between_hits(void *ctx, struct gtp_cpu *cpu, void (*fn)(void *arg), void *arg);

/*
 * gtp_buffers_calibrate - make the hits of all CPUs use this calibration of the TSC. Context:
 * process, gtp_lock; a run whose hits read the TSC may be active
 */
void gtp_buffers_calibrate(const struct gtp_calibration *tsc);

/*
 * gtp_buffers_restart - note that the clock from which frames get their times restarts. Context: no
 * other CPU is online, interrupts are off
 */
void gtp_buffers_restart(void);

#endif /* _GTP_CPU_KERNEL_H */
