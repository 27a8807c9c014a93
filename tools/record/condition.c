// SPDX-License-Identifier: GPL-2.0-only
/*
 * A condition on the contents of a frame, in the same bytecode that GDB compiles for hits.
 *
 * The interpreter of the module evaluates it with the data that the frame has collected. As in GDB,
 * an address is read from the first block that contains it, and a variable has its last value.
 */
#include <stdlib.h>
#include "base/regs.h"
#include "condition.h"
#include "run/fail.h"
#include "tools/axasm.h"

enum {
	MEMORY = 1 + 8 + 2,   /* 'M', u64 address, u16 length */
	VARIABLE = 1 + 4 + 8, /* 'V', u32 number, s64 value */
	STATIC = 1 + 2,	      /* 'S', u16 length */
};

/* --- a frame's blocks --- */

/* struct block - one block of a frame; @at: the address of an M block, the variable of a V block */
struct block {
	u8 kind;
	u64 at;
	const u8 *bytes;
	size_t len;
};

/* next - parse the block that begins at @p; return its length, or 0 if it is not complete */
static size_t next(const u8 *p, size_t left, u32 register_bytes, struct block *b)
{
	size_t head = 0;

	*b = (struct block){ .kind = left ? *p : 0 };
	if (b->kind == 'R') {
		head = 1;
		b->len = register_bytes;
	} else if (b->kind == 'M' && left >= MEMORY) {
		head = MEMORY;
		b->at = gtp_get_le(p + 1, 8);
		b->len = (size_t)gtp_get_le(p + 9, 2);
	} else if (b->kind == 'V' && left >= VARIABLE) {
		head = VARIABLE - 8;
		b->at = gtp_get_le(p + 1, 4);
		b->len = 8;
	} else if (b->kind == 'S' && left >= STATIC) {
		head = STATIC;
		b->len = (size_t)gtp_get_le(p + 1, 2);
	}
	b->bytes = p + head;
	return head && b->len <= left - head ? head + b->len : 0;
}

/*
 * struct view - a frame that a condition's code reads; @missing: true if the code has read data
 * that the frame does not have
 */
struct view {
	const u8 *frame;
	size_t len;
	u32 register_bytes;
	bool missing;
};

/*
 * find - find a block: for memory the first that contains address @at, for registers the first, and
 * for variable @at the last, because an action that sets a variable records its old value before
 * the new one. Return false if there is no such block
 */
static bool find(const struct view *v, u8 kind, u64 at, struct block *b)
{
	size_t done = 0, size;
	bool found = false;
	struct block each;

	while ((size = next(v->frame + done, v->len - done, v->register_bytes, &each))) {
		done += size;
		if (each.kind != kind || (kind == 'V' && each.at != at) ||
		    (kind == 'M' && at - each.at >= each.len))
			continue;
		*b = each;
		found = true;
		if (kind != 'V')
			break;
	}
	return found;
}

static int read_memory(void *ctx, void *dst, u64 addr, u32 len)
{
	struct view *v = ctx;
	struct block b;
	u8 *to = dst;

	while (len) {
		u32 n;

		if (!find(v, 'M', addr, &b)) {
			v->missing = true;
			return -EFAULT;
		}
		n = b.len - (addr - b.at) < len ? (u32)(b.len - (addr - b.at)) : len;
		memcpy(to, b.bytes + (addr - b.at), n);
		to += n;
		addr += n;
		len -= n;
	}
	return 0;
}

static s64 getv(void *ctx, u16 tsv)
{
	struct view *v = ctx;
	struct block b;

	if (find(v, 'V', tsv, &b))
		return (s64)gtp_get_le(b.bytes, 8);
	v->missing = true;
	return 0;
}

/* Ignore the setting of a variable, because the hit is over. */

static void setv(void *ctx, u16 tsv, s64 value)
{
}

static s64 addv(void *ctx, u16 tsv, s64 by)
{
	return getv(ctx, tsv) + by;
}

static int trace(void *ctx, u64 addr, u64 len)
{
	return 0;
}

static int tracev(void *ctx, u16 tsv)
{
	return 0;
}

static void print(void *ctx, const char *text, u32 len)
{
}

static const struct ax_ops ops = {
	.read = read_memory,
	.getv = getv,
	.setv = setv,
	.addv = addv,
	.trace = trace,
	.trace_string = trace,
	.tracev = tracev,
	.print = print,
};

static bool find_registers(const struct view *v, struct block *b)
{
	return find(v, 'R', 0, b) && b->len >= GTP_G_PACKET_BYTES;
}

static void set_registers(struct gtp_regs *regs, const struct block *b)
{
	const u8 *p = b->bytes;
	u32 n;

	for (n = 0; n < GTP_NR_SAVED_REGS; p += gtp_regs_width(n++))
		*(u64 *)((u8 *)regs + gtp_regs_offset(n)) = gtp_get_le(p, gtp_regs_width(n));
}

/* --- evaluation --- */

u64 condition_pc(const u8 *frame, size_t len, u32 register_bytes)
{
	struct view v = { frame, len, register_bytes, false };
	struct block b;

	if (!find_registers(&v, &b))
		return 0;
	return gtp_get_le(b.bytes + 8 * GTP_REG_PC, 8);
}

enum condition_says condition_says(const struct condition *c, const u8 *frame, size_t len,
				   u32 register_bytes)
{
	static u64 stack[AX_MAX_DEPTH];
	static char text[AX_PRINT_MAX];
	struct view v = { frame, len, register_bytes, false };
	struct gtp_regs regs = { 0 };
	struct ax_env env = { .ops = &ops,
			      .ctx = &v,
			      .regs = &regs,
			      .pc = c->address,
			      .stack = stack,
			      .text = text };
	u64 needs = c->verified.regs_used & ~BIT_ULL(GTP_REG_PC), value;
	struct block b;

	if (!c->has_code)
		return CONDITION_NO;
	if (find_registers(&v, &b))
		set_registers(&regs, &b);
	else if (needs)
		return CONDITION_UNKNOWN;
	if (needs & ~c->known || ax_interp(&c->verified, &env, &value) || v.missing)
		return CONDITION_UNKNOWN;
	return value ? CONDITION_YES : CONDITION_NO;
}

/* --- parsing --- */

static bool assemble(struct condition *c, const char *text)
{
	struct ax_point *points = must(calloc(AX_MAX_LEN, sizeof(*points)));
	u8 *code = must(malloc(AX_MAX_LEN));
	struct ax_error error;
	char why[200];
	int len = axasm(text, code, AX_MAX_LEN, why, sizeof(why));

	return len > 0 && !ax_verify(code, (u32)len, AX_CONDITION, points, &c->verified, &error);
}

bool condition_parse(struct condition *c, const char *text)
{
	char *end;

	*c = (struct condition){ .tracepoint = (u32)strtoul(text, &end, 16) };
	c->address = strtoull(end, &end, 16);
	c->known = strtoull(end, &end, 16);
	c->has_code = *end && end[1];
	return !c->has_code || assemble(c, end + 1);
}
