// SPDX-License-Identifier: GPL-2.0-only
/*
 * While jumps are written and removed, tasks execute only the original text, an int3 or the whole
 * jump.
 *
 * The test compiles the real sources of probe/jump/, which set and remove a jump. Each byte that
 * they write begins a new moment, see patching/world.h. The patching code waits for tasks, but the
 * bytes that it writes do not depend on them. So this test can visit all interleavings:
 * at each moment, it continues from every position that a task can have reached, and lets the task
 * execute any number of instructions, or none. Tasks do not depend on each other, so the states of
 * one task stand for any number of tasks, on any CPUs, preempted or in interrupts.
 *
 * For each byte independently, a CPU may fetch any value that the byte has had since all CPUs last
 * executed a serialising instruction. Real processors are stricter.
 *
 * The other prober is a kprobe at the first byte of the place, which follows the kernel's rules. A
 * kprobe at a later byte is not tested: docs/jumps.md says at which moment it goes wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "patching/world.h"

enum { INT3 = 0xcc, JUMP = 0xe9 };

/*
 * Positions of a task: outside of the place; at an instruction of the place; in the int3 exception
 * of such an instruction, with interrupts off; in a pad, at its beginning or at a copied
 * instruction.
 */
enum {
	OUT,
	AT,
	TRAPPED = AT + GTP_REGION_JUMP,
	PAD = TRAPPED + GTP_REGION_JUMP,
	IN_PAD = 1 + GTP_REGION_JUMP,
	POSITIONS = PAD + WORLD_PADS * IN_PAD,
};

/* A task's state: moment @t, position @at; @owes: the patcher waits until the task has been OUT. */
struct state {
	u32 t;
	u8 at;
	bool owes;
};

/* The number of events of each kind, to check that they occur in the tests. */
static struct {
	u64 states;
	u32 trapped_first, trapped_inner, jumped, waited_for, other_met;
} met;

static bool seen[WORLD_MOMENTS][POSITIONS][2];
static struct state todo[WORLD_MOMENTS * POSITIONS * 2];
static u32 ntodo;
static u32 synced[WORLD_MOMENTS]; /* for each moment, the last one at which all CPUs serialised */

static const struct world_moment *moment(const struct state *s)
{
	return &world.moment[s->t];
}

static u32 offset_of(u32 insn)
{
	u32 at = 0;

	for (u32 i = 0; i < insn; i++)
		at += world.region.insn[i].len;
	return at;
}

static void wrong(const struct state *s, const char *what)
{
	char text[4 * GTP_REGION_MAX] = "";

	for (u32 i = 0; i < world.region.len; i++)
		sprintf(text + 3 * i, "%02x ", moment(s)->text[i]);
	fail_msg("moment %u of %u (%s), position %u: %s", s->t, world.n, text, s->at, what);
}

static void reach(u32 t, u32 at, bool owes)
{
	owes = owes && at != OUT;
	if (seen[t][at][owes])
		return;
	seen[t][at][owes] = true;
	todo[ntodo++] = (struct state){ t, (u8)at, owes };
}

static void go(const struct state *s, u32 at)
{
	reach(s->t, at, s->owes);
}

static u32 behind(u32 insn)
{
	return insn + 1 < world.region.n ? AT + insn + 1 : OUT;
}

static void go_to_pad(const struct state *s, u64 addr)
{
	u32 pad, copy;

	if (!world_pad(addr, &pad, &copy) || copy > world.region.n)
		wrong(s, "control goes to where nothing is");
	else if (!(moment(s)->pads >> pad & 1))
		wrong(s, "control goes to a pad that is free");
	else
		go(s, PAD + pad * IN_PAD + copy);
}

/* --- what a CPU may fetch --- */

static bool may_be(const struct state *s, u32 at, u8 byte)
{
	for (u32 t = synced[s->t]; t <= s->t; t++)
		if (world.moment[t].text[at] == byte)
			return true;
	return false;
}

