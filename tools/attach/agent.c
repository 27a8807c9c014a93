// SPDX-License-Identifier: GPL-2.0-only
/* Implements what a session needs for tracepoints in a process. */
#define _GNU_SOURCE
#include <err.h>
#include <stdlib.h>
#include <time.h>

#include "agent.h"
#include "clean.h"
#include "enter.h"
#include "fit.h"

enum {
	PARTS_MIN = 64,
	/* Without a size from the user: bytes of a part's buffer at most, and of all buffers. */
	BUFFER_MAX = (4 << 20) - 64, /* the space adds 64 bytes, and rounds up to a power of 2 */
	BUFFERS_BYTES = 64 << 20,
	PARTS_MAX = 4096,
	IDLE_TRIES = 150,
	IDLE_WAIT_NS = 1000000,
};

static struct agent *agent_of(void *ctx)
{
	return *(struct agent **)ctx;
}

/* --- parts --- */

static u32 count_threads(const struct gtp_process *p)
{
	long n = gtp_process_field(p, "status", "\nThreads:");

	return n < 0 ? 1 : (u32)n;
}

static int buffers_get(void *ctx, u64 bytes, bool circular, u32 nslots, struct gtp_cpu ***cpus,
		       u32 *ncpus, struct gtp_why *why)
{
	struct agent *a = agent_of(ctx);
	const struct gtp_agent_slot none[GTP_PAD_PARTS] = { 0 };
	struct gtp_agent_parts want = { .circular = circular, .nslots = nslots };
	int rc = a->in ? 0 : enter_process(a, why);

	if (rc)
		return rc;
	if (a->stuck) {
		gtp_why(why,
			"a thread may still be in a tracepoint of an earlier run: detach, and attach again");
		return -EBUSY;
	}
	if (fit_has_filter(a->process)) {
		a->shared->may_call = false;
		gtp_why(why, "process %u has a seccomp filter now: no tracepoints are possible",
			a->process->pid);
		return -EOPNOTSUPP;
	}
	want.n = 2 * count_threads(a->process) + PARTS_MIN;
	want.n = want.n < PARTS_MAX ? want.n : PARTS_MAX;
	want.each = (u32)((bytes ? bytes : BUFFERS_BYTES) / want.n) & ~7U;
	if (!bytes && want.each > BUFFER_MAX)
		want.each = BUFFER_MAX;
	want.each = want.each > GTP_BUFFER_MIN ? want.each : GTP_BUFFER_MIN;
	rc = gtp_inject_write(a->in, a->agent_at + offsetof(struct gtp_agent, slot), none,
			      sizeof(none));
	if (rc) {
		gtp_why(why, "process %u has ended", a->process->pid);
		return rc;
	}
	gtp_places_stay(a->process, a->shared);
	*cpus = gtp_agent_parts_get(&a->space, a->shared, &want);
	*ncpus = want.n;
	gtp_why(why, "no room for the buffers of %u threads", want.n);
	return *cpus ? 0 : -ENOMEM;
}

static void buffers_put(void *ctx, struct gtp_cpu **cpus, u32 ncpus)
{
	struct agent *a = agent_of(ctx);

	if (a->stuck)
		return;
	gtp_agent_parts_put(&a->space, a->shared, cpus, ncpus);
}

/* --- code --- */

static int code_begin(void *ctx, const struct gtp_tsvs *tsvs, struct gtp_why *why)
{
	agent_of(ctx)->code.tsvs = tsvs;
	for (u32 num = GTP_TSV_NR_BUILTIN; num < GTP_TSV_MAX; num++) {
		if (!tsvs->slot[num] || tsvs->ways[num] != AX_TSV_TASK)
			continue;
		gtp_why(why, "$%s: a process has no variables of tasks yet", tsvs->slot[num]->name);
		return -EOPNOTSUPP;
	}
	return 0;
}

static int code_make(void *ctx, struct gtp_expr *e, u64 pc, struct gtp_why *why)
{
	return gtp_agent_code_make(&agent_of(ctx)->code, e, pc);
}

static int code_make_actions(void *ctx, struct gtp_tracepoint *tp, struct gtp_why *why)
{
	return gtp_agent_code_make_actions(&agent_of(ctx)->code, tp);
}

static void code_end(void *ctx)
{
}

static void code_forget(void *ctx)
{
	struct agent *a = agent_of(ctx);

	if (a->in && !a->stuck)
		gtp_agent_code_forget(&a->code);
}

