// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzer of the tables of call frame information that userspace hands to the kernel, and of the
 * memory of programs whose stacks are taken by them.
 *
 * The input is a table, and after it the program's stack. Corrects the checksum and the size, so
 * that the code after these checks is reached. Required: no sanitizer complains; a stack has at
 * most GTP_USTACK_WORDS words and reads no address of the kernel; a rule that is remembered is the
 * one that is looked up; with a table that is refused, the reason is given.
 */
#include <stdlib.h>
#include "hit/ustack.h"
#include "regions/table.h"

enum { STACK_MAX = 4096, AT = 0x7000 };

static const u64 STACK = 0x7ffc00001000, FILE_AT = 0x10000;
static struct gtp_cfi table, forgetful; /* the same table, with and without remembered rules */
static u64 known[4];
static const u8 *stack;
static size_t stack_bytes;

static void must(bool holds)
{
	if (!holds)
		abort();
}

static int look(void *ctx, void *dst, u64 addr, u32 len)
{
	must(!(addr >> 56));
	if (addr < STACK || len > stack_bytes || addr - STACK > stack_bytes - len)
		return -EFAULT;
	memcpy(dst, stack + (addr - STACK), len);
	return 0;
}

/*
 * The file is mapped at FILE_AT, in pieces, so that stacks ask for many mappings. In the upper half
 * no table is known.
 */
static bool find(void *ctx, u64 addr, struct gtp_ustack_map *map)
{
	u64 piece = (addr - FILE_AT) >> 16;

	*map = (struct gtp_ustack_map){ FILE_AT + (piece << 16), 1 << 16,
					(table.first_page + piece) << 16, &table, 0 };
	if (piece >= 1 << 7)
		map->cfi = NULL;
	return piece < 1 << 8;
}

/* Look offsets up twice, so that the second time a rule may be remembered. */
static void look_up(u64 offset)
{
	struct gtp_cfi_rule plain = gtp_cfi_find(&forgetful, offset), found;
	int i;

	must(plain.kind < GTP_CFI_KINDS);
	for (i = 0; i < 2; i++) {
		found = gtp_cfi_find(&table, offset);
		must(!memcmp(&found, &plain, sizeof(found)));
	}
}

static void take(const u8 *data, size_t size)
{
	struct gtp_ustack_from from = { .whose = 1, .find = find };
	u64 to[GTP_USTACK_WORDS + 1], word[4] = { 0 };
	u32 n, again;
	bool cut;

	memcpy(word, data, size < sizeof(word) ? size : sizeof(word));
	stack = data;
	stack_bytes = size;
	from.pc = FILE_AT + word[0] % (1 << 20);
	from.sp = word[1] % 3 ? STACK + word[1] % STACK_MAX / 8 * 8 : word[1];
	from.bp = word[2] % 3 ? STACK + word[2] % STACK_MAX / 8 * 8 : word[2];
	from.bx = word[3] % 3 ? STACK + word[3] % STACK_MAX / 8 * 8 : word[3];
	from.is_hit = word[0] & 1;
	to[GTP_USTACK_WORDS] = 0xeeee;
	n = gtp_ustack_take(&from, look, NULL, to, &cut);
	must(n >= 2 && n <= GTP_USTACK_WORDS && to[GTP_USTACK_WORDS] == 0xeeee);
	must(to[n - 1] == 1 && to[0] == from.pc);
	again = gtp_ustack_take(&from, look, NULL, NULL, &cut);
	must(again == n);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	size_t bytes = size > 2 ? (size_t)(data[0] | data[1] << 8) : 0;
	const char *why = NULL;
	u8 *copy;
	u64 at;

	if (size < 2)
		return 0;
	data += 2;
	size -= 2;
	if (bytes > size)
		bytes = size;
	copy = malloc(bytes ? bytes : 1);
	memcpy(copy, data, bytes);
	if (bytes >= 16) {
		memcpy(copy, GTP_CFI_MAGIC, 8);
		gtp_put_le(copy + 8, bytes, 4);
		gtp_put_le(copy + 12, gtp_table_crc(copy + 16, bytes - 16), 4);
	}
	if (gtp_cfi_open(&table, copy, bytes, &why)) {
		must(why);
	} else {
		forgetful = table;
		memset(known, 0, sizeof(known));
		gtp_cfi_remember(&table, known, 2);
		for (at = 0; at < 40; at++)
			look_up((1ULL << at) - 1 + bytes);
		for (at = 0; at < 40; at++)
			look_up(((u64)table.first_page << 16) + at * 77);
		take(data + bytes, size - bytes < STACK_MAX ? size - bytes : STACK_MAX);
	}
	free(copy);
	return 0;
}
