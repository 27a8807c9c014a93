// SPDX-License-Identifier: GPL-2.0-only
/*
 * For test_patching.c: the functions that the real files of probe/jump/ call, and a record of all
 * changes that these files make.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "fake_kernel.h"
#include "probe/policy/blacklist.h"
#include "probe/policy/entry.h"
#include "probe/jump/can_jump.h"
#include "probe/jump/jump_arm.h"
#include "probe/jump/jump_widen.h"
#include "probe/jump/jump_remove.h"
#include "probe/kprobe/kprobe_list.h"
#include "kernel/pad/make.h"
#include "probe/policy/refuse.h"
#include "probe/policy/symbol.h"
#include "probe/tables.h"
#include "probe/wait.h"
#include "kernel/base/lock_kernel.h"
#include "kernel/base/params_kernel.h"
#include "world.h"

#undef memcpy
#undef memset
#undef memcmp

enum { PLACE = 64, PAD_BYTES = 0x100, COPY_BYTES = 0x10 };

struct world world;
struct mutex gtp_lock; /* unused: the test has only one thread */
struct delayed_work *fake_kernel_queued;
bool gtp_jumps = true;

static _Alignas(PAGE_SIZE) u8 page[PAGE_SIZE];
static struct notifier_block *handler;

/* --- moments --- */

static u32 made; /* number of pads made so far */
static u8 pads;

static struct {
	struct world_other when;
	u32 now;
	bool there, armed, listed;
	u8 copy[GTP_REGION_JUMP]; /* the bytes at the place when the kprobe was registered */
} other;

static bool keeping;

static u64 handled(u64 at)
{
	struct pt_regs regs = { .ip = at + 1 };
	struct die_args args = { &regs };

	return handler->notifier_call(handler, DIE_INT3, &args) == NOTIFY_STOP ? regs.ip : 0;
}

static u64 jump_target(u64 at, const u8 *bytes)
{
	return at + GTP_REGION_JUMP + (u64)(s64)(s32)gtp_get_le(bytes + 1, 4);
}

static void keep(enum world_kind kind)
{
	struct world_moment *m = &world.moment[world.n];

	assert_true(world.n < WORLD_MOMENTS);
	memset(m, 0, sizeof(*m));
	m->kind = kind;
	memcpy(m->text, (u8 *)world.addr, world.region.len);
	keeping = true;
	for (u32 i = 0; i < world.region.len; i++)
		m->to[i] = handled(world.addr + i);
	keeping = false;
	m->pads = pads;
	m->other = other.there;
	if (other.there && other.copy[0] == JMP32_INSN_OPCODE &&
	    world.region.bytes[0] != JMP32_INSN_OPCODE)
		m->other_to = jump_target(world.addr, other.copy);
	if (kind == WORLD_WRITE && world.n && m[-1].kind == WORLD_WRITE) {
		m->kind = m[-1].kind;
		if (!memcmp(m, m - 1, sizeof(*m)))
			return;
	}
	world.n++;
}

/* Write the byte of the other prober's breakpoint, as text_poke() does. */
static void poke(u8 byte)
{
	__atomic_store_n((u8 *)world.addr, byte, __ATOMIC_RELAXED);
	keep(WORLD_WRITE);
	keep(WORLD_SYNC);
}

/* Register the other kprobe. The kernel refuses one on an int3 that belongs to no kprobe. */
static void other_registers(void)
{
	if (*(u8 *)world.addr == INT3_INSN_OPCODE)
		return;
	memcpy(other.copy, (u8 *)world.addr, sizeof(other.copy));
	other.there = true;
	keep(WORLD_WRITE);
}

static void other_arms(void)
{
	if (!other.there)
		return;
	other.armed = true;
	poke(INT3_INSN_OPCODE);
}

static void other_goes(void)
{
	if (!other.there)
		return;
	if (other.armed)
		poke(other.copy[0]);
	other.there = false;
	other.armed = false;
	keep(WORLD_WRITE);
}

