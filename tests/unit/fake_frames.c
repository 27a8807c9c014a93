// SPDX-License-Identifier: GPL-2.0-only
/* Prints the frames of the fake machine's run as text. */
#include <assert.h>
#include "fake_target.h"

static void note_regs(char *log, const struct gtp_block *b)
{
	const u64 *value = (const u64 *)(b + 1);
	u64 mask = *value++;
	u32 n;

	for (n = 0; n < 64; n++)
		if (mask & BIT_ULL(n))
			fake_note(log, " r%u=%llx", n, *value++);
}

static void note_block(char *log, const struct gtp_block *b)
{
	u32 i;

	if (b->type == GTP_BLOCK_REGS) {
		note_regs(log, b);
	} else if (b->type == GTP_BLOCK_VAR) {
		fake_note(log, " v%u=%lld", b->num, *(const s64 *)(b + 1));
	} else if (b->type == GTP_BLOCK_STATIC) {
		fake_note(log, " s=");
		for (i = 0; i < b->len; i++)
			fake_note(log, "%02x", ((const u8 *)(b + 1))[i]);
	} else {
		fake_note(log, " m%llx=", gtp_frame_mem_addr(b));
		for (i = 0; i < b->len; i++)
			fake_note(log, "%02x", gtp_frame_mem_data(b)[i]);
	}
}

const char *fake_frames(struct fake *f)
{
	static char text[FAKE_LOG_MAX];
	struct gtp_why why;
	const struct gtp_index *ix = gtp_trace_index(&f->trace, &why);
	const struct gtp_block *b;
	u32 i;

	text[0] = '\0';
	assert(ix);
	for (i = 0; i < ix->n; i++) {
		const struct gtp_frame *frame = gtp_index_at(ix, i)->frame;

		fake_note(text, "%u@%llx%s", frame->tp, frame->pc,
			  frame->flags & GTP_FRAME_PARTIAL ? "!" : "");
		for (b = gtp_frame_next_block(frame, NULL); b; b = gtp_frame_next_block(frame, b))
			note_block(text, b);
		fake_note(text, "\n");
	}
	return text;
}
