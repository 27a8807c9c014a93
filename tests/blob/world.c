// SPDX-License-Identifier: GPL-2.0-only
/* A process that is its own host. */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/blob/world.h"

enum {
	CODE_BYTES = 1 << 20,
	NEAR_STEP = 16 << 20,
	JUMP = 0xe9,
};

static const u64 space_at = 0x200000000000, space_bytes = 4ULL << 30;
static int self_mem;

/* --- the process --- */

static int write_mem(void *ctx, u64 addr, const void *src, u64 len)
{
	return pwrite(self_mem, src, len, (off_t)addr) == (ssize_t)len ? 0 : -EFAULT;
}

static void *map(void *at, u64 bytes, int prot)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0);
	void *p = mmap(at, bytes, prot, flags, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static u64 map_code(void)
{
	u64 text = (u64)(unsigned long)map_code & -(u64)NEAR_STEP;

	for (u32 i = 1; i < 100; i++) {
		void *p = map((void *)(unsigned long)(text - (u64)i * NEAR_STEP), CODE_BYTES,
			      PROT_READ | PROT_EXEC);

		if (p)
			return (u64)(unsigned long)p;
	}
	errx(1, "no room for code");
}

static void load_image(struct world *w, const char *path)
{
	static u8 image[CODE_BYTES];
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, image, sizeof(image));

	if (n <= 0)
		err(1, "%s", path);
	close(fd);
	if (gtp_agent_code_init(&w->code, image, (u32)n))
		errx(1, "%s is no image", path);
}

/* --- what a session needs --- */

static int code_begin(void *ctx, const struct gtp_tsvs *tsvs, struct gtp_why *why)
{
	((struct world *)ctx)->code.tsvs = tsvs;
	return 0;
}

static int code_make(void *ctx, struct gtp_expr *e, u64 pc, struct gtp_why *why)
{
	return gtp_agent_code_make(&((struct world *)ctx)->code, e, pc);
}

static int code_make_actions(void *ctx, struct gtp_tracepoint *tp, struct gtp_why *why)
{
	return gtp_agent_code_make_actions(&((struct world *)ctx)->code, tp);
}

static void code_end(void *ctx)
{
}

static void code_forget(void *ctx)
{
	gtp_agent_code_forget(&((struct world *)ctx)->code);
}

static int buffers_get(void *ctx, u64 bytes, bool circular, u32 nslots, struct gtp_cpu ***cpus,
		       u32 *ncpus, struct gtp_why *why)
{
	struct world *w = ctx;
	struct gtp_agent_parts want = {
		.n = w->parts,
		.each = w->each,
		.circular = circular,
		.nslots = nslots,
		.stacks = w->own_stacks ? (u64)(unsigned long)w->stacks : 0,
	};

	*cpus = gtp_agent_parts_get(&w->space, w->shared, &want);
	*ncpus = w->parts;
	memset(w->agent->slot, 0, sizeof(w->agent->slot));
	gtp_why(why, "no memory");
	return *cpus ? 0 : -ENOMEM;
}

static void buffers_put(void *ctx, struct gtp_cpu **cpus, u32 ncpus)
{
	struct world *w = ctx;

	gtp_agent_parts_put(&w->space, w->shared, cpus, ncpus);
}

static struct world_place *find_place(struct world *w, u64 addr)
{
	for (u32 i = 0; i < w->nplaces; i++)
		if (w->place[i].at == addr)
			return &w->place[i];
	return NULL;
}

static int arm(void *ctx, struct gtp_location *loc, struct gtp_why *why)
{
	struct world *w = ctx;
	struct world_place *p = find_place(w, loc->addr);
	u32 number;
	int rc;

	if (!p)
		return -ENOENT;
	number = (u32)(p - w->place) + 1;
	rc = gtp_agent_code_pad(&w->code, loc, &p->region, number, &p->pad);
	gtp_why(why, "no pad");
	if (rc)
		return rc;
	w->shared->first[number] = loc->first;
	p->prepared = true;
	loc->probe = p;
	loc->probe_kind = "jump";
	loc->fast = true;
	return 0;
}

static int arm_done(void *ctx, struct gtp_location *first, struct gtp_why *why)
{
	for (struct gtp_location *loc = first; loc; loc = loc->next) {
		const struct world_place *p = loc->probe;
		u8 jump[GTP_REGION_JUMP] = { JUMP };

		if (!p)
			continue;
		gtp_put_le(jump + 1, p->pad.at - (p->at + sizeof(jump)), 4);
		if (write_mem(NULL, p->at, jump, sizeof(jump)))
			return -EFAULT;
	}
	return 0;
}

static void disarm(void *ctx, struct gtp_location *first)
{
	for (struct gtp_location *loc = first; loc; loc = loc->next) {
		const struct world_place *p = loc->probe;

		if (p && write_mem(NULL, p->at, p->region.bytes, GTP_REGION_JUMP))
			err(1, "/proc/self/mem");
		loc->probe = NULL;
	}
}

static u64 missed(void *ctx, const struct gtp_location *loc)
{
	return loc->missed;
}

