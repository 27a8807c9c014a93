// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stands in for the data of the kernel that a pad uses: the running task, and variables of the
 * module.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/fuzz/padtask.h"

struct padtask_low *padtask_low(void)
{
	static struct padtask_low *low;

	if (low)
		return low;
	low = mmap(NULL, sizeof(*low), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (low == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return low;
}

void padtask_frame(struct gtp_pad_frame *frame, const struct gtp_tracepoint *tp,
		   const struct ax_jit_item *items, u32 nitems)
{
	const struct padtask_low *low = padtask_low();

	*frame = (struct gtp_pad_frame){
		.tp = tp,
		.items = items,
		.nitems = nitems,
		.cpu = (s32)offsetof(struct padtask, part),
		.task = (s32)offsetof(struct padtask, self),
		.tgid = (s32)offsetof(struct padtask, tgid),
		.location = (u64)(uintptr_t)&low->location,
		.self_mask = (u64)(uintptr_t)&low->mask,
		.self_value = (u64)(uintptr_t)&low->value,
		.cs = PADTASK_CS,
		.ss = PADTASK_SS,
	};
}

bool padtask_collects_flags(const struct gtp_pad_frame *frame)
{
	for (u32 i = 0; i < frame->nitems; i++)
		if (frame->items[i].kind == AX_JIT_REGS &&
		    frame->items[i].mask >> GTP_REG_FLAGS & 1)
			return true;
	return false;
}
