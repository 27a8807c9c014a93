// SPDX-License-Identifier: GPL-2.0-only
/* Writes code for a traced process: relocates the image, compiles expressions, makes pads. */
#include <cpuid.h>
#include <elf.h>
#include <stdlib.h>

#include "jit/item.h"
#include "jit/stub_calls.h"
#include "pad/frame.h"
#include "pad/pad.h"
#include "user/agent/image.h"
#include "user/host/code.h"

enum { USER_CS = 0x33, USER_SS = 0x2b, LAHF_BIT = 1 };

/* --- the image --- */

/* Return the bytes that an offset of the head leads to; NULL if they are not in the image. */
static u8 *led(u8 *image, u32 bytes, const s32 *offset, u32 len)
{
	s64 at = (const u8 *)offset - image + *offset;

	return at >= 0 && at + len <= bytes ? image + at : NULL;
}

static int relocate(u8 *image, u32 bytes, const struct gtp_agent_head *head, u64 base)
{
	const u8 *from = led(image, bytes, &head->rela, 0);
	const u8 *end = led(image, bytes, &head->rela_end, 0);

	if (!from || !end || from > end || (size_t)(end - from) % sizeof(Elf64_Rela))
		return -EINVAL;
	for (; from < end; from += sizeof(Elf64_Rela)) {
		Elf64_Rela r;
		u64 word;

		memcpy(&r, from, sizeof(r));
		if (ELF64_R_TYPE(r.r_info) != R_X86_64_RELATIVE || r.r_offset + 8 > bytes)
			return -EINVAL;
		word = base + (u64)r.r_addend;
		memcpy(image + r.r_offset, &word, sizeof(word));
	}
	return 0;
}

static u64 address(const struct gtp_agent_code *c, const u8 *image, const u8 *p)
{
	return c->at + (u64)(p - image);
}

static bool has_lahf(void)
{
	u32 a, b, d, features = 0;

	return __get_cpuid(0x80000001, &a, &b, &features, &d) && features & LAHF_BIT;
}

static int use_head(struct gtp_agent_code *c, u8 *image, u32 bytes, u8 *stubs, u32 room)
{
	const struct gtp_agent_head *head = (const void *)image;
	const u8 *pad_hit = led(image, bytes, &head->pad_hit, 1);
	const u8 *ops = led(image, bytes, &head->hit_ops, sizeof(struct gtp_hit_ops));
	const u8 *calls =
		led(image, bytes, &head->calls, AX_JIT_NR_STUBS * sizeof(struct jit_stub_call));
	const u8 *no_actions = led(image, bytes, &head->no_actions, 1);
	u32 len;

	if (!pad_hit || !ops || !calls || !no_actions)
		return -EINVAL;
	c->no_actions = (void *)(unsigned long)address(c, image, no_actions);
	c->hit_ops = (const struct gtp_hit_ops *)(unsigned long)address(c, image, ops);
	c->target = (struct ax_jit_target){
		.lahf = has_lahf(),
		.red_zone = GTP_AGENT_RED_ZONE,
		.pad_hit = address(c, image, pad_hit),
	};
	len = ax_jit_stubs_for(&c->target, (const struct jit_stub_call *)calls,
			       c->at + (u64)(stubs - image), stubs, room);
	c->kept = (u32)(stubs - image) + ((len + AX_JIT_CODE_ALIGN - 1) & -(u32)AX_JIT_CODE_ALIGN);
	c->used = c->kept;
	return len ? 0 : -ENOSPC;
}

enum { STUBS_ROOM = 4096 };

int gtp_agent_code_init(struct gtp_agent_code *c, const void *from, u32 bytes)
{
	u32 stubs = (bytes + AX_JIT_CODE_ALIGN - 1) & -(u32)AX_JIT_CODE_ALIGN;
	struct gtp_agent_head *head;
	u8 *image;
	int err;

	if (bytes < sizeof(*head))
		return -EINVAL;
	if (c->size < stubs + STUBS_ROOM)
		return -ENOSPC;
	image = calloc(1, stubs + STUBS_ROOM);
	if (!image)
		return -ENOMEM;
	memcpy(image, from, bytes);
	head = (struct gtp_agent_head *)image;
	head->where = c->agent;
	head->data = c->shared;
	err = head->magic == GTP_AGENT_MAGIC ? relocate(image, bytes, head, c->at) : -EINVAL;
	if (!err)
		err = use_head(c, image, bytes, image + stubs, STUBS_ROOM);
	if (!err)
		err = c->write(c->ctx, c->at, image, c->kept);
	free(image);
	return err;
}

/* --- compiled code --- */

/* Write planned code at the end of what is in use. Return 0 or -errno; @at receives its address. */
static int emit(struct gtp_agent_code *c, struct ax_jit *work, u32 len, u64 *at)
{
	u8 *bytes;
	int err;

	if (!len)
		return -EOPNOTSUPP;
	if (len > c->size - c->used)
		return -ENOSPC;
	bytes = malloc(len);
	if (!bytes)
		return -ENOMEM;
	*at = c->at + c->used;
	err = ax_jit_emit(work, *at, bytes, len);
	if (!err)
		err = c->write(c->ctx, *at, bytes, len);
	if (!err)
		c->used += (len + AX_JIT_CODE_ALIGN - 1) & -(u32)AX_JIT_CODE_ALIGN;
	if (c->used > c->size)
		c->used = c->size;
	free(bytes);
	return err;
}

