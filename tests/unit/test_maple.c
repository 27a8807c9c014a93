// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests look-ups in a maple tree against a plain array, in trees that the test builds as
 * lib/maple_tree.c of the kernel describes them; and trees that are being changed or damaged.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "hit/maple.h"

enum { NODES = 512, ENTRIES = 900, LEAF = 1, RANGE = 2, ARANGE = 3 };

/* A node of the kernel on a 64-bit machine. */
union node {
	struct {
		u64 parent, pivot[15], slot[16];
	} range;
	struct {
		u64 parent, pivot[9], slot[10], gap[10];
		u8 end, largest;
	} arange;
	struct {
		u64 words[31];
		u8 end, gap;
	} leaf;
};

static_assert(sizeof(union node) == 256, "a node");

static _Alignas(256) union node nodes[NODES];
static u32 used, reads;
static u64 root;

/* Memory that can be read: the root and the nodes. Count reads, and see that none is outside. */
static int look(void *ctx, void *dst, u64 addr, u32 len)
{
	u64 from = addr - (u64)nodes;

	assert_true(++reads < 1000);
	if (addr == (u64)&root && len == sizeof(root)) {
		memcpy(dst, &root, len);
		return 0;
	}
	if (from > sizeof(nodes) - len)
		return -EFAULT;
	memcpy(dst, (const void *)addr, len);
	return 0;
}

static const struct gtp_maple maple = {
	.kind = {
		[LEAF] = { 15, offsetof(union node, range.slot), offsetof(union node, leaf.end),
			   true, false },
		[RANGE] = { 15, offsetof(union node, range.slot), offsetof(union node, leaf.end),
			    false, false },
		[ARANGE] = { 9, offsetof(union node, arange.slot),
			     offsetof(union node, arange.end), false, true },
	},
	.read = look,
};

/* --- building a tree --- */

/* struct range - the entries that the test looks up: @entry is for the indices up to @last */
static struct {
	u64 last, entry;
} range[ENTRIES];

static u64 seed;

static u32 roll(u32 below)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (u32)(seed >> 33) % below;
}

static u64 reference(u32 node, u32 kind)
{
	return (u64)&nodes[node] | kind << 3 | 4;
}

/* Write one node; what is not in use keeps its noise, where the form of the tree allows noise. */
static u64 make(u32 kind, const u64 *last, const u64 *slot, u32 n, u64 max)
{
	union node *node = &nodes[used];
	u32 pivots = kind == ARANGE ? 9 : 15, i;

	assert_true(used < NODES && n <= pivots + 1);
	memset(node, 0, sizeof(*node));
	node->range.parent = 0x1001;
	for (i = 0; i < n; i++) {
		if (i < pivots && (i + 1 < n || roll(2) || i == pivots - 1))
			node->range.pivot[i] = i + 1 < n ? last[i] : max;
		if (kind == ARANGE)
			node->arange.slot[i] = slot[i];
		else
			node->range.slot[i] = slot[i];
	}
	if (kind == ARANGE)
		node->arange.end = (u8)(n - 1);
	else if (n < 16)
		node->leaf.end = (u8)(n - 1);
	return reference(used++, kind);
}

/* Group the ranges into nodes, level by level, until one is left. */
static void build(u32 n, u32 inner)
{
	static u64 last[ENTRIES], slot[ENTRIES];
	u32 kind = LEAF, left = n, i;

	used = 0;
	for (i = 0; i < n; i++) {
		last[i] = range[i].last;
		slot[i] = range[i].entry;
	}
	do {
		u32 most = kind == ARANGE ? 10 : 16, to = 0;

		for (i = 0; i < left;) {
			u32 some = most / 2 + roll(most / 2 + 1);

			if (some > left - i || left - i - some < most / 2)
				some = left - i < most ? left - i : most / 2;
			slot[to] = make(kind, last + i, slot + i, some, last[i + some - 1]);
			last[to++] = last[i + some - 1];
			i += some;
		}
		left = to;
		kind = inner;
	} while (left > 1);
	root = slot[0] | 2;
}

