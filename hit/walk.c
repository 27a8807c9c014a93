// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unwind kernel stacks quickly: remember for each address which step the kernel's unwinder took
 * there, and repeat that step.
 */
#include "base/regs.h"
#include "hit/walk.h"

enum {
	PROBES = 8, /* slots that a look-up of an address tries at most */
	ASKS = 16,  /* addresses for which one hit may ask the unwinder, to bound its time */
	TAG_SHIFT = 51,
	STEP_MASK = (1 << (TAG_SHIFT - 32)) - 1,
	WORD = sizeof(u64),
};

struct walk {
	struct gtp_walk *w;
	const struct gtp_walk_ops *ops;
	u32 tag; /* stored with steps in code that may be freed; 0: store no such steps */
	u32 asks;
};

/* --- the table of known steps --- */

/*
 * Return the first slot to try for an address. All kernel code is in the uppermost 2 GiB, so the
 * lower half of an address identifies it. is_code() also accepts the lowest 2 GiB, but steps at
 * such addresses are never stored.
 */
static u32 slot_of(u64 at)
{
	return (u32)at * 0x9e3779b9U >> 19;
}

static_assert(GTP_WALK_SLOTS == 1 << (32 - 19), "slot_of() has all slots");

static bool is_code(u64 at)
{
	return (u64)(s64)(s32)at == at;
}

static u32 tag_of(u64 slot)
{
	return (u32)(slot >> TAG_SHIFT);
}

static bool is_valid(const struct walk *k, u64 slot)
{
	return !tag_of(slot) || tag_of(slot) == k->tag;
}

/*
 * Return the step stored for @at. If there is none, return 0, and set @place to the slot for a new
 * step, or to NULL if no slot is free.
 */
static u64 find_step(struct walk *k, u64 at, u64 **place)
{
	u32 i, n = slot_of(at);
	u64 slot;

	*place = NULL;
	for (i = 0; i < PROBES; i++, n = (n + 1) % GTP_WALK_SLOTS) {
		slot = READ_ONCE(k->w->slot[n]);
		if (slot && is_valid(k, slot)) {
			if ((u32)slot == (u32)at)
				return slot;
			continue;
		}
		if (!*place)
			*place = &k->w->slot[n];
		if (!slot)
			break;
	}
	return 0;
}

static noinline u32 find_or_ask(struct walk *k, u64 at)
{
	u64 *place, slot = find_step(k, at, &place);
	bool stays;
	u32 step;

	if (slot)
		return (u32)(slot >> 32) & STEP_MASK;
	if (!place || !k->asks || (s64)at >= 0)
		return GTP_WALK_HAND_OVER;
	k->asks--;
	if (!k->ops->ask(k->ops->ctx, at, &step, &stays) || (!stays && !k->tag))
		return GTP_WALK_HAND_OVER;
	WRITE_ONCE(*place, (u64)(stays ? 0 : k->tag) << TAG_SHIFT | (u64)step << 32 | (u32)at);
	return step;
}

static u32 step_at(struct walk *k, u64 at)
{
	u64 slot;

	if (unlikely(!is_code(at)))
		return GTP_WALK_HAND_OVER;
	slot = READ_ONCE(k->w->slot[slot_of(at)]);
	if (likely((u32)slot == (u32)at && is_valid(k, slot)))
		return (u32)(slot >> 32) & STEP_MASK;
	return find_or_ask(k, at);
}

static u32 tag_now(struct gtp_walk *w, u32 now)
{
	u32 changes;

	if (unlikely(!READ_ONCE(w->began)))
		gtp_replace(&w->began, 0, now);
	changes = now - READ_ONCE(w->began);
	return changes < GTP_WALK_TAGS ? 1 + changes : 0;
}

/* --- walking a stack --- */

static u64 word_at(u64 addr)
{
	return gtp_read_nocheck((const u64 *)(uintptr_t)addr);
}

static bool holds(const struct gtp_walk_from *f, u64 addr, u64 bytes)
{
	return addr >= f->begin && addr <= f->end - bytes;
}

/*
 * True if the registers saved at @regs are those of userspace. Decide like the kernel's
 * user_mode(), at which the unwinder stops. But userspace may have put any value into rsp. If that
 * is an address on this very stack, the unwinder reports an error instead.
 */
static bool is_userspace(const struct gtp_walk_from *f, u64 regs)
{
	return holds(f, regs, sizeof(struct gtp_regs)) &&
	       word_at(regs + offsetof(struct gtp_regs, cs)) & 3 &&
	       (s64)word_at(regs + offsetof(struct gtp_regs, rip)) >= 0 &&
	       word_at(regs + offsetof(struct gtp_regs, rsp)) - f->begin >= f->end - f->begin;
}

static bool is_end(const struct gtp_walk_from *f, u32 step, u64 sp)
{
	switch (GTP_WALK_KIND(step)) {
	case GTP_WALK_REGS:
		return is_userspace(f, sp + GTP_WALK_WORDS(step) * WORD);
	case GTP_WALK_END:
		return true;
	default:
		return false;
	}
}

