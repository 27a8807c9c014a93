/* SPDX-License-Identifier: GPL-2.0-only */
/* One traceframe as it is stored in the trace buffer, and how to walk its blocks. */
#ifndef _GTP_FRAME_H
#define _GTP_FRAME_H

#include "base/base.h"
#include "base/regs.h"

/*
 * A frame is a head and blocks, all multiples of 8 bytes, contiguous in memory. The format is
 * gdbtp's own, cheap for a hit to write; GDB's images are generated on reading (see
 * trace/tfile.h). No program outside the module sees it.
 *
 * Who depends on it: heads are written by hit/hit.h (gtp_hit_record()), hit/hit.c, hit/settle.c,
 * trace/buffer.c, and by the pads of pad/frame.c; blocks by trace/buffer.c, by the machine code of
 * jit/record.c and jit/record_string.c, and by the pads. trace/frame.c, trace/sdata.c,
 * trace/tfile.c and stub/pkt_xfer.c walk the blocks; trace/index.c, export/stream.c and
 * stub/pkt_frame.c read only heads. tracepoint/define.c, hit/fetch.c and kernel/hit/stack_kernel.c
 * use only GTP_FRAME_MAX, stub/pkt_memory.c only GTP_BLOCK_MEM_MAX. All others call the functions
 * below. Of the tests, those that name GTP_BLOCK_* know the layout.
 */

/**
 * struct gtp_frame - the head of a frame
 * @size: the frame's bytes, head included; a multiple of 8
 * @tp: GDB's tracepoint number
 * @flags: GTP_FRAME_*
 * @time: orders frames between CPUs: the processor's counter, or ns; the unit is the same in all of
 * a run
 * @pc: the address of the location that was hit
 */
struct gtp_frame {
	u32 size;
	u16 tp;
	u16 flags;
	u64 time;
	u64 pc;
};

enum {
	GTP_FRAME_PAD = 1 << 0,	    /* not a frame: filler up to the end of the ring */
	GTP_FRAME_PARTIAL = 1 << 1, /* an expression's error ended the frame early */
	/* The tracepoint has several locations: its number alone does not give the pc. */
	GTP_FRAME_SEVERAL_LOCATIONS = 1 << 2,
};

enum gtp_block_type {
	GTP_BLOCK_REGS = 1, /* u64 mask, then one u64 per bit set, lowest first */
	GTP_BLOCK_MEM,	    /* u64 address, then len bytes, padded to 8 */
	GTP_BLOCK_VAR,	    /* s64 value; num is the variable's number */
	GTP_BLOCK_STATIC,   /* an event's record: len bytes, padded to 8 */
};

/**
 * struct gtp_block - head of a block inside a frame
 * @len: MEM, STATIC: bytes of data, at most GTP_BLOCK_MEM_MAX, GTP_SDATA_RECORD_MAX; REGS, VAR:
 *       bytes after this head
 * @type: enum gtp_block_type
 * @num: the number of the trace state variable, otherwise 0
 *
 * In this order of members most heads fit into a sign-extended imm32, so that one instruction
 * stores them.
 */
struct gtp_block {
	u16 len;
	u16 type;
	u32 num;
};

enum {
	GTP_FRAME_MAX = 1 << 20,   /* most bytes of a frame: a hit's copying must stay bounded */
	GTP_BLOCK_MEM_MAX = 65528, /* GDB's images count in 16 bits; more memory: more blocks */
};

/* gtp_block_size - return the bytes of a block, its head included */
static inline u32 gtp_block_size(const struct gtp_block *b)
{
	u32 body = b->type == GTP_BLOCK_MEM ? 8 + b->len : b->len;

	return sizeof(*b) + gtp_round8(body);
}

/**
 * gtp_frame_next_block() - walk the blocks of a frame
 * @f: a committed frame
 * @b: the previous block; NULL: return the first one
 *
 * Return: the next block or NULL.
 */
static inline const struct gtp_block *gtp_frame_next_block(const struct gtp_frame *f,
							   const struct gtp_block *b)
{
	const u8 *start = (const u8 *)f;
	const u8 *next = b ? (const u8 *)b + gtp_block_size(b) : start + sizeof(*f);

	if (next + sizeof(*b) > start + f->size)
		return NULL;
	return (const struct gtp_block *)next;
}

/* gtp_frame_mem - return the address and the bytes of a MEM block */
static inline u64 gtp_frame_mem_addr(const struct gtp_block *b)
{
	return *(const u64 *)(b + 1);
}

static inline const u8 *gtp_frame_mem_data(const struct gtp_block *b)
{
	return (const u8 *)(b + 1) + 8;
}

/**
 * gtp_frame_read_mem() - read memory as the frame has it
 * @f: the frame
 * @addr: the address of the first byte
 * @dst: receives the bytes
 * @len: the number of bytes wanted
 *
 * Blocks may overlap and adjoin; bytes from several blocks are put together. If blocks overlap, the
 * first one that has the address is read to its end. GDB does the same with trace files, and both
 * must agree.
 * Return: the number of bytes, starting at @addr, that the frame holds without a gap; 0 if it lacks
 * even the first one.
 */
u32 gtp_frame_read_mem(const struct gtp_frame *f, u64 addr, void *dst, u32 len);

/**
 * gtp_frame_get_reg() - read a register as the frame has it
 * @f: the frame
 * @n: GDB's number of the register
 * @value: receives the value
 *
 * rip is always known: the location's address. Return: false if the register was not collected.
 */
bool gtp_frame_get_reg(const struct gtp_frame *f, u32 n, u64 *value);

/**
 * gtp_frame_get_var() - read the last value of a trace state variable that the frame recorded
 * @f: the frame
 * @tsv: the variable
 * @value: receives the value
 *
 * Return: false if the variable was not collected.
 */
bool gtp_frame_get_var(const struct gtp_frame *f, u16 tsv, s64 *value);

#endif /* _GTP_FRAME_H */
