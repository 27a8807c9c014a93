// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gates. Each gate calls the rest of a function, so that the function returns to the gate.
 *
 * A gate is a call, followed by a jump to the code for returns, which all gates of a kind (framed
 * or bare) share. The call is written each time a gate is taken. The jump is written once and never
 * changes: a task that sleeps in a function for hours returns to the jump, even if the gate has
 * been reused by then.
 */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>
#include <asm/text-patching.h>

#include "base/base.h"
#include "jit/x86_emit.h"
#include "kernel/pad/gates.h"

static DECLARE_BITMAP(taken, GTP_GATES);
static DECLARE_BITMAP(given, GTP_GATES); /* given back but not wiped yet, so also set in @taken */
static DECLARE_BITMAP(has_jump, GTP_GATES);

/* The size of the gates of both kinds, including the code before and after them. */
enum { BYTES = 2 * (GTP_GATE + GTP_GATES * GTP_GATE + GTP_GATES_TAIL) };

u32 gtp_gates_take(struct gtp_pad_gates *gates)
{
	u32 i;

	gtp_gates_wipe();
	i = find_first_zero_bit(taken, GTP_GATES);
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
		__set_bit(number - 1, given);
}

static u8 *map_all(u64 base, u64 end)
{
	static struct page *pages[BYTES / PAGE_SIZE + 3]; /* one caller at a time */
	u32 i, n = (end - base + PAGE_SIZE - 1) / PAGE_SIZE;

	if (WARN_ON_ONCE(n > ARRAY_SIZE(pages)))
		return NULL;
	for (i = 0; i < n; i++)
		pages[i] = vmalloc_to_page((void *)(base + i * PAGE_SIZE));
	return vmap(pages, n, VM_MAP, PAGE_KERNEL);
}

/*
 * Overwrite the calls of gates that were given back, and nothing else: tasks may still return to
 * the jump after the call. The pad to which the call leads is freed, so a task that reaches the
 * call must trap.
 */
void gtp_gates_wipe(void)
{
	u64 base = (u64)gtp_gates_framed & PAGE_MASK;
	unsigned long i;
	u8 *view;

	if (bitmap_empty(given, GTP_GATES))
		return;
	view = map_all(base, gtp_gates_end());
	if (!view)
		return;
	for_each_set_bit(i, given, GTP_GATES) {
		memset(view + ((u64)gtp_gates_nth(gtp_gates_framed, i) - base), INT3_INSN_OPCODE,
		       GTP_GATE_BACK);
		memset(view + ((u64)gtp_gates_nth(gtp_gates_bare, i) - base), INT3_INSN_OPCODE,
		       GTP_GATE_BACK);
	}
	vunmap(view);
	bitmap_andnot(taken, taken, given, GTP_GATES);
	bitmap_zero(given, GTP_GATES);
}

/* Write the text through another mapping, which exists only for the write. Return 0 or -ENOMEM. */
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
