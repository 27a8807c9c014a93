// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of another process: read and written from outside, mapped and unmapped by the process.
 *
 * /proc/PID/mem writes to private memory even if the process itself may not, as a debugger must. So
 * memory for code is never writable in the process. All memory is anonymous: a seccomp filter may
 * forbid files, and a file would be a descriptor in the process for a moment.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "user/inject/memory.h"

#define PAGE 4096ULL

int gtp_memory_write(int mem, u64 addr, const void *src, u64 len)
{
	const u8 *bytes = src;
	ssize_t n;

	while (len) {
		n = pwrite(mem, bytes, len, (off_t)addr);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EFAULT;
		bytes += n;
		addr += (u64)n;
		len -= (u64)n;
	}
	return 0;
}

/* --- system calls --- */

static int read_maps(struct gtp_maps *maps, const struct gtp_stop *s)
{
	u32 i = 0;

	while (i < s->n && !s->thread[i].stands)
		i++;
	return i < s->n ? gtp_maps_read(maps, s->p, s->thread[i].tid) : -ESRCH;
}

/* Find a syscall instruction, unless the last one is still there. */
static int find_insn(struct gtp_areas *a, const struct gtp_stop *s, const struct gtp_maps *maps,
		     struct gtp_why *why)
{
	struct gtp_maps own = { 0 };
	u8 bytes[2];

	if (a->insn && !gtp_process_read(s->p, bytes, a->insn, sizeof(bytes)) && bytes[0] == 0x0f &&
	    bytes[1] == 0x05)
		return 0;
	if (!maps && read_maps(&own, s)) {
		gtp_why(why, "the mappings of process %u cannot be read", s->p->pid);
		return -ESRCH;
	}
	a->insn = gtp_remote_find(s->p, maps ? maps : &own);
	gtp_maps_free(&own);
	if (a->insn)
		return 0;
	gtp_why(why, "process %u has no syscall instruction", s->p->pid);
	return -ENOENT;
}

static int tell_killed(const struct gtp_stop *s, struct gtp_why *why)
{
	gtp_why(why, "process %u was killed", s->p->pid);
	return -ESRCH;
}

int gtp_memory_call(struct gtp_areas *a, struct gtp_stop *s, u32 nr, const u64 args[6], s64 *result,
		    struct gtp_why *why)
{
	struct gtp_remote r;
	int err = find_insn(a, s, NULL, why);

	if (!err)
		err = gtp_remote_begin(&r, s, a->insn, why);
	if (err)
		return err;
	*result = gtp_remote_call(&r, nr, args);
	return gtp_remote_end(&r) ? tell_killed(s, why) : 0;
}

/* --- mappings --- */

static int prot_of(enum gtp_inject_kind kind)
{
	return kind == GTP_INJECT_CODE ? PROT_READ | PROT_EXEC : PROT_READ | PROT_WRITE;
}

/* Map memory at @at, or anywhere if it is 0. Return its address, or -errno. */
static s64 map_at(struct gtp_remote *r, enum gtp_inject_kind kind, u64 at, u64 bytes)
{
	const u64 flags = MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0);
	const u64 map[6] = { at, bytes, (u64)prot_of(kind), flags, (u64)-1, 0 };
	s64 addr = gtp_remote_call(r, SYS_mmap, map), err = 0;
	const u64 wipe[6] = { (u64)addr, bytes, MADV_WIPEONFORK };

	if (addr < 0 && addr >= -4095)
		return addr;
	if (at && (u64)addr != at) /* a kernel before 4.17, which takes the flag for a hint */
		err = -EEXIST;
	else if (kind == GTP_INJECT_WIPE)
		err = gtp_remote_call(r, SYS_madvise, wipe);
	if (!err)
		return addr;
	gtp_remote_call(r, SYS_munmap, wipe);
	return err;
}