u32 gtp_walk_take(struct gtp_walk *w, const struct gtp_walk_ops *ops, const struct gtp_walk_from *f,
		  u64 *to, u32 max)
{
	struct walk k = { w, ops, tag_now(w, f->now), ASKS };
	u64 sp = f->sp, bp = f->bp, at = f->pc, prev, saved, ip;
	u32 n = 0, step;

	to[n++] = f->pc;
	if (!holds(f, sp, WORD))
		return 0;
	/* Each round moves at least one word up the stack, so the loop ends. */
	for (;; at = ip - 1) {
		step = step_at(&k, at);
		prev = sp;
		if (likely(GTP_WALK_KIND(step) == GTP_WALK_BY_SP))
			sp += GTP_WALK_WORDS(step) * WORD;
		else if (GTP_WALK_KIND(step) == GTP_WALK_BY_BP)
			sp = bp + GTP_WALK_WORDS(step) * WORD;
		else
			return is_end(f, step, sp) ? n : 0;
		if (unlikely(sp < prev + WORD || sp > f->end))
			return 0;
		ip = word_at(sp - WORD);
		if (GTP_WALK_SAVED(step)) {
			saved = sp - GTP_WALK_SAVED(step) * WORD;
			if (unlikely(saved < f->begin))
				return 0;
			bp = word_at(saved);
		}
		/* The next round checks that @ip is an address of code. */
		if (ip - f->hidden < f->hidden_bytes)
			continue;
		if (n == max)
			return n;
		to[n++] = ip;
	}
}

/* --- finding out which step the unwinder takes at an address --- */

enum {
	SP_AT = 256, /* rsp's word; GTP_WALK_WORDS_MAX words on either side are stack */
	BP_AT = 516,
	SP_FURTHER = 2, /* the second try begins this many words further up */
	BP_FURTHER = 37,
};

void gtp_walk_make_up(u64 word, struct gtp_walk_try try[2])
{
	u32 i;

	for (i = 0; i < 2; i++)
		try[i] = (struct gtp_walk_try){
			.sp = word + (SP_AT + i * SP_FURTHER) * WORD,
			.bp = word + (BP_AT + i * BP_FURTHER) * WORD,
		};
}

/* Return the distance from @from up to @to, in words; 0: no step can have that distance. */
static u32 words_between(u64 from, u64 to)
{
	u64 bytes = to - from;

	return bytes % WORD || bytes / WORD > GTP_WALK_WORDS_MAX ? 0 : (u32)(bytes / WORD);
}

/* True if @addr is in the made-up stack @word, and @value is the word at @addr. */
static bool is_word(u64 word, u64 addr, u64 value)
{
	u64 i = (addr - word) / WORD;

	return addr >= word && i < GTP_WALK_MADE_UP && !((addr - word) % WORD) &&
	       value == GTP_WALK_MARK + i;
}

/* Find the caller's rbp: *@saved words below the caller's stack, or still in rbp (0). */
static bool judge_bp(u64 word, const struct gtp_walk_try try[2], u32 *saved)
{
	u32 i, at[2];

	*saved = 0;
	if (try[0].to_bp == try[0].bp && try[1].to_bp == try[1].bp)
		return true;
	for (i = 0; i < 2; i++) {
		u64 place = try[i].to_bp - GTP_WALK_MARK;

		if (place >= GTP_WALK_MADE_UP)
			return false;
		at[i] = words_between(word + place * WORD, try[i].to_sp);
	}
	*saved = at[0];
	return at[0] && at[0] == at[1];
}

static u32 judge_caller(u64 word, const struct gtp_walk_try try[2])
{
	u32 by_sp = words_between(try[0].sp, try[0].to_sp);
	u32 by_bp = words_between(try[0].bp, try[0].to_sp), saved, i;

	for (i = 0; i < 2; i++)
		if (!is_word(word, try[i].to_sp - WORD, try[i].to_ip))
			return GTP_WALK_HAND_OVER;
	if (!judge_bp(word, try, &saved))
		return GTP_WALK_HAND_OVER;
	if (by_sp && by_sp == words_between(try[1].sp, try[1].to_sp))
		return GTP_WALK_STEP(GTP_WALK_BY_SP, by_sp, saved);
	if (by_bp && by_bp == words_between(try[1].bp, try[1].to_sp))
		return GTP_WALK_STEP(GTP_WALK_BY_BP, by_bp, saved);
	return GTP_WALK_HAND_OVER;
}

static u32 judge_regs(u64 word, const struct gtp_walk_try try[2])
{
	u32 i, words = words_between(try[0].sp, try[0].regs);

	for (i = 0; i < 2; i++) {
		if (try[i].regs - try[i].sp != words * WORD ||
		    !is_word(word, try[i].regs + offsetof(struct gtp_regs, rip), try[i].to_ip) ||
		    !is_word(word, try[i].regs + offsetof(struct gtp_regs, rsp), try[i].to_sp))
			return GTP_WALK_HAND_OVER;
	}
	return GTP_WALK_STEP(GTP_WALK_REGS, words, 0);
}

u32 gtp_walk_judge(u64 word, const struct gtp_walk_try try[2])
{
	if (try[0].error || try[1].error || try[0].done != try[1].done)
		return GTP_WALK_HAND_OVER;
	if (try[0].done)
		return GTP_WALK_END;
	if (!try[0].regs != !try[1].regs)
		return GTP_WALK_HAND_OVER;
	return try[0].regs ? judge_regs(word, try) : judge_caller(word, try);
}
