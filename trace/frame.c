// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads one trace frame: walks its blocks, and reads the memory, registers and variables in them.
 */
#include "trace/frame.h"

/*
 * covers - true if @addr is in this MEM block; also right for a block at the top of the address
 * space
 */
static bool covers(const struct gtp_block *b, u64 addr)
{
	return b->type == GTP_BLOCK_MEM && addr - gtp_frame_mem_addr(b) < b->len;
}

static const struct gtp_block *first_covering(const struct gtp_frame *f, u64 addr)
{
	const struct gtp_block *b = NULL;

	while ((b = gtp_frame_next_block(f, b)) && !covers(b, addr))
		;
	return b;
}

u32 gtp_frame_read_mem(const struct gtp_frame *f, u64 addr, void *dst, u32 len)
{
	u32 done = 0;

	while (done < len) {
		const struct gtp_block *b = first_covering(f, addr + done);
		u32 from, n;

		if (!b)
			break;
		from = (u32)(addr + done - gtp_frame_mem_addr(b));
		n = b->len - from;
		if (n > len - done)
			n = len - done;
		memcpy((u8 *)dst + done, gtp_frame_mem_data(b) + from, n);
		done += n;
	}
	return done;
}

/*
 * Return register @n of a REGS block. Values are in the order of the mask's bits, so those of the
 * bits below @n precede it.
 */
static u64 reg_of_block(const struct gtp_block *b, u32 n)
{
	const u64 *mask = (const u64 *)(b + 1);
	const u64 *value = mask + 1;
	u64 below = *mask & (BIT_ULL(n) - 1);

	for (; below; below &= below - 1)
		value++;
	return *value;
}

bool gtp_frame_get_reg(const struct gtp_frame *f, u32 n, u64 *value)
{
	const struct gtp_block *b = NULL;

	if (n == GTP_REG_PC) {
		*value = f->pc;
		return true;
	}
	if (n >= GTP_NR_SAVED_REGS)
		return false;
	while ((b = gtp_frame_next_block(f, b))) {
		if (b->type == GTP_BLOCK_REGS && *(const u64 *)(b + 1) & BIT_ULL(n)) {
			*value = reg_of_block(b, n);
			return true;
		}
	}
	return false;
}

bool gtp_frame_get_var(const struct gtp_frame *f, u16 tsv, s64 *value)
{
	const struct gtp_block *b = NULL;
	bool found = false;

	while ((b = gtp_frame_next_block(f, b))) {
		if (b->type == GTP_BLOCK_VAR && b->num == tsv) {
			*value = *(const s64 *)(b + 1);
			found = true;
		}
	}
	return found;
}
