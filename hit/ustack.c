// SPDX-License-Identifier: GPL-2.0-only
/*
 * Follow the stack of a program: by call frame information where the host has a table of it, and
 * elsewhere along frame pointers.
 */
#include "hit/stacks.h"
#include "hit/ustack.h"

enum {
	WORD = sizeof(u64),
	CALL = 5,	  /* bytes of a direct call */
	CALL_LONGEST = 7, /* bytes of the longest indirect call */
	PROLOGUE = 64,	  /* most bytes from a function's start to "mov %rsp,%rbp" */
	LOWEST = 4096,	  /* addresses in the first page are not code */
	MAPS = 4,	  /* mappings remembered while a stack is followed */
};

static_assert((u32)GTP_USTACK_WORDS <= (u32)GTP_STACKS_DEPTH, "a stack is kept with its last word");

struct follow {
	struct gtp_cfi_memory memory;
	const struct gtp_ustack_from *from;
	u64 *to;
	u32 n;
	struct gtp_cfi_regs regs;	  /* the registers of the function that is looked at */
	const struct gtp_ustack_map *map; /* the mapping of its code; NULL: not known */
	u32 maps;			  /* how many mappings have been asked for */
	struct gtp_ustack_map asked[MAPS];
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
	return addr >> GTP_USTACK_TAG_SHIFT ? -EFAULT :
					      f->memory.read(f->memory.ctx, dst, addr, len);
}

static void append(struct follow *f, u64 word)
{
	if (f->to)
		f->to[f->n] = word;
	f->n++;
}

/*
 * Append the function's address. Convert an address in a file that has a space to this space (see
 * base/space.h), so that GDB can name it even after the process has ended.
 */
