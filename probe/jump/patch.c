// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turns kernel text into jumps and back, many places at once, while other CPUs run it.
 *
 * This file only writes bytes, and does not decide whether it may: jump_arm.c and jump_remove.c
 * call the steps in the order of docs/jumps.md ("Arming" and "Removing"), and look for other
 * probers between them. Arming step 5 is gtp_patch_int3(), the way back in step 6 gtp_patch_text(),
 * step 7 gtp_patch_int3_all(), step 9 gtp_patch_jump(). Removing step 1 is gtp_patch_int3_jump(),
 * step 2 gtp_patch_int3_all(), step 3 gtp_patch_text().
 *
 * Two rules keep every CPU on whole instructions:
 *
 *	- The bytes after an instruction's first byte change only while the first byte is our int3
 *	  and every CPU has seen it. begin_step(), sync_all_cpus() and end_step() ensure that every
 *	  CPU has seen it.
 *	- No task's instruction pointer may be among the bytes when they become other instructions.
 *	  So the caller has waited (step 8). A task that was in the place before has trapped at one
 *	  of our int3s and resumed in the pad.
 *
 * Other probers (kprobes, above all) write the same text without a lock that we could take. So byte
 * 0 changes only with cmpxchg, from the value that we expect. If it has another value, the place is
 * @lost, or the jump stays: see was_overwritten().
 */
#include <linux/cpu.h>
#include <linux/hashtable.h>
#include <linux/kdebug.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <asm/ptrace.h>
#include <asm/sync_core.h>
#include <asm/text-patching.h>

#include "base/base.h"
#include "kernel/base/mem_kernel.h"
#include "probe/jump/patch.h"

enum {
	PREFIX = 0x66,
	FRONT = sizeof_field(struct gtp_patch, front),
};

static const u8 mov_ss[] = { 0x8e, 0xd0 }; /* mov %eax, %ss */

/* --- handling our int3s --- */

/*
 * The addresses of the int3s of all watched places. The table is changed under gtp_lock, and read
 * in the int3 exception, which has interrupts off from the trap on. So if an int3 has been removed
 * and every CPU has answered an IPI since, no handler is going to look that int3 up.
 */
static DEFINE_HASHTABLE(watched, 12);

void gtp_patch_watch(struct gtp_patch *p)
{
	u32 i;

	for (i = 0; i < p->marks; i++)
		hash_add_rcu(watched, &p->mark[i].watched, p->mark[i].addr);
}

void gtp_patch_unwatch(struct gtp_patch *p)
{
	u32 i;

	for (i = 0; i < p->marks; i++)
		hash_del_rcu(&p->mark[i].watched);
}

bool gtp_patch_is_watched(const struct gtp_patch *p)
{
	return !hlist_unhashed(&p->mark[0].watched);
}

static const struct gtp_patch_mark *find_watched(u64 addr)
{
	const struct gtp_patch_mark *m;

	hash_for_each_possible_rcu_notrace(watched, m, watched, addr) {
		if (m->addr == addr)
			return m;
	}
	return NULL;
}

NOKPROBE_SYMBOL(find_watched);

/*
 * Handle an int3 of ours: move the task to the copy of the instruction at which it trapped. Runs
 * after the kernel's own users of int3 have declined, in any context that code runs in, NMI
 * included. So it takes no lock and calls nothing that may be probed (see "Code between the
 * exception and gdbtp's handler" in docs/jumps.md).
 */
static int meet_int3(struct notifier_block *nb, unsigned long what, void *data)
{
	struct pt_regs *regs = ((struct die_args *)data)->regs;
	const struct gtp_patch_mark *m;

	if (what != DIE_INT3 || user_mode(regs))
		return NOTIFY_DONE;
	m = find_watched(regs->ip - 1);
	if (!m)
		return NOTIFY_DONE;
	regs->ip = READ_ONCE(m->to);
	return NOTIFY_STOP;
}

NOKPROBE_SYMBOL(meet_int3);

static struct notifier_block int3_notifier = {
	.notifier_call = meet_int3,
	.priority = INT_MAX,
};

int gtp_patch_init(void)
{
	return register_die_notifier(&int3_notifier);
}

void gtp_patch_exit(void)
{
	unregister_die_notifier(&int3_notifier);
}

/* --- writing to the text --- */

/*
 * Return the page of a place's text: a module's, or the kernel's own, which is not in vmalloc's
 * area.
 */
static struct page *page_of(u64 addr)
{
	if (addr >= MODULES_VADDR && addr < MODULES_END)
		return vmalloc_to_page((void *)addr);
	return pfn_to_page(PHYS_PFN(__pa_symbol(addr)));
}

/*
 * Append a page, unless it is the last one already: the places are sorted. Return the number of
 * pages.
 */
