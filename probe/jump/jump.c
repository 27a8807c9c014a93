// SPDX-License-Identifier: GPL-2.0-only
/* Keeps the jumps in lists by state, and looks for other probes near a jump. */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sort.h>

#include "kernel/base/mem_kernel.h"
#include "probe/jump/jump.h"
#include "probe/kprobe/kprobe_list.h"

static struct list_head lists[GTP_JUMP_STATES] = {
	LIST_HEAD_INIT(lists[GTP_JUMP_STAGED]),
	LIST_HEAD_INIT(lists[GTP_JUMP_ARMED]),
	LIST_HEAD_INIT(lists[GTP_JUMP_STUCK]),
};

struct gtp_jump *gtp_jump_add(struct gtp_location *loc, u64 at)
{
	struct gtp_jump *j = gtp_mem_alloc(sizeof(*j));

	if (!j) {
		loc->no_jump = GTP_PAD_NO_MEMORY;
		return NULL;
	}
	if (gtp_pad_probe_init(&j->p, lists, loc, at)) {
		gtp_mem_free(j);
		return NULL;
	}
	j->patch.addr = at;
	list_add_tail(&j->list, &lists[GTP_JUMP_STAGED]);
	return j;
}

void gtp_jump_drop(struct gtp_jump *j)
{
	if (j->holds)
		module_put(THIS_MODULE);
	list_del(&j->list);
	gtp_pad_probe_exit(&j->p);
	gtp_mem_free(j);
}

/*
 * Change a jump's state. A staged jump has changed no text: its entry in the index of probed places
 * gets its length and original bytes only when it leaves that state.
 */
void gtp_jump_become(struct gtp_jump *j, enum gtp_jump_state state)
{
	j->state = state;
	memcpy(j->p.shadow.old, j->patch.old, j->patch.len);
	j->p.shadow.len = j->patch.len;
	list_move_tail(&j->list, &lists[state]);
}

bool gtp_jump_any(enum gtp_jump_state state)
{
	return !list_empty(&lists[state]);
}

void gtp_jump_each(enum gtp_jump_state state, void (*work)(struct gtp_jump *j))
{
	struct gtp_jump *j;

	list_for_each_entry(j, &lists[state], list)
		work(j);
}

static u32 list_count(const struct list_head *list)
{
	const struct list_head *at;
	u32 n = 0;

	list_for_each(at, list)
		n++;
	return n;
}

u32 gtp_jump_count(void)
{
	return list_count(&lists[GTP_JUMP_ARMED]) + list_count(&lists[GTP_JUMP_STUCK]);
}

void gtp_jump_forget_kprobes(void)
{
	if (gtp_jump_any(GTP_JUMP_STAGED) || gtp_jump_any(GTP_JUMP_ARMED) ||
	    gtp_jump_any(GTP_JUMP_STUCK))
		gtp_kprobe_list_forget();
	else
		gtp_kprobe_list_close();
}

/*
 * Compare two jumps by address. Of two at one address, the jump that follows a function tracer's
 * no-op comes first.
 */
static int by_address(const void *a, const void *b)
{
	const struct gtp_jump *x = *(const struct gtp_jump *const *)a;
	const struct gtp_jump *y = *(const struct gtp_jump *const *)b;

	if (x->patch.addr != y->patch.addr)
		return x->patch.addr < y->patch.addr ? -1 : 1;
	return (int)gtp_jump_is_behind(y) - (int)gtp_jump_is_behind(x);
}

int gtp_jump_select(struct gtp_jump_set *set, enum gtp_jump_state state)
{
	struct gtp_jump *j;
	u32 n = list_count(&lists[state]);

	*set = (struct gtp_jump_set){ .n = n };
	set->jump = gtp_mem_alloc(array_size(n, sizeof(*set->jump)));
	set->patch = gtp_mem_alloc(array_size(n, sizeof(*set->patch)));
	if (!set->jump || !set->patch) {
		gtp_jump_deselect(set);
		return -ENOMEM;
	}
	n = 0;
	list_for_each_entry(j, &lists[state], list)
		set->jump[n++] = j;
	sort(set->jump, n, sizeof(*set->jump), by_address, NULL);
	return 0;
}

