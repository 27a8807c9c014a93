/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel-only files offer each other, by the file that owns it. */
#ifndef _GTP_KERNEL_H
#define _GTP_KERNEL_H

#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched.h>

#include "stub/stub.h"
#include "session/trace.h"

struct module;

/* kernel/main.c: module parameters */
extern bool gtp_allow_write;
extern bool gtp_self_trace;
extern unsigned int gtp_buffer_kb;
extern bool gtp_jit;
extern bool gtp_jumps;

/*
 * base/mem_kernel.c: every allocation of the module, so that a test can make any one of
 * them fail
 */
extern const struct gtp_mem gtp_mem;

/* gtp_mem_alloc_node - zeroed memory near a node's CPUs, NULL when there is none; may sleep */
void *gtp_mem_alloc_node(size_t bytes, int node);
void *gtp_mem_alloc(size_t bytes);
void gtp_mem_free(const void *p);

/**
 * struct gtp_host - the one trace session of this kernel, and who is connected to it
 * @lock: everything but hits runs under it; may be held for seconds while many probes are armed
 * @trace: outlives connections
 * @stub: of the GDB that is connected, NULL: nobody
 *
 * Lock order: the session's write lock, @lock, then what the kernel takes to arm a probe
 * (kprobe_mutex, cpu_hotplug_lock, text_mutex) or a queue's spinlock. A module notifier runs
 * under the chain's rwsem and may take
 * @lock, so nothing that loads or unloads a module may run under @lock while a probe is armed in
 *         it.
 */
struct gtp_host {
	struct mutex lock; /* of all below */
	struct gtp_trace trace;
	struct gtp_stub *stub;
};

/* kernel/host.c */
extern struct gtp_host gtp_host;
int gtp_host_init(void);
void gtp_host_exit(void);

/*
 * gtp_host_kick_end, gtp_host_kick_text - from a hit: finish the run; show printf's text. Any
 * context, NMI too.
 */
void gtp_host_kick_end(void);
void gtp_host_kick_text(void);

/*
 * gtp_host_progress - struct gtp_target_ops' progress: between two parts of long work under
 * gtp_host.lock. May sleep
 */
void gtp_host_progress(void *ctx, const char *what, u32 done, u32 total);

/* kernel/proc_gtp.c */
int gtp_proc_gtp_init(void);
void gtp_proc_gtp_exit(void);

/* gtp_procfs_allowed - may the current task open our files? 0, -EPERM, or what lockdown says */
int gtp_procfs_allowed(void);

/*
 * gtp_procfs_has_room - false while the connected GDB does not read what it has; under
 * gtp_host.lock
 */
bool gtp_procfs_has_room(void);

/* kernel/kernel_target.c: what GDB asks about the kernel itself */
extern const struct gtp_stub_ops gtp_kernel_target;
void gtp_kernel_target_init(void);

/* gtp_world_note_id - the build-id in a block of ELF notes; its length, 0: there is none */
size_t gtp_world_note_id(const u8 *notes, size_t len, const u8 **id);

/* probe/kprobe.c */
int gtp_kprobe_arm(void *ctx, struct gtp_location *loc, struct gtp_why *why);
void gtp_kprobe_disarm(void *ctx, struct gtp_location *first);

/**
 * gtp_kprobe_range_in() - the smallest range around all probes in a part of a module
 * @mod: a module that goes, or whose init code does
 * @init: look at its init code, else at the code that stays
 * @start: receives the lowest address
 * @end: receives the one behind the highest
 *
 * Each of the two is one piece of memory, so the range holds nobody else's probes.
 * Context: process; may be asked without gtp_host.lock. Return: false when there is no such probe.
 */
bool gtp_kprobe_range_in(const struct module *mod, bool init, u64 *start, u64 *end);

/* gtp_kprobe_refuse - may nothing be probed there or now? 0, or -errno with @why */
int gtp_kprobe_refuse(u64 addr, struct gtp_why *why);

/* gtp_kprobe_explain - what register_kprobe() says, in words; what they are about comes in front */
void gtp_kprobe_explain(int err, struct gtp_why *why);

/*
 * gtp_kprobe_shadow - undo our kprobes in a copy of text: @len bytes from @addr at @buf; under
 * gtp_host.lock
 */
void gtp_kprobe_shadow(u64 addr, u8 *buf, u32 len);

/*
 * gtp_kprobe_self - tgid whose tasks are not traced, -1: nobody; gtp_kprobe_self_skipped - hits
 * skipped for it
 */
void gtp_kprobe_set_self(pid_t tgid);
u64 gtp_kprobe_self_skipped(void);

/*
 * gtp_kprobe_skip_self - at a hit: is it one of GDB's own tasks, which is not to be traced? Counts
 * it then. @context: preempt_count() of the code that was hit
 */
bool gtp_kprobe_skip_self(unsigned int context);