static u32 add_page(u64 *pages, u32 n, u64 addr)
{
	addr &= PAGE_MASK;
	if (!n || pages[n - 1] != addr)
		pages[n++] = addr;
	return n;
}

/*
 * Map the pages of all places, writable, at addresses of our own: the text itself stays read-only.
 * If a place spans two pages, these are adjacent in the mapping, too: pages are mapped in the order
 * of their addresses.
 */
static u8 *map_pages(u64 *addrs, struct page **pages, struct gtp_patch **p, u32 n)
{
	u32 i, k = 0;
	u8 *view;

	for (i = 0; i < n; i++) {
		k = add_page(addrs, k, p[i]->addr);
		k = add_page(addrs, k, p[i]->addr + p[i]->len - 1);
	}
	for (i = 0; i < k; i++) {
		pages[i] = page_of(addrs[i]);
		if (!pages[i])
			return NULL;
	}
	view = vmap(pages, k, VM_MAP, PAGE_KERNEL);
	if (!view)
		return NULL;
	for (i = 0, k = 0; i < n; i++) {
		while (addrs[k] != (p[i]->addr & PAGE_MASK))
			k++;
		p[i]->alias = view + (u64)k * PAGE_SIZE + offset_in_page(p[i]->addr);
	}
	return view;
}

int gtp_patch_open(struct gtp_patch **p, u32 n, void **view)
{
	u64 *addrs = gtp_mem_alloc(array_size(2 * n, sizeof(*addrs)));
	struct page **pages = gtp_mem_alloc(array_size(2 * n, sizeof(*pages)));

	*view = addrs && pages ? map_pages(addrs, pages, p, n) : NULL;
	gtp_mem_free(addrs);
	gtp_mem_free(pages);
	return *view ? 0 : -ENOMEM;
}

void gtp_patch_close(struct gtp_patch **p, u32 n, void *view)
{
	u32 i;

	for (i = 0; i < n; i++)
		p[i]->alias = NULL;
	vunmap(view);
}

/* Make this CPU drop all instructions that it has fetched already. */
static void sync_this_cpu(void *unused)
{
	sync_core();
}

/*
 * Begin a step. Until end_step() no CPU comes online: a new CPU could have fetched old code, and
 * would get no IPI.
 */
static void begin_step(void)
{
	cpus_read_lock();
}

static void sync_all_cpus(void)
{
	on_each_cpu(sync_this_cpu, NULL, 1);
}

static void end_step(void)
{
	sync_all_cpus();
	cpus_read_unlock();
}

/*
 * Change byte 0 from @from to @to. If byte 0 is not @from any more, another prober has overwritten
 * it: do not change it, and return false.
 */
static bool swap_first(struct gtp_patch *p, u8 from, u8 to)
{
	return cmpxchg(p->alias, from, to) == from;
}

/* Write the bytes after byte 0. Call this only while byte 0 is an int3 that all CPUs have seen. */
static void write_rest(struct gtp_patch *p, const u8 *bytes)
{
	memcpy(p->alias + 1, bytes + 1, p->len - 1);
}

static bool in_state(const struct gtp_patch *p, enum gtp_patch_state state)
{
	return p->state == state && !p->lost && !p->skip_step;
}

/* --- the steps --- */

/*
 * Fill the bytes after the jump with one instruction. It is never executed, but code that decodes
 * the function (to validate another probe, say) must find an instruction boundary after it. The
 * kernel accepts no kprobe on this instruction: an optimized kprobe's jump there would overwrite
 * the address that the pad returns to.
 */
static void fill_up(u8 *left, u32 len)
{
	memset(left, len > 1 ? PREFIX : INT3_INSN_OPCODE, len);
	if (len > 1)
		memcpy(left + len - 2, mov_ss, sizeof(mov_ss));
}

/*
 * Prepare the jump. @front is read here, before the list of kprobes is read (arming step 4): an
 * int3 or a jump that another prober writes to these bytes later shows as a difference in
 * gtp_patch_covered(). A place in INT3_ALL, which gets another pad, keeps the @front that was read
 * in TEXT.
 */
int gtp_patch_set(struct gtp_patch *p, u64 to)
{
	s64 rel = (s64)(to - p->addr - GTP_REGION_JUMP);

	if (rel != (s32)rel)
		return -ERANGE;
	if (p->state == GTP_PATCH_TEXT &&
	    copy_from_kernel_nofault(p->front, (void *)(p->addr - FRONT), FRONT))
		memset(p->front, 0, FRONT);
	WRITE_ONCE(p->mark[0].to, to);
	p->new[0] = JMP32_INSN_OPCODE;
	gtp_put_le(p->new + 1, (u64)rel, 4);
	fill_up(p->new + GTP_REGION_JUMP, p->len - GTP_REGION_JUMP);
	return 0;
}

