// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gates: from where the rest of a function is called, to be there when it returns.
 *
 * A gate is a call, and behind it a jump to where returns go on, the same for all gates. The call
 * is written again each time that a gate is taken. The jump is written once and never changes: a
 * task that sleeps in a function for hours returns to it, whatever the gate is used for by then.
 */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "base/base.h"
#include "jit/x86_emit.h"
#include "probe/gates.h"

static DECLARE_BITMAP(taken, GTP_GATES);
static DECLARE_BITMAP(has_jump, GTP_GATES);

u32 gtp_gates_take(struct gtp_pad_gates *gates)
{
	u32 i = find_first_zero_bit(taken, GTP_GATES);

	if (i == GTP_GATES)
		return 0;
	__set_bit(i, taken);
	gates->framed = (u64)gtp_gates_nth(gtp_gates_framed, i);
	gates->bare = (u64)gtp_gates_nth(gtp_gates_bare, i);
	return i + 1;
}

void gtp_gates_give(u32 number)
{
	if (number)
		__clear_bit(number - 1, taken);
}

/* The text is written at another address, and only while it is written. */
static int write(u8 *at, const u8 *bytes, u32 n)
{
	struct page *page = vmalloc_to_page(at);
	u8 *view = vmap(&page, 1, VM_MAP, PAGE_KERNEL);

	if (!view)
		return -ENOMEM;
	memcpy(view + offset_in_page(at), bytes, n);
	vunmap(view);
	return 0;
}

static int lead(u8 *gates, u32 i, u64 rest)
{
	u8 *gate = gtp_gates_nth(gates, i), bytes[GTP_GATE];
	struct x86_buf b = { .p = bytes, .size = sizeof(bytes) };

	x86_call_far(&b, (u64)gate, rest);
	x86_jmp_far(&b, (u64)gate, (u64)gtp_gates_nth(gates, GTP_GATES));
	x86_int3s(&b, GTP_GATE - b.len);
	if (b.failed)
		return -ERANGE;
	return write(gate, bytes, test_bit(i, has_jump) ? GTP_GATE_BACK : GTP_GATE);
}

int gtp_gates_lead(u32 number, u64 rest)
{
	u32 i = number - 1;
	int err = lead(gtp_gates_framed, i, rest);

	if (!err)
		err = lead(gtp_gates_bare, i, rest);
	if (!err)
		__set_bit(i, has_jump);
	return err;
}