/* Find the address to map at; 0: anywhere. Return 0 or -errno. */
static int find_room(const struct gtp_stop *s, const struct gtp_maps *maps,
		     const struct gtp_inject_near *near, u64 bytes, u64 *at, struct gtp_why *why)
{
	*at = near->hi ? gtp_maps_gap(maps, near->lo, near->hi, bytes) : 0;
	if (*at || !near->hi)
		return 0;
	gtp_why(why, "process %u has no free addresses within 2 GiB of 0x%llx", s->p->pid,
		near->lo);
	return -ENOSPC;
}

static int map_area(const struct gtp_areas *a, struct gtp_stop *s, struct gtp_area *area,
		    struct gtp_why *why)
{
	struct gtp_remote r;
	int err = gtp_remote_begin(&r, s, a->insn, why);
	s64 addr;

	if (err)
		return err;
	addr = map_at(&r, area->kind, area->addr, area->bytes);
	if (gtp_remote_end(&r))
		return tell_killed(s, why);
	if (addr > 0) {
		area->addr = (u64)addr;
		return 0;
	}
	gtp_why(why, "process %u cannot map %llu bytes: %s", s->p->pid, area->bytes,
		strerror((int)-addr));
	return (int)addr;
}

int gtp_memory_map(struct gtp_areas *a, struct gtp_stop *s, enum gtp_inject_kind kind,
		   const struct gtp_inject_near *near, u64 bytes, struct gtp_area *area,
		   struct gtp_why *why)
{
	struct gtp_maps maps;
	int err = read_maps(&maps, s);

	if (err) {
		gtp_why(why, "the mappings of process %u cannot be read", s->p->pid);
		return err;
	}
	*area = (struct gtp_area){ .kind = kind, .bytes = (bytes + PAGE - 1) & -PAGE };
	err = find_room(s, &maps, near, area->bytes, &area->addr, why);
	if (!err)
		err = find_insn(a, s, &maps, why);
	if (!err)
		err = map_area(a, s, area, why);
	gtp_maps_free(&maps);
	return err;
}

int gtp_memory_unmap(struct gtp_areas *a, struct gtp_stop *s, u64 addr, struct gtp_why *why)
{
	struct gtp_remote r;
	s64 result = 0;
	u32 i;
	int err;

	if (!a->n)
		return 0;
	err = find_insn(a, s, NULL, why);
	if (!err)
		err = gtp_remote_begin(&r, s, a->insn, why);
	if (err)
		return err;
	for (i = 0; !result && i < a->n; i++) {
		const u64 args[6] = { a->area[i].addr, a->area[i].bytes };

		if (!addr || a->area[i].addr == addr)
			result = gtp_remote_call(&r, SYS_munmap, args);
	}
	if (gtp_remote_end(&r))
		return tell_killed(s, why);
	if (result)
		gtp_why(why, "process %u cannot unmap memory: %s", s->p->pid,
			strerror((int)-result));
	return (int)result;
}

/* --- the list --- */

int gtp_memory_make_room(struct gtp_areas *a, struct gtp_why *why)
{
	struct gtp_area *more = realloc(a->area, (a->n + 1) * sizeof(*more));

	if (!more) {
		gtp_why(why, "out of memory");
		return -ENOMEM;
	}
	a->area = more;
	return 0;
}

void gtp_memory_remember(struct gtp_areas *a, const struct gtp_area *area)
{
	a->area[a->n++] = *area;
}

void gtp_memory_drop(struct gtp_areas *a, u64 addr)
{
	u32 i, kept = 0;

	for (i = 0; i < a->n; i++)
		if (a->area[i].addr != addr)
			a->area[kept++] = a->area[i];
	a->n = kept;
}

const struct gtp_area *gtp_memory_find(const struct gtp_areas *a, u64 addr, u64 len)
{
	u32 i;

	for (i = 0; i < a->n; i++)
		if (addr - a->area[i].addr < a->area[i].bytes &&
		    len <= a->area[i].bytes - (addr - a->area[i].addr))
			return &a->area[i];
	return NULL;
}

void gtp_memory_forget(struct gtp_areas *a)
{
	free(a->area);
	memset(a, 0, sizeof(*a));
}