/* True if a CPU can fetch only these bytes, starting at @at. */
static bool must_be(const struct state *s, u32 at, const u8 *bytes, u32 n)
{
	for (u32 t = synced[s->t]; t <= s->t; t++)
		if (memcmp(&world.moment[t].text[at], bytes, n))
			return false;
	return true;
}

static bool has_other(const struct state *s, u32 at, const u8 *known, u32 n)
{
	for (u32 t = synced[s->t]; t <= s->t; t++)
		if (!memchr(known, world.moment[t].text[at], n))
			return true;
	return false;
}

static void take_jump(const struct state *s)
{
	const u8 *now = moment(s)->text;

	if (!must_be(s, 1, now + 1, GTP_REGION_JUMP - 1)) {
		wrong(s, "a jump to an address of which a part is another's");
		return;
	}
	met.jumped++;
	go_to_pad(s, world.addr + GTP_REGION_JUMP + (u64)(s64)(s32)gtp_get_le(now + 1, 4));
}

static void execute(const struct state *s, u32 insn)
{
	u32 at = offset_of(insn), len = world.region.insn[insn].len;
	const u8 *old = world.region.bytes + at;
	const u8 known[] = { old[0], INT3, insn ? INT3 : JUMP };

	if (has_other(s, at, known, sizeof(known)))
		wrong(s, "an instruction begins with a byte that is nobody's");
	if (may_be(s, at, INT3))
		go(s, TRAPPED + insn);
	if (may_be(s, at, old[0])) {
		if (must_be(s, at + 1, old + 1, len - 1))
			go(s, behind(insn));
		else if (insn || old[0] != JUMP)
			wrong(s, "an instruction that is half another one");
	}
	if (!insn && may_be(s, at, JUMP) && (old[0] != JUMP || !must_be(s, 1, old + 1, len - 1)))
		take_jump(s);
}

/*
 * Handle an int3 like the kernel: look for a kprobe, check whether the int3 is still there, then
 * call gdbtp's handler.
 */
static void handle_int3(const struct state *s, u32 insn)
{
	const struct world_moment *m = moment(s);
	u32 at = offset_of(insn);

	if (!insn && m->other) {
		met.other_met++;
		if (m->other_to)
			go_to_pad(s, m->other_to);
		else
			go(s, behind(0));
	} else if (m->text[at] != INT3) {
		go(s, AT + insn);
	} else if (m->to[at]) {
		*(insn ? &met.trapped_inner : &met.trapped_first) += 1;
		go_to_pad(s, m->to[at]);
	} else {
		wrong(s, "an int3 that nobody knows");
	}
}

/* --- one step of the task, or of the patcher --- */

static void task_goes_on(const struct state *s)
{
	u32 copy = (s->at - PAD) % IN_PAD;

	if (s->at == OUT)
		go(s, AT);
	else if (s->at < TRAPPED)
		execute(s, s->at - AT);
	else if (s->at < PAD)
		handle_int3(s, s->at - TRAPPED);
	else
		go(s, copy < world.region.n ? s->at + 1U : OUT);
}

static void time_goes_on(const struct state *s)
{
	struct state next = { s->t + 1, s->at, s->owes };
	const struct world_moment *m = moment(&next);

	if (next.t == world.n)
		return;
	if (m->kind == WORLD_SYNC && s->at >= TRAPPED && s->at < PAD)
		return; /* the sync waits for this task, whose interrupts are off in the handler */
	if (m->kind == WORLD_WAITED && s->owes) {
		met.waited_for++;
		return;
	}
	if (s->at >= PAD && !(m->pads >> (s->at - PAD) / IN_PAD & 1))
		wrong(&next, "a task is in a pad that is free");
	reach(next.t, s->at, s->owes || m->kind == WORLD_WAIT);
}