/* Let the other prober act, except during the recording of a moment, which reads memory, too. */
void fake_kernel_point(void)
{
	static bool inside;

	if (inside || keeping || !handler)
		return;
	inside = true;
	other.now++;
	if (other.now == other.when.registers)
		other_registers();
	if (other.now == other.when.arms)
		other_arms();
	if (other.now == other.when.goes)
		other_goes();
	inside = false;
}

static void happen(enum world_kind kind)
{
	keep(kind);
	fake_kernel_point();
}

void fake_kernel_step(void)
{
	if (handler)
		happen(WORLD_WRITE);
}

void fake_kernel_sync(void)
{
	happen(WORLD_SYNC);
}

void gtp_wait_for_tasks(void)
{
	happen(WORLD_WAIT);
	happen(WORLD_WAITED);
}

/* --- pads --- */

/* Return an address for pad @n, within reach of a jump at the place. No memory is mapped there. */
static u64 pad_addr(u32 n)
{
	return world.addr + 0x10000000 + n * PAD_BYTES;
}

bool world_pad(u64 addr, u32 *pad, u32 *copy)
{
	u64 at = addr - pad_addr(0);

	*pad = (u32)(at / PAD_BYTES);
	*copy = (u32)(at % PAD_BYTES / COPY_BYTES);
	return at < WORLD_PADS * PAD_BYTES && !(at % COPY_BYTES);
}

static void make_pad(struct gtp_jit_pad *pad)
{
	assert_true(made < WORLD_PADS);
	pads |= (u8)(1 << made);
	pad->addr = pad_addr(made++);
	pad->len = PAD_BYTES;
}

static void free_pad(struct gtp_jit_pad *pad)
{
	u32 n, copy;

	if (!pad->len)
		return;
	assert_true(world_pad(pad->addr, &n, &copy));
	pads &= (u8)(0xff ^ 1 << n);
	happen(WORLD_FREE);
}

int gtp_pad_probe_make(struct gtp_pad_probe *p, const struct gtp_region *region, u64 *copies)
{
	make_pad(&p->pad);
	p->by_itself = true;
	for (u32 i = 0; i < region->n; i++)
		copies[i] = p->pad.addr + (i + 1) * COPY_BYTES;
	return 0;
}

int gtp_pad_probe_widen(struct gtp_pad_probe *p, const struct gtp_region *region,
			int (*lead)(struct gtp_pad_probe *p, u64 pad))
{
	struct gtp_jit_pad pad;
	int err;

	make_pad(&pad);
	err = lead(p, pad.addr);
	if (err) {
		free_pad(&pad);
		return err;
	}
	p->old_pad = p->pad;
	p->pad = pad;
	return 0;
}

int gtp_pad_probe_init(struct gtp_pad_probe *p, const void *owner, struct gtp_location *loc, u64 at)
{
	p->loc = loc;
	loc->probe = p;
	return 0;
}

void gtp_pad_probe_part(struct gtp_pad_probe *p)
{
	if (p->loc)
		p->loc->probe = NULL;
	p->loc = NULL;
}

void gtp_pad_probe_exit(struct gtp_pad_probe *p)
{
	gtp_pad_probe_part(p);
	free_pad(&p->pad);
	free_pad(&p->old_pad);
}

/* --- the place, and the other prober's kprobe --- */

int gtp_can_jump(u64 addr, bool only_falls, struct gtp_region *r, const char **no_jump,
		 struct gtp_why *why)
{
	*r = world.region;
	return 0;
}

bool gtp_kprobe_list_settle(void)
{
	fake_kernel_point();
	other.listed = other.there;
	fake_kernel_point();
	return true;
}

bool gtp_kprobe_list_in(u64 start, u64 end)
{
	return other.listed && start <= world.addr && world.addr < end;
}

int gtp_kprobe_list_need(void)
{
	return gtp_kprobe_list_settle() ? 0 : -ENOMEM;
}