static u64 found(u64 index)
{
	u64 entry = 0xbad;

	reads = 0;
	assert_int_equal(gtp_maple_find(&maple, (u64)&root, index, &entry), 0);
	return entry;
}

/* --- tests --- */

static void every_range(void **state)
{
	u32 round, i;

	for (round = 0; round < 200; round++) {
		u32 n = 1 + roll(round % 2 ? ENTRIES : 40);
		u64 at = 0;

		seed = round;
		for (i = 0; i < n; i++) {
			at += 1 + roll(1 << 20);
			range[i].last = i + 1 < n ? at : ~0ULL;
			range[i].entry = roll(3) ? 0xffff888000000000 + i * 0x100 : 0;
		}
		build(n, roll(2) ? ARANGE : RANGE);
		for (i = 0, at = 0; i < n; i++) {
			assert_true(found(at) == range[i].entry);
			assert_true(found(range[i].last) == range[i].entry);
			assert_true(found(at + (range[i].last - at) / 2) == range[i].entry);
			at = range[i].last + 1;
		}
	}
}

static void small_trees(void **state)
{
	root = 0;
	assert_true(found(5) == 0);
	/* One entry for index 0, and reserved numbers. */
	root = 0xffff888000000000;
	assert_true(found(5) == 0);
	root = 0x402;
	assert_true(found(5) == 0);
}

/* A leaf's slot of the kernel's own, such as XA_ZERO_ENTRY, is no entry. */
static void reserved_entries(void **state)
{
	u64 last = ~0ULL, slot = 0x406;

	used = 0;
	root = make(LEAF, &last, &slot, 1, ~0ULL) | 2;
	assert_true(found(7) == 0);
}

/* A dead node is not used, and the look-up ends. */
static void dead_nodes(void **state)
{
	u64 entry;
	u32 i;

	seed = 1;
	for (i = 0; i < 300; i++) {
		range[i].last = i + 1 < 300 ? i * 100 : ~0ULL;
		range[i].entry = 0xffff888000000000 + i * 0x100;
	}
	build(300, ARANGE);
	assert_true(found(1) == range[1].entry);
	nodes[0].range.parent = (u64)&nodes[0];
	nodes[0].range.pivot[0] = (u64)&nodes[9];
	reads = 0;
	assert_int_equal(gtp_maple_find(&maple, (u64)&root, 1, &entry), -EAGAIN);
	assert_true(reads < 60);
	assert_true(found(20000) == range[200].entry);
	nodes[used - 1].range.parent = (u64)&nodes[used - 1];
	assert_int_equal(gtp_maple_find(&maple, (u64)&root, 20000, &entry), -EAGAIN);
}

/* Any words as nodes: the look-up ends, and reads nothing but nodes. */
static void noise(void **state)
{
	u32 round, i;

	for (round = 0; round < 20000; round++) {
		u64 entry;
		u32 n = 1 + roll(8);

		seed = round;
		for (i = 0; i < n * 32; i++) {
			u64 *word = (u64 *)&nodes[i / 32] + i % 32;

			*word = roll(4) ? reference(roll(n), roll(5)) :
					  (u64)roll(1 << 20) << roll(45);
		}
		root = reference(0, 1 + roll(3)) | 2;
		if (!roll(8))
			root = (u64)roll(1 << 30) << roll(34) | 2;
		reads = 0;
		gtp_maple_find(&maple, (u64)&root, (u64)roll(1 << 20) << roll(40), &entry);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_range),
		cmocka_unit_test(small_trees),
		cmocka_unit_test(reserved_entries),
		cmocka_unit_test(dead_nodes),
		cmocka_unit_test(noise),
	};

	return cmocka_run_group_tests_name("maple", tests, NULL, NULL);
}