static bool has_int3(const struct gtp_patch *p)
{
	return READ_ONCE(*p->alias) == INT3_INSN_OPCODE;
}

/*
 * Arming, step 5: write an int3 at each instruction, so that a task in the place traps at the next
 * one. Interrupts are off, to keep the time between the comparison and the int3s short. A kprobe
 * that is registered in that time is found in step 6.
 */
static void int3_text(struct gtp_patch *p)
{
	unsigned long flags;
	u32 i;

	local_irq_save(flags);
	p->lost = memcmp(p->alias, p->old, p->len) || !swap_first(p, p->old[0], INT3_INSN_OPCODE);
	for (i = 1; i < p->marks && !p->lost; i++)
		WRITE_ONCE(p->alias[p->mark[i].addr - p->addr], INT3_INSN_OPCODE);
	local_irq_restore(flags);
	if (!p->lost)
		p->state = GTP_PATCH_INT3_TEXT;
}

/*
 * True if another prober's jump may reach into the place. An optimized kprobe before the place, or
 * the jump left by an unregistered one, shows as an int3 or 0xe9 that @front does not have.
 */
bool gtp_patch_covered(const struct gtp_patch *p)
{
	u8 now[FRONT];
	u32 i;

	if (copy_from_kernel_nofault(now, (void *)(p->addr - FRONT), FRONT))
		return false;
	for (i = 0; i < FRONT; i++) {
		if ((now[i] == INT3_INSN_OPCODE || now[i] == JMP32_INSN_OPCODE) &&
		    now[i] != p->front[i])
			return true;
	}
	return false;
}

/* Do step 5 of arming for many places. */
void gtp_patch_int3(struct gtp_patch **p, u32 n)
{
	u32 i;

	begin_step();
	for (i = 0; i < n; i++)
		if (in_state(p[i], GTP_PATCH_TEXT))
			int3_text(p[i]);
	end_step();
}

/*
 * Removing, step 3, first half: write the bytes after the first one of each instruction. Tasks may
 * still be in the place, so the first bytes stay int3 until the others are the original ones again.
 * Return false if nothing was written.
 */
static bool fill_tails(struct gtp_patch *p)
{
	u32 i, at, end;

	if (!has_int3(p))
		return false;
	for (i = 0; i < p->marks; i++) {
		at = p->mark[i].addr - p->addr + 1;
		end = i + 1 < p->marks ? p->mark[i + 1].addr - p->addr : p->len;
		memcpy(p->alias + at, p->old + at, end - at);
	}
	p->state = GTP_PATCH_INT3_TEXT;
	return true;
}

/*
 * Removing, step 3, second half, after all CPUs have seen the tails: write the first bytes. Byte 0
 * comes first: if it is lost, the other int3s stay, because the prober that overwrote it may write
 * our int3 back. Return false in that case.
 */
static bool fill_firsts(struct gtp_patch *p)
{
	u32 i, at;

	if (!swap_first(p, INT3_INSN_OPCODE, p->old[0]))
		return false;
	for (i = 1; i < p->marks; i++) {
		at = p->mark[i].addr - p->addr;
		WRITE_ONCE(p->alias[at], p->old[at]);
	}
	p->state = GTP_PATCH_TEXT;
	return true;
}

/*
 * Do step 3 of removing, or the way back from step 6 of arming. Places on that way are in
 * INT3_TEXT: their tails are intact.
 */
void gtp_patch_text(struct gtp_patch **p, u32 n)
{
	u32 i;

	begin_step();
	for (i = 0; i < n; i++)
		if (in_state(p[i], GTP_PATCH_INT3_ALL))
			p[i]->lost = !fill_tails(p[i]);
	sync_all_cpus();
	for (i = 0; i < n; i++)
		if (in_state(p[i], GTP_PATCH_INT3_TEXT))
			p[i]->lost = !fill_firsts(p[i]);
	end_step();
}

/* True if the bytes after byte 0, in INT3_ALL or INT3_JUMP, are still the ones that we wrote. */
static bool rest_is_ours(const struct gtp_patch *p)
{
	if (p->state == GTP_PATCH_INT3_ALL)
		return !memchr_inv(p->alias + 1, INT3_INSN_OPCODE, p->len - 1);
	return !memcmp(p->alias + 1, p->new + 1, p->len - 1);
}

/*
 * True if the bytes after byte 0 are the jump's, or int3s of probers that took its displacement for
 * code.
 */
static bool rest_is_jump_or_int3(const struct gtp_patch *p)
{
	u32 i;

	for (i = 1; i < p->len; i++) {
		if (p->alias[i] != p->new[i] && p->alias[i] != INT3_INSN_OPCODE)
			return false;
	}
	return true;
}