/* --- functions whose results do not matter to this test --- */

/* clang-format off */
const char *gtp_blacklist_jump(u64 addr) { return NULL; }
u64 gtp_entry_idle(u64 addr) { return 0; }
int gtp_entry_ask(u64 addr) { return 0; }
int gtp_probe_refuse(u64 addr, struct gtp_why *why) { return 0; }
int gtp_probe_interrupted(struct gtp_why *why) { return 0; }
bool gtp_tables_wraps(u64 addr) { return true; }
const char *gtp_symbol_at(u64 addr) { return "fn+0x0/0x40"; }
bool gtp_jit_ready(void) { return true; }
int gtp_jit_open(void) { return 0; }
void gtp_jit_close(void) { }
void gtp_pad_probe_connect(struct gtp_pad_probe *p) { }
void gtp_pad_probe_disconnect(struct gtp_pad_probe *p) { }
void gtp_pad_probes_wipe(void) { }
const char *gtp_pad_probe_why_not(int err) { return "no"; }
void gtp_kprobe_list_forget(void) { }
void gtp_kprobe_list_close(void) { }
void gtp_progress(const char *what, u32 done, u32 total) { }
struct gtp_shadow *gtp_shadow_from(u64 addr) { return NULL; }
struct gtp_shadow *gtp_shadow_next(struct gtp_shadow *a) { return NULL; }
void *gtp_mem_alloc(size_t bytes) { return calloc(1, bytes); }
void gtp_mem_free(const void *p) { free((void *)p); }
/* clang-format on */

int register_die_notifier(struct notifier_block *nb)
{
	handler = nb;
	return 0;
}

void sort(void *base, size_t n, size_t size, int (*cmp)(const void *a, const void *b), void *swap)
{
	qsort(base, n, size, cmp);
}

/* --- a run --- */

static void set_place(const u8 *bytes, u32 len)
{
	struct gtp_region *r = &world.region;

	memset(page, 0x90, sizeof(page));
	memcpy(page + PLACE, bytes, len);
	memset(r, 0, sizeof(*r));
	r->len = (u8)len;
	r->falls_out = true;
	memcpy(r->bytes, bytes, len);
	for (u32 at = 0; at < len; at += r->insn[r->n++].len)
		assert_int_equal(gtp_insn_decode(&r->insn[r->n], bytes + at, len - at), 0);
}

/* Retry removing the jump: first while the other prober's kprobe exists, then without it. */
static void finish(void)
{
	for (u32 i = 0; i < 4 && gtp_jump_any(GTP_JUMP_STUCK); i++) {
		if (i)
			other_goes();
		fake_kernel_queued->work.run(&fake_kernel_queued->work);
	}
	assert_false(gtp_jump_any(GTP_JUMP_STUCK));
	other_goes();
}

void world_run(const u8 *bytes, u32 len, bool widen, struct world_other when)
{
	struct gtp_location loc = { 0 };
	struct gtp_why why = { "" };

	memset(&other, 0, sizeof(other));
	other.when = when;
	made = 0;
	pads = 0;
	world.n = 0;
	world.addr = (u64)page + PLACE;
	set_place(bytes, len);
	if (!handler)
		assert_int_equal(gtp_patch_init(), 0);
	keep(WORLD_SYNC);
	loc.addr = world.addr;
	gtp_jump_sweep_again();
	if (!gtp_jump_stage(&loc, &why)) {
		loc.backend = (void *)&loc; /* not NULL, as after probe/arm.c has armed @loc */
		assert_int_equal(gtp_jump_commit(&why), 0);
	}
	if (widen && loc.probe)
		(void)gtp_jump_widen(&loc, &why);
	if (loc.probe)
		gtp_jump_disarm(&loc);
	finish();
	world.addr = (u64)page + PLACE;
	keep(WORLD_SYNC);
	world.points = other.now;
}