static void walk(void)
{
	memset(seen, 0, sizeof(seen));
	for (u32 t = 0; t < world.n; t++)
		synced[t] = world.moment[t].kind == WORLD_SYNC || !t ? t : synced[t - 1];
	ntodo = 0;
	reach(0, OUT, false);
	while (ntodo) {
		struct state s = todo[--ntodo];

		met.states++;
		task_goes_on(&s);
		time_goes_on(&s);
	}
}

/* Check the end: the text is unchanged, no pad is left, and no int3 is in the table. */
static void check_end(void)
{
	const struct world_moment *last = &world.moment[world.n - 1];

	assert_memory_equal(last->text, world.region.bytes, world.region.len);
	assert_int_equal(last->pads, 0);
	for (u32 i = 0; i < world.region.len; i++)
		assert_int_equal(last->to[i], 0);
}

/* --- places --- */

static const struct {
	const char *bytes;
	u32 len;
} places[] = {
	{ "\x48\x89\xfb\x55\x48\x83\xec\x10", 8 },		/* 3, 1 and 4 bytes */
	{ "\x0f\x1f\x44\x00\x00", 5 },				/* one instruction of 5 bytes */
	{ "\x48\x8b\x05\x00\x01\x00\x00", 7 },			/* one instruction of 7 bytes */
	{ "\x50\x51\x52\x53\x56", 5 },				/* five instructions */
	{ "\x41\x55\x48\x8b\x05\x00\x01\x00\x00", 9 },		/* 2 and 7 bytes */
	{ "\x48\x89\xe5\x48\x83\xec\x10", 7 },			/* 3 and 4 bytes */
	{ "\x55\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08", 11 }, /* 1 and 10 bytes */
	{ "\xe9\x00\x01\x00\x00", 5 }, /* a jmp, which begins with the same byte as ours */
};

static void run_place(u32 i, bool widen, struct world_other other)
{
	world_run((const u8 *)places[i].bytes, places[i].len, widen, other);
	walk();
	check_end();
}

/* A jump without another prober, not redirected or redirected to another pad during the run. */
static void test_alone(void **state)
{
	for (u32 widen = 0; widen < 2; widen++) {
		for (u32 i = 0; i < ARRAY_SIZE(places); i++) {
			memset(&met, 0, sizeof(met));
			run_place(i, widen, (struct world_other){ 0 });
			assert_in_range(met.trapped_first, 1, met.states);
			assert_in_range(met.jumped, 1, met.states);
			assert_in_range(met.waited_for, 1, met.states);
			if (world.region.n > 1)
				assert_in_range(met.trapped_inner, 1, met.states);
		}
	}
}

/*
 * The other prober registers and arms its kprobe at any point, and removes it at any later point.
 */
static void test_other_comes_and_goes(void **state)
{
	static const u32 some[] = { 0, 3, 7 };
	u32 last;

	memset(&met, 0, sizeof(met));
	for (u32 k = 0; k < ARRAY_SIZE(some); k++) {
		run_place(some[k], false, (struct world_other){ 0 });
		last = world.points;
		for (u32 from = 1; from < last; from++)
			for (u32 to = from; to < last + 8; to++)
				run_place(some[k], false, (struct world_other){ from, from, to });
	}
	assert_in_range(met.other_met, 1, met.states);
}

/*
 * The other prober registers its kprobe disabled, arms it at any later point, and keeps it until
 * the run has ended.
 */
static void test_other_is_armed_later(void **state)
{
	u32 last;

	memset(&met, 0, sizeof(met));
	run_place(0, false, (struct world_other){ 0 });
	last = world.points;
	for (u32 from = 1; from < last; from++)
		for (u32 armed = from; armed < last; armed++)
			run_place(0, false, (struct world_other){ from, armed, 0 });
	assert_in_range(met.other_met, 1, met.states);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_other_comes_and_goes),
		cmocka_unit_test(test_other_is_armed_later),
	};

	return cmocka_run_group_tests_name("patching", tests, NULL, NULL);
}