/*
 * Decide what to do after our int3 in byte 0 was overwritten. If a kprobe that had saved our jump
 * has restored 0xe9, keep the jump. If a prober that had saved the original text has restored that,
 * restore the text after byte 0, too, unless the prober has written there.
 */
static void was_overwritten(struct gtp_patch *p)
{
	bool ours = rest_is_ours(p);
	bool jump = p->state == GTP_PATCH_INT3_JUMP || p->old[0] != JMP32_INSN_OPCODE;

	/* The place is still our jump, even with other probers' int3s in its displacement. */
	if (p->state == GTP_PATCH_INT3_JUMP && READ_ONCE(*p->alias) == JMP32_INSN_OPCODE &&
	    rest_is_jump_or_int3(p)) {
		p->state = GTP_PATCH_JUMP;
		return;
	}
	if (ours && jump && READ_ONCE(*p->alias) == JMP32_INSN_OPCODE) {
		write_rest(p, p->new);
		p->state = GTP_PATCH_JUMP;
		return;
	}
	if (ours)
		write_rest(p, p->old);
	p->lost = true;
	p->state = GTP_PATCH_TEXT;
}

/*
 * Removing, step 2. Overwrite only our own bytes and other probers' int3s. If a prober has written
 * anything else after byte 0, it will want to remove its bytes again: leave the place as it is.
 */
static void int3_all_jump(struct gtp_patch *p)
{
	if (!has_int3(p)) {
		was_overwritten(p);
	} else if (rest_is_jump_or_int3(p)) {
		memset(p->alias + 1, INT3_INSN_OPCODE, p->len - 1);
		p->state = GTP_PATCH_INT3_ALL;
	}
}

/*
 * Arming, step 7. Every CPU has seen the int3s of step 5: none is about to execute the bytes after
 * them. After this the kernel accepts no kprobe in any byte of the place.
 */
static void int3_all_text(struct gtp_patch *p)
{
	p->lost = !has_int3(p);
	if (p->lost)
		return;
	memset(p->alias + 1, INT3_INSN_OPCODE, p->len - 1);
	p->state = GTP_PATCH_INT3_ALL;
}

/* Do step 7 of arming, or step 2 of removing, for many places. */
void gtp_patch_int3_all(struct gtp_patch **p, u32 n)
{
	u32 i;

	begin_step();
	for (i = 0; i < n; i++)
		if (in_state(p[i], GTP_PATCH_INT3_JUMP))
			int3_all_jump(p[i]);
		else if (in_state(p[i], GTP_PATCH_INT3_TEXT))
			int3_all_text(p[i]);
	end_step();
}

/* Arming, step 9, first half: write everything except byte 0, at which all CPUs still trap. */
static void write_jump(struct gtp_patch *p)
{
	if (!has_int3(p)) {
		was_overwritten(p);
	} else if (rest_is_ours(p)) {
		write_rest(p, p->new);
		p->state = GTP_PATCH_INT3_JUMP;
	}
}

/*
 * Do arming, step 9, or the way back from removing, step 2. All CPUs must see the displacement
 * before byte 0 becomes a jump that one of them may execute. If the bytes after byte 0 are no
 * longer ours, the place gets no 0xe9: its int3 leads to the pad as the jump would.
 */
void gtp_patch_jump(struct gtp_patch **p, u32 n)
{
	u32 i;

	begin_step();
	for (i = 0; i < n; i++)
		if (in_state(p[i], GTP_PATCH_INT3_ALL))
			write_jump(p[i]);
	sync_all_cpus();
	for (i = 0; i < n; i++) {
		if (!in_state(p[i], GTP_PATCH_INT3_JUMP))
			continue;
		if (has_int3(p[i]) && !rest_is_ours(p[i]))
			continue;
		if (swap_first(p[i], INT3_INSN_OPCODE, JMP32_INSN_OPCODE))
			p[i]->state = GTP_PATCH_JUMP;
		else
			was_overwritten(p[i]);
	}
	end_step();
}

/*
 * Removing, step 1. Another prober's int3 in the displacement does not keep the jump from being
 * removed.
 */
static void int3_jump(struct gtp_patch *p)
{
	p->lost = !rest_is_jump_or_int3(p) || !swap_first(p, JMP32_INSN_OPCODE, INT3_INSN_OPCODE);
	if (!p->lost)
		p->state = GTP_PATCH_INT3_JUMP;
}

/* Do step 1 of removing, or the first step of changing a jump to another pad. */
void gtp_patch_int3_jump(struct gtp_patch **p, u32 n)
{
	u32 i;

	begin_step();
	for (i = 0; i < n; i++)
		if (in_state(p[i], GTP_PATCH_JUMP))
			int3_jump(p[i]);
	end_step();
}
