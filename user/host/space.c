// SPDX-License-Identifier: GPL-2.0-only
/* Allocates memory that a traced process shares: blocks of powers of two, reused by size. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "user/host/space.h"

/* struct gtp_space_block - the head of a block; @next is valid in a free one */
struct gtp_space_block {
	u64 order;
	struct gtp_space_block *next;
	u64 apart[6]; /* padding: the memory begins a cache line */
};

enum { ORDER_MIN = 7 };

static_assert(sizeof(struct gtp_space_block) == GTP_SPACE_FIRST, "the first block's head");

int gtp_space_open(struct gtp_space *s, int fd, u64 start, u64 bytes)
{
	void *at = (void *)(unsigned long)start, *p;

	*s = (struct gtp_space){ .fd = fd, .start = start, .end = start + bytes, .used = start };
	if (ftruncate(fd, (off_t)bytes))
		return -errno;
	p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
	if (p == at)
		return 0;
	if (p != MAP_FAILED)
		munmap(p, bytes);
	return p == MAP_FAILED ? -errno : -EEXIST;
}

int gtp_space_move(struct gtp_space *s, int fd)
{
	void *at = (void *)(unsigned long)s->start;
	u64 done = 0, all = s->used - s->start;

	while (done < all) {
		ssize_t n = pwrite(fd, (char *)at + done, all - done, (off_t)done);

		if (n <= 0)
			return -EIO;
		done += (u64)n;
	}
	if (mmap(at, s->end - s->start, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
	    MAP_FAILED)
		return -errno;
	close(s->fd);
	s->fd = fd;
	return 0;
}

void gtp_space_close(struct gtp_space *s)
{
	munmap((void *)(unsigned long)s->start, s->end - s->start);
	close(s->fd);
}

static u32 order_of(size_t bytes)
{
	u32 order = ORDER_MIN;

	while ((1ULL << order) < bytes + sizeof(struct gtp_space_block))
		order++;
	return order;
}

/* Take memory that was never used, and which is zero. */
static struct gtp_space_block *extend(struct gtp_space *s, u32 order)
{
	struct gtp_space_block *b = (struct gtp_space_block *)(unsigned long)s->used;

	if (s->end - s->used < 1ULL << order)
		return NULL;
	s->used += 1ULL << order;
	b->order = order;
	return b;
}

void *gtp_space_alloc(struct gtp_space *s, size_t bytes, bool zero)
{
	u32 order = order_of(bytes);
	struct gtp_space_block *b;

	if (order >= GTP_SPACE_ORDERS)
		return NULL;
	b = s->free[order];
	if (!b) {
		b = extend(s, order);
		return b ? b + 1 : NULL;
	}
	s->free[order] = b->next;
	if (zero)
		memset(b + 1, 0, bytes);
	return b + 1;
}

int gtp_space_take_pages(struct gtp_space *s, const void *p, size_t bytes)
{
	off_t at = (off_t)((u64)(unsigned long)p - s->start);
	int rc;

	do
		rc = fallocate(s->fd, 0, at, (off_t)bytes);
	while (rc && errno == EINTR);
	return rc ? -errno : 0;
}

void gtp_space_free(struct gtp_space *s, void *p)
{
	struct gtp_space_block *b = p;

	if (!p || s->keeps)
		return;
	b--;
	b->next = s->free[b->order];
	s->free[b->order] = b;
}

static void *take(void *ctx, size_t bytes)
{
	return gtp_space_alloc(ctx, bytes, true);
}

static void give(void *ctx, void *p)
{
	gtp_space_free(ctx, p);
}

struct gtp_mem gtp_space_mem(struct gtp_space *s)
{
	return (struct gtp_mem){ take, give, s };
}
