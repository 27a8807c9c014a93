/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of the fixture module: the traced functions, their data, the counters. */
#ifndef _GTP_TARGET_H
#define _GTP_TARGET_H

#include <linux/compiler.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/types.h>

/*
 * Marks a function that the compiler must not inline or clone and must call by the ABI, so that the
 * function's DWARF is right.
 */
#define GTP_TARGET_FN noinline __noclone __attribute__((__noipa__))

enum gtp_target_kind {
	GTP_TARGET_PLAIN,
	GTP_TARGET_FANCY,
};

enum {
	GTP_TARGET_OBJS = 4,
	GTP_TARGET_VALUES = 4,
};

/* struct gtp_target_obj - members of every shape; gtp_target_fill() sets their values */
struct gtp_target_obj {
	int id;
	u8 small;
	u16 medium;
	long big;
	unsigned int low : 3;
	int mid : 5;
	unsigned int wide : 13;
	enum gtp_target_kind kind;
	bool on;
	char name[16];
	int values[GTP_TARGET_VALUES];
	struct gtp_target_obj *parent;
	struct list_head link;
};

/* The names of the counters, in the order in which /proc/gtp_target shows them. */
/* clang-format off */
#define GTP_TARGET_FUNCTIONS(X) \
	X(add) X(obj) X(str) X(leaf) X(irq) X(locals) X(chain_a) X(chain_b) X(chain_c) X(ptr) \
	X(user) X(noprobe) X(nap) X(many) X(event) X(nmi) X(out) X(recurse) X(tail) X(eight) \
	X(triple) X(wait) X(exit) X(stack) X(context) X(regs) X(held) X(watch) X(begin) X(finish)
/* clang-format on */

enum gtp_target_count {
#define X(name) GTP_TARGET_COUNT_##name,
	GTP_TARGET_FUNCTIONS(X)
#undef X
		GTP_TARGET_COUNTS
};

/* gtp_target_count - count a call that is about to be made on this CPU; any context */
void gtp_target_count(enum gtp_target_count which);
u64 gtp_target_counted(enum gtp_target_count which);

/* The traced functions. */
long gtp_target_add(long a, long b);
long gtp_target_obj(struct gtp_target_obj *o, int n);
long gtp_target_str(const char *s);
long gtp_target_leaf(long n);
long gtp_target_nap(long ms);
long gtp_target_irq(long n);
long gtp_target_locals(long n);
long gtp_target_chain_a(long n);
long gtp_target_chain_b(long n);
long gtp_target_chain_c(long n);
long gtp_target_ptr(const void *p);
long gtp_target_user(const char *s);
long gtp_target_noprobe(long n);

/* struct gtp_target_context - the kernel's own values for the context of a call */
struct gtp_target_context {
	const char *where;
	unsigned long hardirqs, softirqs, irqs;
	bool user;		    /* the task is a user task, not a kernel thread */
	const struct pt_regs *regs; /* the user registers, in a system call of this task; or NULL */
	u64 tsc;		    /* the time-stamp counter right before the call */
};

/*
 * gtp_target_context - a traced function, called with values that its caller has read; return
 * @c->tsc
 */
long gtp_target_context(const struct gtp_target_context *c);

/*
 * gtp_target_call_context - call gtp_target_context() in a context: "task", "bh" (softirqs
 * disabled), "soft" (in a softirq), "hard" (in an interrupt), "kthread"; return 0 or -errno.
 * gtp_target_call_context_now - call it in the present context, with the name @where
 */
int gtp_target_call_context(const char *where);
void gtp_target_call_context_now(const char *where, const struct pt_regs *regs);

/* Structs that are passed by value: a pair in one register, a triple in memory. */
struct gtp_target_pair {
	int x, y;
};

struct gtp_target_triple {
	long x, y, z;
};

/* Functions whose returns the tests follow. */
int gtp_target_out(int n, long *out);
long gtp_target_recurse(long n);
long gtp_target_tail(long n);
long gtp_target_eight(long a, long b, long c, long d, long e, long f, long g, long h);
long gtp_target_triple(struct gtp_target_triple t, long n);
long gtp_target_wait(long n);
long gtp_target_exit(long n);

/* gtp_target_sink - recurse @n times like gtp_target_recurse(), then call gtp_target_wait() */
long gtp_target_sink(long n);

/* gtp_target_stack - record and print the stack trace of this call; return its depth */
long gtp_target_stack(long n);

/*
 * gtp_target_stack_nth - return the function of the n-th frame of the recorded stack trace, whose
 * first is gtp_target_stack(); NULL if the trace has no n-th frame
 */
void *gtp_target_stack_nth(u32 n);

/* gtp_target_exits - make a task that calls gtp_target_exit() and ends there; return 0 or -errno */
int gtp_target_exits(long n);

/*
 * gtp_target_crowd - make @count tasks that call gtp_target_wait() from @depth nested calls of
 * gtp_target_sink(); return 0 when all are inside, or -errno. gtp_target_release - let all of them
 * return
 */
int gtp_target_crowd(u32 count, u32 depth);
void gtp_target_release(void);

/*
 * gtp_target_regs - a traced function, which calls gtp_target_regs_seen_by(). That function records
 * its own registers, and gtp_target_regs_body is its first instruction. gtp_target_regs_enter -
 * make the call, with known values in all registers
 */
long gtp_target_regs(long a, long b, long c, long d, long e, long f);
long gtp_target_regs_seen_by(long a, long b, long c, long d, long e, long f);
extern const u8 gtp_target_regs_body[];
void gtp_target_regs_enter(void);