/* --- jumps --- */

static struct gtp_patch *new_patch(struct agent *a, u32 *number)
{
	struct gtp_patch *p = calloc(1, sizeof(*p));

	if (!p || a->patches == GTP_AGENT_NUMBERS - 1) {
		free(p);
		return NULL;
	}
	a->patch[a->patches++] = p;
	*number = a->patches;
	return p;
}

/* Note a jump before it is made, for a host that has to remove it after this one was killed. */
static void note_jump(struct agent *a, u32 number, const struct gtp_patch *p)
{
	struct gtp_agent_jump *jump = &a->shared->left.jump[number];

	jump->pad = p->pad;
	memcpy(jump->bytes, p->region.bytes, GTP_REGION_JUMP);
	gtp_publish(&jump->at, p->at);
}

static int arm(void *ctx, struct gtp_location *loc, struct gtp_why *why)
{
	struct agent *a = agent_of(ctx);
	struct gtp_agent_pad pad;
	struct gtp_region region;
	struct gtp_patch *p;
	u32 number;
	int rc = gtp_places_find(&a->files, a->process, loc->addr, &region, why);

	if (rc)
		return rc;
	p = new_patch(a, &number);
	if (!p) {
		gtp_why(why, "too many tracepoints");
		return -ENOMEM;
	}
	rc = gtp_agent_code_pad(&a->code, loc, &region, number, &pad);
	if (rc) {
		free(p);
		a->patches--;
		gtp_why(why, "no pad: %s", strerror(-rc));
		return rc;
	}
	*p = (struct gtp_patch){ .at = loc->addr,
				 .region = region,
				 .pad = pad.at,
				 .pad_len = pad.len };
	memcpy(p->copy, pad.copy, sizeof(p->copy));
	note_jump(a, number, p);
	a->shared->first[number] = loc->first;
	loc->probe = p;
	loc->probe_kind = "jump";
	loc->fast = true;
	return 0;
}

static int arm_done(void *ctx, struct gtp_location *first, struct gtp_why *why)
{
	struct agent *a = agent_of(ctx);
	u32 n = 0;

	for (u32 i = 0; i < a->patches; i++)
		if (!a->patch[i]->set)
			a->going[n++] = a->patch[i];
	return n ? gtp_inject_patch(a->in, a->going, n, why) : 0;
}

/* True if no thread is in a pad or in the agent. */
static bool is_idle(struct agent *a)
{
	struct gtp_why why = { "" };
	bool idle;

	if (gtp_agent_parts_used(a->shared) || gtp_inject_begin(a->in, &why))
		return false;
	idle = gtp_inject_idle(a->in, a->code.at, a->code.size);
	gtp_inject_end(a->in);
	return idle;
}

/*
 * Wait until no thread is in a pad or in the agent. A thread that left a hit by siglongjmp() looks
 * like one that is still in it. Then nothing is freed any more: neither code, nor buffers, nor
 * tracepoints.
 */
static void wait_for_hits(struct agent *a)
{
	struct timespec wait = { 0 };

	for (u32 i = 0; i < IDLE_TRIES; i++) {
		if (is_idle(a) || gtp_process_is_gone(a->process, &(struct gtp_why){ "" }))
			return;
		/* Each try stops all threads, so try less often, later. */
		wait.tv_nsec = (1 + i / 8) * IDLE_WAIT_NS;
		nanosleep(&wait, NULL);
	}
	a->stuck = true;
	a->space.keeps = true;
}

/* Remove jumps from the process. Jumps that cannot be removed are kept, with all that they need. */
static void remove_jumps(struct agent *a, struct gtp_patch **patch, u32 n)
{
	struct gtp_why why = { "" };

	if (!gtp_inject_unpatch(a->in, patch, n, &why) ||
	    gtp_process_is_gone(a->process, &(struct gtp_why){ "" }))
		return;
	warnx("process %u: %s", a->process->pid, why.text);
	a->stuck = true;
	a->space.keeps = true;
}

/* Remove the jumps of the locations. All others stay, with the numbers of their pads. */
static void disarm(void *ctx, struct gtp_location *first)
{
	struct agent *a = agent_of(ctx);
	u32 n = 0;

	for (struct gtp_location *loc = first; loc; loc = loc->next) {
		struct gtp_patch *p = loc->probe;

		if (p && p->set)
			a->going[n++] = p;
		loc->probe = NULL;
	}
	if (n) {
		remove_jumps(a, a->going, n);
		wait_for_hits(a);
	}
	for (u32 i = 0; i < a->patches; i++)
		if (a->patch[i]->set || a->stuck)
			return;
	while (a->patches) {
		a->shared->first[a->patches] = NULL;
		a->shared->left.jump[a->patches].at = 0;
		free(a->patch[--a->patches]);
	}
}