static int compile(struct gtp_agent_code *c, struct ax_jit_request *req, void **code, u32 *len,
		   u32 *frame_bytes)
{
	struct ax_jit *work;
	u64 at = 0;
	int err;

	req->target = &c->target;
	req->ways = c->tsvs->ways;
	req->slots = c->tsvs->slot;
	work = malloc(ax_jit_work_size(req));
	if (!work)
		return -ENOMEM;
	*len = ax_jit_plan(work, req);
	err = emit(c, work, *len, &at);
	*code = err ? NULL : (void *)(unsigned long)at;
	if (frame_bytes)
		*frame_bytes = ax_jit_frame_bytes(work);
	free(work);
	return err;
}

int gtp_agent_code_make(struct gtp_agent_code *c, struct gtp_expr *e, u64 pc)
{
	struct ax_jit_request req = { .v = &e->ax, .pc = pc };
	int err = compile(c, &req, &e->compiled, &e->compiled_len, NULL);

	e->early = false;
	return err;
}

static struct ax_jit_item *items_of(const struct gtp_tracepoint *tp, u32 *n)
{
	struct ax_jit_item *items = calloc(tp->nactions + 1, sizeof(*items));

	*n = 0;
	for (const struct gtp_action *a = tp->actions; items && a; a = a->next)
		items[(*n)++] = gtp_jit_item(a);
	return items;
}

int gtp_agent_code_make_actions(struct gtp_agent_code *c, struct gtp_tracepoint *tp)
{
	struct ax_jit_request req = { .pc = tp->addr };
	struct ax_jit_item *items = items_of(tp, &req.nitems);
	int err;

	if (!items)
		return -ENOMEM;
	req.items = items;
	err = compile(c, &req, &tp->code, &tp->code_len, &tp->frame_bytes);
	free(items);
	return err;
}

void gtp_agent_code_forget(struct gtp_agent_code *c)
{
	c->used = c->kept;
}

/* --- pads --- */

static bool expr_reads(const struct gtp_expr *e, u32 reg)
{
	return e && e->ax.regs_used >> reg & 1;
}

/* True if a tracepoint of the location reads the flags: only then must a pad keep dead ones. */
static bool reads_flags(const struct gtp_location *loc)
{
	const struct gtp_tracepoint *tp;
	const struct gtp_action *a;

	for (tp = loc->first; tp; tp = tp->next_here) {
		if (expr_reads(tp->cond, GTP_REG_FLAGS))
			return true;
		for (a = tp->actions; a; a = a->next)
			if ((a->kind == GTP_ACTION_REGS && a->mask >> GTP_REG_FLAGS & 1) ||
			    expr_reads(a->expr, GTP_REG_FLAGS))
				return true;
	}
	return false;
}

/*
 * True if the actions read no memory. A pad in a process cannot read any: only C knows which memory
 * is mapped.
 */
static bool reads_nothing(const struct gtp_tracepoint *tp)
{
	for (const struct gtp_action *a = tp->actions; a; a = a->next)
		if (a->kind == GTP_ACTION_MEM ||
		    (a->expr && a->expr->ax.flags & (AX_F_READS_MEM | AX_F_COLLECTS | AX_F_STRING)))
			return false;
	return true;
}

static int make(struct gtp_agent_code *c, const struct gtp_pad_request *req,
		struct gtp_agent_pad *pad)
{
	struct ax_jit *work = malloc(gtp_pad_work_size(req));
	int err;

	if (!work)
		return -ENOMEM;
	pad->len = gtp_pad_plan(work, req);
	err = emit(c, work, pad->len, &pad->at);
	free(work);
	return err;
}

static int make_with_frame(struct gtp_agent_code *c, struct gtp_pad_request *req,
			   const struct gtp_tracepoint *tp, struct gtp_agent_pad *pad)
{
	struct gtp_pad_frame frame = {
		.tp = tp,
		.cs = USER_CS,
		.ss = USER_SS,
		.parts = c->agent + offsetof(struct gtp_agent, slot),
	};
	struct ax_jit_item *items;
	int err;

	if (!tp->plan.in_pad || !gtp_pad_frame_can(tp, req->cond) || !reads_nothing(tp))
		return -EOPNOTSUPP;
	items = items_of(tp, &frame.nitems);
	if (!items)
		return -ENOMEM;
	frame.items = items;
	req->frame = &frame;
	err = make(c, req, pad);
	req->frame = NULL;
	free(items);
	return err;
}

int gtp_agent_code_pad(struct gtp_agent_code *c, const struct gtp_location *loc,
		       const struct gtp_region *region, u32 number, struct gtp_agent_pad *pad)
{
	const struct gtp_tracepoint *tp = loc->n == 1 ? loc->first : NULL;
	u32 copies[GTP_REGION_JUMP] = { 0 };
	struct gtp_pad_request req = {
		.region = region,
		.target = &c->target,
		.at = loc->addr,
		.number = number,
		.keep_flags = reads_flags(loc),
		.copies = copies,
	};
	int err;

	if (tp && tp->cond && !(tp->cond->ax.flags & AX_F_READS_MEM) &&
	    gtp_pad_can(&tp->cond->ax, &c->target, c->tsvs->ways))
		req.cond = &tp->cond->ax;
	err = tp ? make_with_frame(c, &req, tp, pad) : -EOPNOTSUPP;
	if (err)
		err = make(c, &req, pad);
	if (err && req.cond) {
		req.cond = NULL;
		err = make(c, &req, pad);
	}
	for (u32 i = 0; !err && i < region->n; i++)
		pad->copy[i] = pad->at + copies[i];
	return err;
}