/* gtp_kprobe_maybe_self - false: it is none of them; asked first where every instruction counts */
extern pid_t gtp_kprobe_self_tgid;

static inline bool gtp_kprobe_maybe_self(void)
{
	return current->tgid == READ_ONCE(gtp_kprobe_self_tgid);
}

/* probe/event.c: kernel tracepoints */
int gtp_event_init(void);
void gtp_event_exit(void);
int gtp_event_arm(void *ctx, struct gtp_location *loc, struct gtp_why *why);
int gtp_event_sdata(void *ctx, struct gtp_location *loc, struct gtp_why *why);
void gtp_event_disarm(void *ctx, struct gtp_location *first);

/* gtp_event_take - struct gtp_hit_ops' sdata */
int gtp_event_take(void *ctx, const struct gtp_location *loc, const struct gtp_regs *regs,
		   struct gtp_buffer *buf);

/*
 * gtp_event_range_in - as gtp_kprobe_range_in(), but around the markers of armed tracepoints of a
 * module, init code or not
 */
bool gtp_event_range_in(const struct module *mod, u64 *start, u64 *end);

/* probe/event_list.c */
int gtp_event_marker_nth(void *ctx, u32 n, struct gtp_marker *m, char *text, size_t size);
int gtp_event_marker_at(void *ctx, u64 addr);
bool gtp_event_is_marker(void *ctx, u64 addr);

/* hit/access_kernel.c */

/**
 * gtp_access_read() - copy memory that may not be there
 * @ctx: unused
 * @dst: receives the bytes
 * @addr: kernel address, or one of the current task's own
 * @len: bytes
 *
 * Context: any, NMI included; never sleeps, so a user page that is not in memory is -EFAULT.
 * Return: 0 or -EFAULT, then @dst is undefined.
 */
int gtp_access_read(void *ctx, void *dst, u64 addr, u32 len);

/* gtp_access_read_kernel - the same for kernel addresses only */
int gtp_access_read_kernel(void *dst, u64 addr, u32 len);

/*
 * gtp_access_write - store to kernel memory that is mapped writable; 0 or -EFAULT, then a part
 * may be written
 */
int gtp_access_write(u64 addr, const void *src, u32 len);

/* hit/hit_kernel.c: the world as a hit sees it */
extern const struct gtp_hit_ops gtp_hit_kernel_ops;

/* gtp_hit_calibrate_tsc - for a new run: do frames have the time as the processor's counter says it? */
bool gtp_hit_calibrate_tsc(void);

enum { GTP_TEXT_SIZE = 4096 }; /* bytes of printf's text that may wait on one CPU; a power of two */

/**
 * struct gtp_text - printf's text of one CPU on its way to GDB
 * @head: bytes ever written; only the CPU's own hits write it, and they do not nest
 * @tail: bytes ever read; only gtp_context_drain() writes it
 * @dropped: lines for which there was no room
 * @told: how many of those the user has heard about
 */
struct gtp_text {
	u32 head, tail;
	u64 dropped, told;
	char ring[GTP_TEXT_SIZE];
};

/*
 * gtp_context_drain - hand waiting text of all CPUs to GDB; under gtp_host.lock. True when GDB has
 * to read first, and the rest waits for another call
 */
bool gtp_context_drain(void);

/**
 * struct gtp_percpu - a struct gtp_cpu as the kernel keeps it
 * @cpu: the shared part
 * @text: printf's text
 */
struct gtp_percpu {
	struct gtp_cpu cpu;
	struct gtp_text text;
};

/* jit/run_kernel.c: struct gtp_target_ops' machine code, and what `monitor` says about it */
void gtp_jit_start(void);
int gtp_jit_code_begin(void *ctx, struct gtp_why *why);
int gtp_jit_code_make(void *ctx, struct gtp_expr *e, u64 pc, struct gtp_why *why);
int gtp_jit_code_make_actions(void *ctx, struct gtp_tracepoint *tp, struct gtp_why *why);
void gtp_jit_code_end(void *ctx);
void gtp_jit_code_forget(void *ctx);
int gtp_jit_monitor(struct gtp_stub *stub, const char *command, struct gtp_why *why);

/* hit/cpu_kernel.c */
DECLARE_PER_CPU(struct gtp_cpu *, gtp_this_cpu); /* NULL: this CPU came online after tstart */

int gtp_buffers_get(void *ctx, u64 bytes, bool circular, u32 nslots, struct gtp_cpu ***cpus,
		    u32 *ncpus, struct gtp_why *why);
void gtp_buffers_put(void *ctx, struct gtp_cpu **cpus, u32 ncpus);

/* kernel/save.c */
int gtp_save(void *ctx, const char *name, struct gtp_why *why);

/* kernel/proc_gtpframe.c */
int gtp_proc_gtpframe_init(void);
void gtp_proc_gtpframe_exit(void);

#endif /* _GTP_KERNEL_H */
