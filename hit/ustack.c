// SPDX-License-Identifier: GPL-2.0-only
/* Follow the stack of a program along its frame pointers. */
#include "hit/stacks.h"
#include "hit/ustack.h"

enum {
	WORD = sizeof(u64),
	CALL = 5,	  /* bytes of a direct call */
	CALL_LONGEST = 7, /* bytes of the longest indirect call */
	PROLOGUE = 64,	  /* most bytes from a function's start to "mov %rsp,%rbp" */
	LOWEST = 4096,	  /* addresses in the first page are not code */
};

static_assert((u32)GTP_USTACK_WORDS <= (u32)GTP_STACKS_DEPTH, "a stack is kept with its last word");

struct follow {
	int (*read)(void *ctx, void *dst, u64 addr, u32 len);
	void *ctx;
	const struct gtp_ustack_from *from;
	u64 *to;
	u32 n;
};

static bool is_code(u64 addr)
{
	return addr >= LOWEST && !(addr >> GTP_USTACK_TAG_SHIFT);
}

/*
 * Read memory of the program. Refuse kernel addresses, which a program may have put into its stack:
 * @read would accept them. Return 0 or -EFAULT.
 */
static int get(const struct follow *f, void *dst, u64 addr, u32 len)
{
	return addr >> GTP_USTACK_TAG_SHIFT ? -EFAULT : f->read(f->ctx, dst, addr, len);
}

/*
 * Append an address. Convert an address in the code of the file that was hit to the file's space
 * (see base/space.h), so that GDB can name it even after the process has ended.
 */
static void add(struct follow *f, u64 word)
{
	bool is_own = word - f->from->file < f->from->file_bytes;

	if (f->to)
		f->to[f->n] = is_own ? word + f->from->to_space : word;
	f->n++;
}

/* --- functions that have no frame yet --- */

enum gtp_ustack_at gtp_ustack_judge(const u8 *code, u32 n)
{
	static const u8 endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const u8 moves[] = { 0x48, 0x89, 0xe5 }, moves_too[] = { 0x48, 0x8b, 0xec };

	if (n >= 4 && !memcmp(code, endbr, 4))
		return GTP_USTACK_FIRST;
	if (n >= 3 && (!memcmp(code, moves, 3) || !memcmp(code, moves_too, 3)))
		return GTP_USTACK_PUSHED;
	if (n >= 2 && code[0] == 0xf3 && code[1] == 0xc3)
		return GTP_USTACK_FIRST;
	if (n && (code[0] == 0x55 || code[0] == 0xc3 || code[0] == 0xc2))
		return GTP_USTACK_FIRST;
	return GTP_USTACK_UNSAID;
}

static u64 target_of(const u8 *call, u64 after)
{
	u32 by;

	memcpy(&by, call + 1, sizeof(by));
	return after + (u64)(s64)(s32)by;
}

/*
 * True if the last @bytes bytes of @code are an indirect call, through a register or through
 * memory.
 */
static bool is_call_of(const u8 *code, u32 bytes)
{
	const u8 *modrm = code + CALL_LONGEST - bytes + 1;
	u32 kind = *modrm >> 6, rest = 1, base = *modrm & 7;

	if (modrm[-1] != 0xff || (*modrm >> 3 & 7) != 2)
		return false;
	if (kind != 3 && base == 4) {
		/* The SIB byte would be after the end of @code. */
		if (bytes < 3)
			return false;
		base = modrm[1] & 7;
		rest++;
	}
	if (kind == 1)
		rest++;
	else if (kind == 2 || (!kind && base == 5))
		rest += 4;
	return bytes == 1 + rest;
}

static bool code_before(const struct follow *f, u64 addr, u8 code[CALL_LONGEST])
{
	return is_code(addr) && !get(f, code, addr - CALL_LONGEST, CALL_LONGEST);
}

/* True if @call is a direct call: it begins with 0xe8, or with 0xcc if a probe is on it. */
static bool is_direct_call(const u8 *call)
{
	return *call == 0xe8 || *call == 0xcc;
}

static bool follows_call(const struct follow *f, u64 addr)
{
	u8 code[CALL_LONGEST];
	u32 bytes;

	if (!code_before(f, addr, code))
		return false;
	for (bytes = 2; bytes <= CALL_LONGEST; bytes++)
		if (is_call_of(code, bytes))
			return true;
	return is_direct_call(code + CALL_LONGEST - CALL);
}

/* True if a direct call right before @addr leads to @pc, or to at most @before bytes before @pc. */
static bool called_from(const struct follow *f, u64 addr, u64 pc, u64 before)
{
	u8 code[CALL_LONGEST];
	const u8 *call = code + CALL_LONGEST - CALL;

	return code_before(f, addr, code) && is_direct_call(call) &&
	       pc - target_of(call, addr) <= before;
}

/*
 * Return which of the two words at rsp is the return address, 0 or 1; or 2 if neither is, because
 * the function has a frame.
 */
static u32 find_caller(const struct follow *f, const struct gtp_ustack_from *from, const u64 *word)
{
	switch (from->at) {
	case GTP_USTACK_FIRST:
		return follows_call(f, word[0]) ? 0 : 2;
	case GTP_USTACK_PUSHED:
		return follows_call(f, word[1]) ? 1 : 2;
	default:
		break;
	}
	if (called_from(f, word[0], from->pc, 0))
		return 0;
	/* Compilers put other instructions between "push %rbp" and "mov %rsp,%rbp". */
	return word[0] == from->bp && called_from(f, word[1], from->pc, PROLOGUE) ? 1 : 2;
}

/*
 * Add the caller's address if the function has no frame yet. Return the lowest address at which the
 * first frame may begin.
 */
static u64 add_caller(struct follow *f, const struct gtp_ustack_from *from)
{
	u64 word[2];
	u32 i = 2;

	if (from->is_hit && !get(f, word, from->sp, sizeof(word)))
		i = find_caller(f, from, word);
	if (i == 2)
		return from->sp;
	add(f, word[i]);
	return from->sp + (i + 1) * WORD;
}

/* --- frames --- */

/*
 * Add the return addresses of all frames. Return false if the stack could not be followed to its
 * end.
 */
static bool add_callers(struct follow *f, u64 lowest, u64 bp, bool *cut)
{
	u64 frame[2];

	while (bp) {
		if (bp < lowest || bp % WORD || get(f, frame, bp, sizeof(frame)))
			return false;
		if (!frame[1])
			return true;
		if (!is_code(frame[1]))
			return false;
		if (f->n == GTP_USTACK_DEPTH) {
			*cut = true;
			return true;
		}
		add(f, frame[1]);
		lowest = bp + sizeof(frame);
		bp = frame[0];
	}
	return true;
}

u32 gtp_ustack_take(const struct gtp_ustack_from *from,
		    int (*read)(void *ctx, void *dst, u64 addr, u32 len), void *ctx, u64 *to,
		    bool *cut)
{
	struct follow f = { read, ctx, from, to, 0 };
	u64 lowest;

	*cut = false;
	if (from->pc) {
		add(&f, from->pc);
		lowest = add_caller(&f, from);
		if (!add_callers(&f, lowest, from->bp, cut))
			add(&f, GTP_STACKS_LOST);
	}
	add(&f, from->whose);
	return f.n;
}