void gtp_jump_deselect(struct gtp_jump_set *set)
{
	gtp_mem_free(set->jump);
	gtp_mem_free(set->patch);
}

/* --- other probes near a jump --- */

static const struct gtp_jump *in_text(const struct gtp_shadow *a)
{
	const struct gtp_jump *j = container_of(a, struct gtp_jump, p.shadow);

	return a->owner == lists && j->state != GTP_JUMP_STAGED ? j : NULL;
}

/* in_reach - return a jump that covers @addr or begins in the five bytes from @addr, or NULL */
static const struct gtp_jump *in_reach(u64 addr)
{
	struct gtp_shadow *a = gtp_shadow_from(addr - GTP_REGION_MAX);
	const struct gtp_jump *j;

	for (; a && a->addr < addr + GTP_REGION_JUMP; a = gtp_shadow_next(a)) {
		j = in_text(a);
		if (j && addr < a->addr + j->patch.len)
			return j;
	}
	return NULL;
}

/*
 * True if an int3 of ours was left at the address. The kernel accepts no kprobe on an int3 that is
 * not its own.
 */
static bool is_left_int3(u64 addr)
{
	struct gtp_shadow *a = gtp_shadow_from(addr);
	const struct gtp_jump *j;

	for (; a && a->addr == addr; a = gtp_shadow_next(a)) {
		j = in_text(a);
		if (j && j->state == GTP_JUMP_STUCK && j->patch.state != GTP_PATCH_JUMP)
			return true;
	}
	return false;
}

/*
 * Check the jumps near the address. The new jump's length is not known yet: assume five bytes, the
 * minimum.
 */
int gtp_jump_beside(u64 addr, const char **no_jump, struct gtp_why *why)
{
	const struct gtp_jump *j = in_reach(addr);

	if (is_left_int3(addr)) {
		gtp_why(why,
			"a breakpoint of ours is there until the kprobe near it is gone (see kprobes/list in debugfs)");
		return -EBUSY;
	}
	if (!j)
		return 0;
	if (addr == j->patch.addr) {
		*no_jump = "another jump of gdbtp's is there";
		return -EOPNOTSUPP;
	}
	if (addr < j->patch.addr) {
		*no_jump = "another tracepoint's jump is within the 5 bytes";
		return -EOPNOTSUPP;
	}
	gtp_why(why,
		"it is within the bytes of the jump at 0x%llx; tstop and tstart, a dprintf after monitor jumps off",
		j->patch.addr);
	return -EBUSY;
}

bool gtp_jump_has_first(const struct gtp_patch *p)
{
	return gtp_kprobe_list_in(p->addr, p->addr + 1);
}

bool gtp_jump_has_inner(const struct gtp_patch *p)
{
	return gtp_kprobe_list_in(p->addr + 1, p->addr + p->len);
}

bool gtp_jump_has_other_kprobe(const struct gtp_patch *p)
{
	return gtp_jump_has_first(p) || gtp_jump_has_inner(p);
}

/* True if hits reach the pad of the jump: an int3 of ours leads there, too. */
bool gtp_jump_is_hit(const struct gtp_jump *j)
{
	return j->patch.state == GTP_PATCH_JUMP ||
	       (j->patch.state != GTP_PATCH_TEXT && !j->refused);
}

const char *gtp_jump_kind(const struct gtp_jump *j)
{
	if (j->patch.state == GTP_PATCH_JUMP && j->p.follows)
		return "jump, follows the call";
	if (j->patch.state == GTP_PATCH_JUMP)
		return gtp_jump_is_behind(j) ? "jump after the function tracer's site" : "jump";
	if (gtp_jump_is_hit(j))
		return j->no_memory ?
			       "jump, kept a breakpoint: no memory to write it" :
			       "jump, kept a breakpoint: another probe has come into its bytes";
	return "nothing any more: something else has changed its bytes";
}