static void add(struct follow *f)
{
	u64 pc = f->regs.pc;

	if (pc - f->from->file < f->from->file_bytes)
		append(f, pc + f->from->to_space);
	else
		append(f, f->map ? pc + f->map->to_space : pc);
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

/* --- steps to the caller --- */

/*
 * Find the mapping that contains @addr. Most callers are in few files, so remember some mappings.
 */
static const struct gtp_ustack_map *find_map(struct follow *f, u64 addr)
{
	struct gtp_ustack_map *map;
	u32 i;

	if (!f->from->find)
		return NULL;
	for (i = 0; i < MAPS && i < f->maps; i++)
		if (addr - f->asked[i].start < f->asked[i].bytes)
			return &f->asked[i];
	map = &f->asked[f->maps++ % MAPS];
	map->bytes = 0;
	return f->from->find(f->from->find_ctx, addr, map) ? map : NULL;
}

static struct gtp_cfi_rule find_rule(const struct follow *f, u64 addr)
{
	if (!f->map || !f->map->cfi)
		return (struct gtp_cfi_rule){ .kind = GTP_CFI_NONE };
	return gtp_cfi_find(f->map->cfi, addr - f->map->start + f->map->offset);
}

/*
 * Go to the caller of a function that has no frame yet. Return false if the function has a frame.
 */
static bool step_without_frame(struct follow *f)
{
	u64 word[2];
	u32 i = 2;

	if (f->n == 1 && f->from->is_hit && !get(f, word, f->from->sp, sizeof(word)))
		i = find_caller(f, f->from, word);
	if (i == 2)
		return false;
	f->regs.pc = word[i];
	f->regs.sp += (i + 1) * WORD;
	f->regs.is_return = true;
	return true;
}

/*
 * True if a signal handler returns to the pc: such code is "mov $15,%eax" or "mov $15,%rax", and
 * then "syscall". The signal's registers are on the stack then, below the next frame.
 */
static bool is_after_signal(const struct follow *f)
{
	static const u8 move[] = { 0x48, 0xc7, 0xc0 }, rest[] = { 15, 0, 0, 0, 0x0f, 0x05 };
	u8 code[16];
	u32 i = 0;

	if (!f->regs.is_return || f->regs.bp - f->regs.sp < GTP_CFI_SIGNAL_BYTES ||
	    get(f, code, f->regs.pc, sizeof(code)))
		return false;
	if (code[0] == 0xb8)
		i = 1;
	else if (!memcmp(code, move, sizeof(move)))
		i = sizeof(move);
	return i && !memcmp(code + i, rest, sizeof(rest));
}

static enum gtp_cfi_step step_by_frame(struct follow *f)
{
	u64 bp = f->regs.bp, frame[2];

	if (is_after_signal(f))
		return gtp_cfi_after_signal(&f->regs, &f->memory);
	if (step_without_frame(f))
		return GTP_CFI_CALLER;
	if (f->regs.lost & GTP_CFI_BP_LOST)
		return GTP_CFI_NOWHERE;
	if (!bp)
		return GTP_CFI_OUTERMOST;
	if (bp < f->regs.sp || bp % WORD || get(f, frame, bp, sizeof(frame)))
		return GTP_CFI_NOWHERE;
	/*
	 * Where a table says nothing about code of its file, this code follows no rules, and rbp is
	 * only the best guess.
	 */
	if (f->map && f->map->cfi && frame[1] && !follows_call(f, frame[1]))
		return GTP_CFI_NOWHERE;
	f->regs.bp = frame[0];
	f->regs.pc = frame[1];
	f->regs.sp = bp + sizeof(frame);
	f->regs.lost |= GTP_CFI_BX_LOST;
	f->regs.is_return = true;
	return GTP_CFI_CALLER;
}

/*
 * Add the address of the function that is looked at, and go to its caller. A return address may be
 * the first byte after the function that made the call, so look up the byte before it.
 */
static enum gtp_cfi_step step(struct follow *f)
{
	u64 addr = f->regs.pc - f->regs.is_return;
	struct gtp_cfi_rule rule;

	f->map = find_map(f, addr);
	add(f);
	/* No code is here, or the mappings are being changed just now. */
	if (f->from->find && !f->map)
		return GTP_CFI_NOWHERE;
	rule = find_rule(f, addr);
	return rule.kind == GTP_CFI_NONE ? step_by_frame(f) :
					   gtp_cfi_step(&rule, &f->regs, &f->memory);
}

/*
 * Without any table, follow frame pointers while a frame is as most are. step() takes the same
 * steps with more instructions, and decides about all other frames.
 */
static void add_frames(struct follow *f)
{
	u64 pc = f->regs.pc, sp = f->regs.sp, bp = f->regs.bp, frame[2];

	while (f->n + 1 < GTP_USTACK_DEPTH && bp - sp < GTP_CFI_SIGNAL_BYTES && !(bp % WORD) &&
	       !get(f, frame, bp, sizeof(frame)) && is_code(frame[1])) {
		append(f, pc - f->from->file < f->from->file_bytes ? pc + f->from->to_space : pc);
		pc = frame[1];
		sp = bp + sizeof(frame);
		bp = frame[0];
		f->regs = (struct gtp_cfi_regs){ .pc = pc,
						 .sp = sp,
						 .bp = bp,
						 .lost = GTP_CFI_BX_LOST,
						 .is_return = true };
	}
}

/* Add all addresses. Return false if the stack could not be followed to its end. */
static bool add_all(struct follow *f, bool *cut)
{
	for (;;) {
		enum gtp_cfi_step to;

		if (!f->from->find && (f->n || !f->from->is_hit))
			add_frames(f);
		to = step(f);
		if (to != GTP_CFI_CALLER)
			return to == GTP_CFI_OUTERMOST;
		/* The outermost function has no return address. */
		if (!f->regs.pc)
			return true;
		if (!is_code(f->regs.pc))
			return false;
		if (f->n == GTP_USTACK_DEPTH) {
			*cut = true;
			return true;
		}
	}
}

u32 gtp_ustack_take(const struct gtp_ustack_from *from,
		    int (*read)(void *ctx, void *dst, u64 addr, u32 len), void *ctx, u64 *to,
		    bool *cut)
{
	struct follow f = {
		.memory = { read, ctx },
		.from = from,
		.to = to,
		.regs = { .pc = from->pc, .sp = from->sp, .bp = from->bp, .bx = from->bx },
	};

	*cut = false;
	if (from->pc && !add_all(&f, cut))
		append(&f, GTP_STACKS_LOST);
	append(&f, from->whose);
	return f.n;
}
