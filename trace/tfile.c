// SPDX-License-Identifier: GPL-2.0-only
/* Converts a frame to GDB's format (its image) when it is read. A read may begin at any offset. */
#include "trace/tfile.h"
#include "trace/tfile_format.h"

/*
 * The size of all 8-byte registers. In a REGS block that has all of them, they are laid out as in a
 * g packet.
 */
#define WIDE_REGS_BYTES (GTP_NR_WIDE_REGS * 8)

static_assert(GTP_BLOCK_MEM_MAX <= U16_MAX, "a MEM block becomes one M block");

/* struct window - the requested part of a stream: skip @skip bytes, then copy @len bytes */
struct window {
	u64 skip;
	u8 *dst;
	u32 len;
};

/* Copy the part of @bytes that is in the window. */
static void put_piece(struct window *w, const void *bytes, u32 n)
{
	u32 skip;

	if (w->skip >= n) {
		w->skip -= n;
		return;
	}
	skip = (u32)w->skip;
	w->skip = 0;
	n -= skip;
	if (n > w->len)
		n = w->len;
	memcpy(w->dst, (const u8 *)bytes + skip, n);
	w->dst += n;
	w->len -= n;
}

/*
 * Copy the requested part of @bytes. In most cases all of it is requested: then the copy has a
 * constant size and takes only a few instructions.
 */
static inline void put(struct window *w, const void *bytes, u32 n)
{
	if (w->skip || w->len < n) {
		put_piece(w, bytes, n);
		return;
	}
	memcpy(w->dst, bytes, n);
	w->dst += n;
	w->len -= n;
}

/**
 * struct shape - facts about a frame's image, found before it is generated
 * @size: the size of the image
 * @regs: true if the image has an R block, which has all registers
 * @sdata: the number of bytes of $_sdata, which are in the last M block of the image
 */
struct shape {
	u32 size;
	bool regs;
	u32 sdata;
};

static struct shape measure(const struct gtp_frame *f, const struct gtp_sdata_format *formats)
{
	struct shape s = {
		.size = GTP_TFILE_HEAD,
		.regs = f->flags & GTP_FRAME_SEVERAL_LOCATIONS,
	};
	const struct gtp_block *b = NULL;
	bool sdata = false;

	while ((b = gtp_frame_next_block(f, b))) {
		if (b->type == GTP_BLOCK_MEM)
			s.size += GTP_TFILE_MEM + b->len;
		else if (b->type == GTP_BLOCK_VAR)
			s.size += GTP_TFILE_VAR;
		else if (b->type == GTP_BLOCK_REGS)
			s.regs = true;
		else
			sdata = true;
	}
	if (s.regs)
		s.size += GTP_TFILE_REGS + GTP_G_PACKET_BYTES;
	if (!sdata)
		return s;
	s.sdata = gtp_sdata_size(f, formats);
	if (s.sdata)
		s.size += GTP_TFILE_MEM + s.sdata;
	return s;
}

u32 gtp_tfile_frame_size(const struct gtp_frame *f, const struct gtp_sdata_format *formats)
{
	return measure(f, formats).size;
}

static void put_reg(u8 *image, u8 *known, u32 n, u64 value)
{
	u32 width = gtp_regs_width(n);
	u32 at = width == 8 ? n * 8 : WIDE_REGS_BYTES + (n - GTP_NR_WIDE_REGS) * 4;

	if (width == 8)
		gtp_put_le(image + at, value, 8);
	else
		gtp_put_le(image + at, value, 4);
	if (known)
		memset(known + at, 0xff, width);
}

/*
 * Copy the values of a REGS block into a g packet. They are in the order of the mask's bits; if the
 * block has all 8-byte registers, copy those at once.
 */
static void put_regs_block(u8 *image, u8 *known, const struct gtp_block *b)
{
	const u64 *value = (const u64 *)(b + 1);
	u64 mask = *value++;

	if ((mask & GTP_REGS_WIDE) == GTP_REGS_WIDE) {
		memcpy(image, value, WIDE_REGS_BYTES);
		if (known)
			memset(known, 0xff, WIDE_REGS_BYTES);
		value += GTP_NR_WIDE_REGS;
		mask &= ~GTP_REGS_WIDE;
	}
	for (; mask; mask &= mask - 1)
		put_reg(image, known, (u32)__builtin_ctzll(mask), *value++);
}

void gtp_tfile_g_image(const struct gtp_frame *f, u8 *image, u8 *known)
{
	const struct gtp_block *b = NULL;

	memset(image, 0, GTP_G_PACKET_BYTES);
	if (known)
		memset(known, 0, GTP_G_PACKET_BYTES);
	while ((b = gtp_frame_next_block(f, b)))
		if (b->type == GTP_BLOCK_REGS)
			put_regs_block(image, known, b);
	put_reg(image, known, GTP_REG_PC, f->pc);
}

static void put_head(struct window *w, const struct gtp_frame *f, u32 size)
{
	u8 head[GTP_TFILE_HEAD];

	gtp_put_le(head, f->tp, 2);
	gtp_put_le(head + 2, size - GTP_TFILE_HEAD, 4);
	put(w, head, sizeof(head));
}

static void put_regs(struct window *w, const struct gtp_frame *f)
{
	u8 image[GTP_TFILE_REGS + GTP_G_PACKET_BYTES] = { 'R' };

	gtp_tfile_g_image(f, image + GTP_TFILE_REGS, NULL);
	put(w, image, sizeof(image));
}

static void put_mem(struct window *w, const struct gtp_block *b)
{
	u8 head[GTP_TFILE_MEM] = { 'M' };

	gtp_put_le(head + 1, gtp_frame_mem_addr(b), 8);
	gtp_put_le(head + 9, b->len, 2);
	put(w, head, sizeof(head));
	put(w, gtp_frame_mem_data(b), b->len);
}

static void put_var(struct window *w, const struct gtp_block *b)
{
	u8 image[GTP_TFILE_VAR] = { 'V' };

	gtp_put_le(image + 1, b->num, 4);
	gtp_put_le(image + 5, *(const u64 *)(b + 1), 8);
	put(w, image, sizeof(image));
}

static void put_sdata(struct window *w, const struct gtp_frame *f,
		      const struct gtp_sdata_format *formats, u32 size)
{
	u8 head[GTP_TFILE_MEM] = { 'M' };
	u32 n;

	gtp_put_le(head + 1, GTP_SDATA_ADDR, 8);
	gtp_put_le(head + 9, size, 2);
	put(w, head, sizeof(head));
	if (w->skip >= size) {
		w->skip -= size;
		return;
	}
	n = gtp_sdata_read(f, formats, w->skip, w->dst, w->len);
	w->skip = 0;
	w->dst += n;
	w->len -= n;
}

u32 gtp_tfile_read_frame(const struct gtp_frame *f, const struct gtp_sdata_format *formats,
			 u32 offset, u8 *dst, u32 len)
{
	struct window w = { .skip = offset, .dst = dst, .len = len };
	struct shape shape = measure(f, formats);
	const struct gtp_block *b = NULL;

	put_head(&w, f, shape.size);
	if (shape.regs)
		put_regs(&w, f);
	while (w.len && (b = gtp_frame_next_block(f, b))) {
		if (b->type == GTP_BLOCK_MEM)
			put_mem(&w, b);
		else if (b->type == GTP_BLOCK_VAR)
			put_var(&w, b);
	}
	if (w.len && shape.sdata)
		put_sdata(&w, f, formats, shape.sdata);
	return len - w.len;
}
