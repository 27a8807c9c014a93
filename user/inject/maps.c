// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mappings of another process, and the gaps between them.
 *
 * Memory for pads must be within 2 GiB of the code. A gap above the code is often where something
 * grows to: the heap follows a program's data, and the stack grows towards the mappings below it.
 * Programs that are linked to a fixed address have no room below. Their memory goes as far up as a
 * jump reaches, which leaves the heap most of 2 GiB.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "user/inject/maps.h"

#define PAGE 4096ULL
#define FIRST 0x110000ULL /* above any vm.mmap_min_addr in use */
#define LAST 0x7ffffffff000ULL
#define REACH 0x7fff0000ULL    /* 2 GiB, less the longest instruction and much more */
#define STACK_ROOM BIT_ULL(30) /* kept free below the stack */

static int add(struct gtp_maps *m, const char *line, u32 *room)
{
	struct gtp_mapping *more, *to;
	char flags[8];
	u32 path = 0;

	if (m->n == *room) {
		*room = *room ? 2 * *room : 256;
		more = realloc(m->mapping, *room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		m->mapping = more;
	}
	to = &m->mapping[m->n];
	memset(to, 0, sizeof(*to));
	if (sscanf(line, "%llx-%llx %7s %*x %*s %*u %n", &to->start, &to->end, flags, &path) < 3)
		return -EINVAL;
	to->exec = flags[2] == 'x';
	to->heap = path && !strncmp(line + path, "[heap]", 6);
	to->stack = path && !strncmp(line + path, "[stack]", 7);
	m->n++;
	return 0;
}

int gtp_maps_read(struct gtp_maps *m, const struct gtp_process *p, u32 tid)
{
	char *line = NULL, name[64];
	size_t size = 0;
	u32 room = 0;
	int err = 0;
	FILE *file;

	snprintf(name, sizeof(name), "task/%u/maps", tid);
	memset(m, 0, sizeof(*m));
	file = gtp_process_stream(p, name);
	if (!file)
		return -errno;
	while (!err && getline(&line, &size, file) > 0)
		err = add(m, line, &room);
	free(line);
	fclose(file);
	if (!err && !m->n)
		err = -ESRCH;
	if (err)
		gtp_maps_free(m);
	return err;
}

void gtp_maps_free(struct gtp_maps *m)
{
	free(m->mapping);
	memset(m, 0, sizeof(*m));
}

/* struct gap - free addresses that jumps reach: [@lo, @hi) */
struct gap {
	u64 lo, hi;
};

/* Return the gap after mapping number @i, or before the first one if @i is -1, within @reach. */
static struct gap after(const struct gtp_maps *m, s64 i, struct gap reach)
{
	const struct gtp_mapping *prev = i < 0 ? NULL : &m->mapping[i];
	const struct gtp_mapping *next = i + 1 < m->n ? &m->mapping[i + 1] : NULL;
	struct gap gap = {
		.lo = prev ? prev->end + PAGE : FIRST,
		.hi = next ? next->start - PAGE : LAST,
	};

	if (next && next->stack)
		gap.hi = next->start > STACK_ROOM ? next->start - STACK_ROOM : 0;
	if (gap.lo < reach.lo)
		gap.lo = reach.lo;
	if (gap.hi > reach.hi)
		gap.hi = reach.hi;
	return gap;
}

u64 gtp_maps_gap(const struct gtp_maps *m, u64 lo, u64 hi, u64 bytes)
{
	struct gap reach = {
		.lo = hi > REACH ? (hi - REACH + PAGE - 1) & -PAGE : FIRST,
		.hi = (lo + REACH) & -PAGE,
	};
	u64 below = 0, above = 0;
	struct gap gap;
	s64 i;

	if (reach.lo < FIRST)
		reach.lo = FIRST;
	if (reach.hi > LAST)
		reach.hi = LAST;
	for (i = -1; i < (s64)m->n; i++) {
		gap = after(m, i, reach);
		if (gap.hi < gap.lo || gap.hi - gap.lo < bytes)
			continue;
		/* The gaps ascend: keep the last one of both kinds, and take its upper end. */
		if (gap.hi <= lo)
			below = gap.hi - bytes;
		else
			above = gap.hi - bytes;
	}
	return below ? below : above;
}
