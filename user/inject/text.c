// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads and writes many places of another process's code with few system calls.
 *
 * All threads stand meanwhile, so each system call counts. Places on one page are read and written
 * as one piece. The first write to a page of a file gives the process its own copy of the page,
 * which takes longer than all else. So that is done before, by writing a byte that is there
 * already.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "user/inject/memory.h"
#include "user/inject/text.h"

#define PAGE 4096ULL

enum { VECTORS = 512 }; /* pieces that one system call reads */

#define PAGE_OF_FILE BIT_ULL(61) /* in /proc/PID/pagemap */

/*
 * True if a jump's code belongs to the piece before it: both begin on one page. The next page may
 * be another file's, which may be unmapped alone.
 */
static bool joins(const struct gtp_span *span, const struct gtp_patch *patch)
{
	return patch->at / PAGE == span->addr / PAGE;
}

int gtp_text_plan(struct gtp_text_plan *t, struct gtp_patch *const *patch, u32 n)
{
	struct gtp_span *span = calloc(n + 1, sizeof(*span));
	size_t bytes = 0;
	u32 i, k = 0;

	if (!span)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		if (!k || !joins(&span[k - 1], patch[i]))
			span[k++].addr = patch[i]->at;
		span[k - 1].len = (u32)(patch[i]->at + patch[i]->region.len - span[k - 1].addr);
	}
	for (i = 0; i < k; i++)
		bytes += span[i].len;
	*t = (struct gtp_text_plan){ .span = span, .spans = k, .bytes = malloc(2 * bytes + 1) };
	if (!t->bytes) {
		gtp_text_free(t);
		return -ENOMEM;
	}
	for (i = 0, bytes = 0; i < k; i++) {
		span[i].bytes = t->bytes + bytes;
		span[i].old = span[i].bytes + span[i].len;
		bytes += 2 * span[i].len;
	}
	return 0;
}

void gtp_text_free(struct gtp_text_plan *t)
{
	free(t->bytes);
	free(t->span);
	memset(t, 0, sizeof(*t));
}

/* Only pages of files: others are the process's own, and it may be writing to them. */
static void own_page(int pagemap, int mem, u64 addr)
{
	u64 entry;
	u8 byte;

	if (pread(pagemap, &entry, sizeof(entry), (off_t)(addr / PAGE * 8)) != sizeof(entry))
		return;
	if ((entry & PAGE_OF_FILE || !entry) && !gtp_process_read_from(mem, &byte, addr, 1))
		gtp_memory_write(mem, addr, &byte, 1);
}

void gtp_text_own(const struct gtp_text_plan *t, const struct gtp_process *p, int mem)
{
	int pagemap = openat(p->dir, "pagemap", O_RDONLY | O_CLOEXEC);
	u64 addr, end, last = 0;
	u32 i;

	for (i = 0; pagemap >= 0 && i < t->spans; i++) {
		end = t->span[i].addr + t->span[i].len;
		for (addr = t->span[i].addr; addr < end; addr = (addr | (PAGE - 1)) + 1) {
			if (addr / PAGE != last)
				own_page(pagemap, mem, addr);
			last = addr / PAGE;
		}
	}
	if (pagemap >= 0)
		close(pagemap);
}

/* Read up to VECTORS pieces, from number @i on. Return how many have been read completely. */
static u32 read_some(struct gtp_text_plan *t, const struct gtp_process *p, u32 i)
{
	static struct iovec local[VECTORS], remote[VECTORS];
	u32 k, n = t->spans - i < VECTORS ? t->spans - i : VECTORS;
	ssize_t got;

	for (k = 0; k < n; k++) {
		const struct gtp_span *span = &t->span[i + k];

		local[k] = (struct iovec){ span->old, span->len };
		remote[k] = (struct iovec){ (void *)(uintptr_t)span->addr, span->len };
	}
	got = process_vm_readv((pid_t)p->pid, local, n, remote, n, 0);
	for (k = 0; k < n && got >= (ssize_t)local[k].iov_len; k++)
		got -= (ssize_t)local[k].iov_len;
	return k;
}

/* process_vm_readv() stops at a piece that it may not read: try /proc/PID/mem for that one. */
u32 gtp_text_read(struct gtp_text_plan *t, const struct gtp_process *p, int mem)
{
	u32 i = 0, failed = 0, n;

	while (i < t->spans) {
		n = read_some(t, p, i);
		if (!n) {
			n = 1;
			if (gtp_process_read_from(mem, t->span[i].old, t->span[i].addr,
						  t->span[i].len)) {
				memset(t->span[i].old, 0, t->span[i].len);
				failed++;
			}
		}
		i += n;
	}
	for (i = 0; i < t->spans; i++)
		memcpy(t->span[i].bytes, t->span[i].old, t->span[i].len);
	return failed;
}

u8 *gtp_text_at(const struct gtp_text_plan *t, const struct gtp_patch *patch)
{
	u32 lo = 0, hi = t->spans;

	while (hi - lo > 1) {
		u32 mid = lo + (hi - lo) / 2;

		if (t->span[mid].addr <= patch->at)
			lo = mid;
		else
			hi = mid;
	}
	return t->span[lo].bytes + (patch->at - t->span[lo].addr);
}

int gtp_text_write(struct gtp_text_plan *t, int mem)
{
	struct gtp_span *span;
	u32 i;

	for (i = 0; i < t->spans; i++) {
		span = &t->span[i];
		if (!memcmp(span->bytes, span->old, span->len))
			continue;
		span->written = true;
		if (gtp_memory_write(mem, span->addr, span->bytes, span->len))
			break;
	}
	if (i == t->spans)
		return 0;
	for (i = 0; i < t->spans; i++) {
		span = &t->span[i];
		if (span->written)
			gtp_memory_write(mem, span->addr, span->old, span->len);
	}
	return -EFAULT;
}
