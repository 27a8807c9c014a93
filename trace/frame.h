/* SPDX-License-Identifier: GPL-2.0-only */
/* The format of a trace frame in the trace buffer, and how to walk its blocks. */
#ifndef _GTP_FRAME_H
#define _GTP_FRAME_H

#include "base/base.h"
#include "base/regs.h"

/*
 * A frame is a head and blocks, contiguous in memory; all their sizes are multiples of 8. Only
 * gdbtp uses this format, which a hit can write cheaply. Frames are converted to GDB's format when
 * they are read (see trace/tfile.h), so no program outside the module sees it.
 *
 * These files depend on the format. hit/hit.h (gtp_hit_record()), hit/hit.c, hit/settle.c,
 * trace/buffer.c and the pads of pad/frame.c write heads. trace/buffer.c, the machine code of
 * jit/record.c and jit/record_string.c, and the pads write blocks. trace/frame.c, trace/sdata.c,
 * trace/tfile.c and stub/pkt_xfer.c walk the blocks. trace/index.c, export/stream.c and
 * stub/pkt_frame.c read only heads. tracepoint/define.c, hit/fetch.c and kernel/hit/stack_kernel.c
 * use only GTP_FRAME_MAX, and stub/pkt_memory.c only GTP_BLOCK_MEM_MAX. All other files call the
 * functions of this header. Tests that name GTP_BLOCK_* know the format, too.
 */

/**
 * struct gtp_frame - the head of a frame
 * @size: the bytes of the frame, including this head; a multiple of 8
 * @tp: GDB's tracepoint number
 * @flags: GTP_FRAME_*
 * @time: the time of the hit, by which frames of all CPUs are ordered: the value of the time stamp
 * counter, or ns; all frames of a run have the same unit
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
	GTP_FRAME_PAD = 1 << 0,	    /* padding up to the end of the ring, not a frame */
	GTP_FRAME_PARTIAL = 1 << 1, /* an error ended the frame early */
	/* The tracepoint has several locations, so the pc does not follow from its number. */
	GTP_FRAME_SEVERAL_LOCATIONS = 1 << 2,
};

enum gtp_block_type {
	GTP_BLOCK_REGS = 1, /* u64 mask, then one u64 per bit set, lowest first */
	GTP_BLOCK_MEM,	    /* u64 address, then len bytes, padded to 8 */
	GTP_BLOCK_VAR,	    /* s64 value; num is the variable's number */
	GTP_BLOCK_STATIC,   /* a kernel event's record: len bytes, padded to 8 */
};

/**
 * struct gtp_block - head of a block inside a frame
 * @len: MEM, STATIC: bytes of data, at most GTP_BLOCK_MEM_MAX, GTP_SDATA_RECORD_MAX; REGS, VAR:
 *       bytes after this head
 * @type: enum gtp_block_type
 * @num: the number of the trace state variable, otherwise 0
 *
 * In this order of members most heads are sign-extended 32-bit numbers, which one instruction can
 * store.
 */
struct gtp_block {
	u16 len;
	u16 type;
	u32 num;
};

enum {
	GTP_FRAME_MAX = 1 << 20,   /* most bytes of a frame, to bound the time of a hit */
	GTP_BLOCK_MEM_MAX = 65528, /* GDB's format has 16 bits for the size of a block */
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
 * gtp_frame_read_mem() - read memory that the frame has collected
 * @f: the frame
 * @addr: the address of the first byte
 * @dst: receives the bytes
 * @len: the number of bytes wanted
 *
 * The bytes may come from several blocks, which may adjoin or overlap. The first block that
 * contains an address is read to its end, as GDB does with trace files; both must agree.
 * Return: the number of bytes from @addr on that the frame has without a gap; 0 if it does not have
 * the first byte.
 */
u32 gtp_frame_read_mem(const struct gtp_frame *f, u64 addr, void *dst, u32 len);

/**
 * gtp_frame_get_reg() - read a register that the frame has collected
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