static void between_hits(void *ctx, struct gtp_cpu *cpu, void (*fn)(void *arg), void *arg)
{
	fn(arg);
}

static u64 memory_most(void *ctx)
{
	return 1ULL << 30;
}

static u64 wallclock_us(void *ctx)
{
	return (u64)time(NULL) * 1000000;
}

static const struct gtp_target_ops target_ops = {
	.arm = arm,
	.arm_done = arm_done,
	.disarm = disarm,
	.missed = missed,
	.buffers_get = buffers_get,
	.buffers_put = buffers_put,
	.between_hits = between_hits,
	.memory_most = memory_most,
	.stacks_bytes = memory_most,
	.wallclock_us = wallclock_us,
	.code_begin = code_begin,
	.code_make = code_make,
	.code_make_actions = code_make_actions,
	.code_end = code_end,
	.code_forget = code_forget,
};

/* --- for the tests --- */

void world_place(struct world *w, const void *at, bool flags_dead)
{
	struct world_place *p = &w->place[w->nplaces++];
	struct gtp_region *r = &p->region;

	p->at = (u64)(unsigned long)at;
	r->flags_dead = flags_dead;
	r->falls_out = true;
	memcpy(r->bytes, at, GTP_REGION_MAX);
	while (r->len < GTP_REGION_JUMP) {
		if (gtp_insn_decode(&r->insn[r->n], r->bytes + r->len, GTP_REGION_MAX - r->len))
			errx(1, "place %u is not decoded", w->nplaces);
		r->len += r->insn[r->n++].len;
	}
}

const char *world_expr(const char *hex)
{
	static char text[512];

	snprintf(text, sizeof(text), "X%zx,%s", strlen(hex) / 2, hex);
	return text;
}

void world_define(struct world *w, const void *at, const char *cond, const char *actions)
{
	struct gtp_tracepoint *tp = NULL;
	struct gtp_why why = { "" };
	char text[1024];
	u32 num = w->trace->tps.count + 1;
	int rc;

	snprintf(text, sizeof(text), "%x:%lx:E:0:0%s%s%s", num, (unsigned long)at, cond ? ":" : "",
		 cond ? world_expr(cond) : "", actions ? "-" : "");
	rc = gtp_tracepoint_define(&w->trace->tps, &w->trace->mem, text, &tp, &why);
	if (!rc && actions) {
		snprintf(text, sizeof(text), "%x:%lx:%s", num, (unsigned long)at, actions);
		rc = gtp_tracepoint_add_actions(&w->trace->tps, &w->trace->mem, text, &why);
	}
	if (rc)
		errx(1, "tracepoint %u: %s", num, why.text);
}

void world_start(struct world *w)
{
	struct gtp_why why = { "" };

	w->shared->no_part = 0;
	w->shared->stopping = 0;
	if (gtp_trace_start(w->trace, &why))
		errx(1, "tstart: %s", why.text);
}

void world_stop(struct world *w)
{
	gtp_trace_settle(w->trace);
	gtp_trace_stop(w->trace, GTP_STOP_USER);
}

void world_reset(struct world *w)
{
	gtp_trace_reset(w->trace);
	w->trace->circular = false;
	w->trace->pass_errors = false;
	w->parts = WORLD_PARTS;
	w->each = 1 << 20;
	w->own_stacks = true;
}

u64 world_hits(const struct world *w)
{
	return gtp_trace_hits(w->trace, w->trace->tps.first).hits;
}

void world_init(struct world *w, const char *image)
{
	struct gtp_mem mem;

	self_mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	if (self_mem < 0)
		err(1, "/proc/self/mem");
	errno = -gtp_space_open(&w->space, memfd_create("gtp", MFD_CLOEXEC), space_at, space_bytes);
	if (errno)
		err(1, "the space");
	mem = gtp_space_mem(&w->space);
	w->shared = gtp_space_alloc(&w->space, sizeof(*w->shared), true);
	w->trace = gtp_space_alloc(&w->space, sizeof(*w->trace), true);
	w->agent = map(NULL, sizeof(*w->agent), PROT_READ | PROT_WRITE);
	w->stacks = map(NULL, (u64)WORLD_PARTS * GTP_AGENT_STACK, PROT_READ | PROT_WRITE);
	if (!w->agent || !w->stacks || madvise(w->agent, sizeof(*w->agent), MADV_WIPEONFORK))
		err(1, "the agent's data");
	w->agent->on = 1;
	w->shared->may_call = true;
	w->shared->pid = (u32)getpid();
	w->shared->owner.word = w->shared->pid;
	gtp_agent_calibrate(w->shared);
	w->code = (struct gtp_agent_code){
		.at = map_code(),
		.size = CODE_BYTES,
		.agent = (u64)(unsigned long)w->agent,
		.shared = (u64)(unsigned long)w->shared,
		.write = write_mem,
	};
	load_image(w, image);
	if (gtp_trace_init(w->trace, &mem, &target_ops, w->code.hit_ops, w))
		errx(1, "no memory for a session");
	w->trace->run.no_actions = w->code.no_actions;
	world_reset(w);
}