/*
 * gtp_target_regs_call - make a call with values made from @seed in all registers; return 0 or
 * -errno. @where: "entry": of gtp_target_regs(), "deep": the same, deep in the stack, "body": of
 * gtp_target_regs_body, "event": of the first probe of tracepoint gtp_target_count.
 * The next two functions return a bit for each register that was wrong inside the function, and
 * after the return; gtp_target_regs_rsp() returns the value of rsp at the first instruction
 */
int gtp_target_regs_call(u32 seed, const char *where);
u64 gtp_target_regs_wrong_inside(void);
u64 gtp_target_regs_wrong_after(void);
u64 gtp_target_regs_rsp(void);

enum { GTP_TARGET_EVENT_BAD = 4096 };

/*
 * gtp_target_event_many - hit tracepoints gtp_target_many and gtp_target_bare. If @n is
 * GTP_TARGET_EVENT_BAD, the function that makes a record of gtp_target_many kills the task
 */
void gtp_target_event_many(int n);

/* gtp_target_marker - return the address of the marker of tracepoint gtp_target_many */
unsigned long gtp_target_marker(void);

/* gtp_target_event_count - hit tracepoint gtp_target_count */
void gtp_target_event_count(u64 n);

/* The argument of tracepoint gtp_target_count when an NMI hits it; loops pass numbers from 0. */
enum { GTP_TARGET_FROM_NMI = 1000000 };

/*
 * gtp_target_nmi - send @count NMIs to every other CPU, each of which hits gtp_target_count; return
 * 0 or -errno
 */
int gtp_target_nmi(u32 count);

/*
 * The places that call gtp_target_note_stack(): before a call of gtp_target_chain_c(), before an
 * event, before a call of gtp_target_irq(), in an NMI.
 */
enum gtp_target_noted {
	GTP_TARGET_STACK_CHAIN,
	GTP_TARGET_STACK_EVENT,
	GTP_TARGET_STACK_IRQ,
	GTP_TARGET_STACK_NMI,
	GTP_TARGET_STACKS,
};

/*
 * gtp_target_note_stack - record the kernel's stack trace of the caller; it replaces the last one
 * of the kind @which on this CPU
 */
void gtp_target_note_stack(enum gtp_target_noted which);
int gtp_target_stack_init(void);
void gtp_target_stack_exit(void);

extern struct gtp_target_obj gtp_target_objs[GTP_TARGET_OBJS];
extern long gtp_target_counter;
extern int gtp_target_array[8];
extern struct list_head gtp_target_list;
extern const char gtp_target_banner[];

/* gtp_target_fill - set the fixture's data to the values that the tests expect */
void gtp_target_fill(void);

/*
 * gtp_target_loop - make @count calls on each CPU at the same time; @what is one of the loops of
 * /proc/gtp_target, see gtp_target_proc.c; return 0 or -errno. gtp_target_loop_end - end the
 * current loop early
 */
int gtp_target_loop(const char *what, u64 count);
void gtp_target_loop_end(void);

/*
 * gtp_target_timer - set @timer up and start it: it calls @fn on this CPU, in a hard interrupt,
 * after @ns
 */
void gtp_target_timer(struct hrtimer *timer, enum hrtimer_restart (*fn)(struct hrtimer *), u64 ns);

/* gtp_target_until_stopped - sleep until kthread_stop() is called for this thread */
void gtp_target_until_stopped(void);

/*
 * gtp_target_hold - make a task that calls gtp_target_add(), preempt it in the code between @start
 * and @end, and keep it from running until the jump at @site is removed, and a little longer.
 * Return 0; -ENOENT: the task was never interrupted in that code; -ETIME: the jump was not removed;
 * -EAGAIN: the task ran meanwhile, because other tasks got the CPU; -EBADMSG: the code where the
 * task was preempted has changed
 */
int gtp_target_hold(u64 start, u64 end, u64 site);

enum { GTP_TARGET_WATCHED = 6 };

/*
 * Variables for watchpoints. gtp_target_write - write variable @n with a single store;
 * gtp_target_read - read variable @n with a single load
 */
extern long gtp_target_watched[GTP_TARGET_WATCHED];
extern int gtp_target_watched_int;
extern u8 gtp_target_watched_u8;
void gtp_target_write(u32 n, long value);
long gtp_target_read(u32 n);
void gtp_target_write_int(int value);
void gtp_target_write_u8(u8 value);

/*
 * Things, for pairs: gtp_target_begin() begins a thing, gtp_target_finish() finishes it. Both get
 * the number of the beginning. gtp_target_pair_round - begin a thing on this CPU, and finish one
 * that some CPU has begun
 */
struct gtp_target_thing;
u64 gtp_target_begin(struct gtp_target_thing *t, u64 number);
u64 gtp_target_finish(struct gtp_target_thing *t, u64 number);
void gtp_target_pair_round(u64 i);

/* gtp_target_pair_call - obey a "call" of /proc/gtp_target; return 0 or -errno */
int gtp_target_pair_call(const char *what);

/* gtp_target_pair_show - show values; gtp_target_pair_exit - free all memory */
struct seq_file;
void gtp_target_pair_show(struct seq_file *m);
void gtp_target_pair_exit(void);

/* gtp_target2_fn - a function of the second module */
long gtp_target2_fn(long n);

#endif /* _GTP_TARGET_H */