static u64 missed(void *ctx, const struct gtp_location *loc)
{
	return loc->missed;
}

/*
 * Make the call while all threads are stopped, and none is in a hit of the part. A part that no
 * thread has claimed has no hits: make the call at once, and if a thread claims the part meanwhile,
 * wait until its first hit has ended. A hit that was left by siglongjmp() never ends: do not wait
 * for it for ever.
 */
static void between_hits(void *ctx, struct gtp_cpu *cpu, void (*fn)(void *arg), void *arg)
{
	const struct timespec wait = { .tv_nsec = IDLE_WAIT_NS };
	struct agent *a = agent_of(ctx);
	bool called = cpu->id >= READ_ONCE(a->shared->claimed), quiet = !a->patches;

	if (called) {
		fn(arg);
		__sync_synchronize();
		quiet |= cpu->id >= READ_ONCE(a->shared->claimed);
	}
	for (u32 i = 0; i < IDLE_TRIES && !quiet; i++) {
		if (gtp_inject_begin(a->in, &(struct gtp_why){ "" }))
			break;
		quiet = !READ_ONCE(cpu->in_hit);
		if (quiet && !called)
			fn(arg);
		called |= quiet;
		gtp_inject_end(a->in);
		if (!quiet)
			nanosleep(&wait, NULL);
	}
	if (!called)
		fn(arg);
}

/* --- the rest --- */

static int lines_get(void *ctx, struct gtp_why *why)
{
	gtp_why(why, "a process takes no dprintf yet");
	return -EOPNOTSUPP;
}

static u64 memory_most(void *ctx)
{
	const struct gtp_space *s = &agent_of(ctx)->space;

	return (s->end - s->used) / 4;
}

static u64 no_bytes(void *ctx)
{
	return 0;
}

static u64 wallclock_us(void *ctx)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (u64)now.tv_sec * 1000000 + (u64)now.tv_nsec / 1000;
}

static const struct gtp_target_ops target_ops = {
	.arm = arm,
	.arm_done = arm_done,
	.disarm = disarm,
	.missed = missed,
	.buffers_get = buffers_get,
	.buffers_put = buffers_put,
	.lines_get = lines_get,
	.between_hits = between_hits,
	.memory_most = memory_most,
	.stacks_bytes = no_bytes,
	.wallclock_us = wallclock_us,
	.code_begin = code_begin,
	.code_make = code_make,
	.code_make_actions = code_make_actions,
	.code_end = code_end,
	.code_forget = code_forget,
};

int agent_init(struct agent *a, struct gtp_process *process, const struct gtp_hit_ops *read,
	       void *ctx, struct gtp_why *why)
{
	struct gtp_mem mem;
	int rc = enter_space(a);

	a->process = process;
	if (rc) {
		gtp_why(why, "no room for the session: %s", strerror(-rc));
		return rc;
	}
	mem = gtp_space_mem(&a->space);
	a->patch = calloc(2 * GTP_AGENT_NUMBERS, sizeof(struct gtp_patch *));
	a->going = a->patch + GTP_AGENT_NUMBERS;
	a->trace = gtp_space_alloc(&a->space, sizeof(*a->trace), true);
	gtp_why(why, "out of memory");
	rc = a->patch && a->trace ? gtp_trace_init(a->trace, &mem, &target_ops, read, ctx) :
				    -ENOMEM;
	if (!rc) {
		clean_process(process, &(struct gtp_why){ "" });
		return 0;
	}
	free(a->patch);
	gtp_space_close(&a->space);
	return rc;
}

void agent_look(struct agent *a)
{
	if (!a->in || !a->shared->may_call || !fit_has_filter(a->process))
		return;
	WRITE_ONCE(a->shared->may_call, false);
	if (!gtp_process_is_gone(a->process, &(struct gtp_why){ "" }))
		warnx("process %u has a seccomp filter now: hits read less memory from now on",
		      a->process->pid);
}

void agent_exit(struct agent *a)
{
	gtp_trace_exit(a->trace);
	enter_leave(a);
	gtp_places_free(&a->files);
	free(a->patch);
	gtp_space_close(&a->space);
}
