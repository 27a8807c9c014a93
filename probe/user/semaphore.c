// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds a file's markers and their semaphores. The markers are read from the notes of the file
 * itself, not received from GDB: a GDB with the symbols of another build could make the kernel
 * change any data of the processes.
 */
#include <linux/lockdep.h>

#include "kernel/base/lock_kernel.h"
#include "kernel/base/mem_kernel.h"
#include "probe/user/files.h"
#include "probe/user/sdt.h"
#include "probe/user/semaphore.h"

/**
 * struct gtp_semaphores - the markers of a file
 * @n: the number of entries in @one
 * @one: for each marker its link-time address and that of its semaphore (0: none)
 */
struct gtp_semaphores {
	u32 n;
	struct {
		u64 place;
		u64 semaphore;
	} one[];
};

/*
 * struct reading - the file, the number of markers found so far, and the array for them (NULL: only
 * count)
 */
struct reading {
	struct gtp_file_space *space;
	u32 came;
	u32 room;
	struct gtp_semaphores *to;
};

static bool read_file(void *ctx, void *dst, u32 len, u64 at)
{
	struct reading *r = ctx;
	loff_t pos = (loff_t)at;

	return pos >= 0 && kernel_read(r->space->file, dst, len, &pos) == len;
}

/* Keep a marker if there is room: the file may have been written to between the two readings. */
static void keep(void *ctx, u64 place, u64 semaphore)
{
	struct reading *r = ctx;

	r->came++;
	if (!r->to || r->to->n == r->room)
		return;
	r->to->one[r->to->n].place = place;
	r->to->one[r->to->n].semaphore = semaphore;
	r->to->n++;
}

static int read_all(struct gtp_file_space *space)
{
	struct reading r = { .space = space };
	const struct gtp_sdt sdt = { .read = read_file, .found = keep, .ctx = &r };

	gtp_mem_free(space->semaphores);
	space->semaphores = NULL;
	gtp_sdt_each(&sdt);
	r.room = r.came;
	r.to = gtp_mem_alloc(struct_size(r.to, one, r.room));
	if (!r.to)
		return -ENOMEM;
	if (r.room)
		gtp_sdt_each(&sdt);
	space->semaphores = r.to;
	return 0;
}

int gtp_semaphore_find(struct gtp_file_space *space, u64 linked, u64 *offset, struct gtp_why *why)
{
	u64 semaphore;
	u32 i;

	lockdep_assert_held(&gtp_lock);
	*offset = 0;
	if ((!space->armed || !space->semaphores) && read_all(space)) {
		gtp_why(why, "no memory for the semaphores of a file");
		return -ENOMEM;
	}
	for (i = 0; i < space->semaphores->n && space->semaphores->one[i].place != linked; i++)
		;
	if (i == space->semaphores->n)
		return 0;
	semaphore = space->semaphores->one[i].semaphore;
	return semaphore ? gtp_sdt_offset(&space->elf, semaphore, offset, why) ?: 1 : 1;
}
