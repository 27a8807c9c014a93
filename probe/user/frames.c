// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of call frame information that GDB sends for files of programs, and for the vDSO: which
 * ones are accepted, and how long they exist.
 */
#include "probe/user/frames.h"

static void *alloc(struct gtp_frames_all *all, size_t bytes)
{
	return all->mem->alloc(all->mem->ctx, bytes);
}

static void release(struct gtp_frames_all *all, void *p)
{
	all->mem->free(all->mem->ctx, p);
}

/* Forget the table that is arriving. */
static void drop(struct gtp_frames_all *all, struct gtp_frames *f)
{
	if (!f->bytes)
		return;
	release(all, f->bytes);
	all->bytes -= f->size;
	f->bytes = NULL;
}

static int refuse(struct gtp_frames_all *all, struct gtp_frames *f, int err, struct gtp_why *why,
		  const char *words)
{
	drop(all, f);
	gtp_why(why, "a table of call frames is refused: %s", words);
	return err;
}

bool gtp_frames_is_needed(const struct gtp_frames *f, bool busy)
{
	return busy && f->used;
}

bool gtp_frames_hide(struct gtp_frames_all *all, struct gtp_frames *f)
{
	if (f->is_shown)
		all->hide(f);
	f->is_shown = false;
	return f->used;
}

static void free_used(struct gtp_frames_all *all, struct gtp_frames *f)
{
	if (f->used)
		all->bytes -= f->cfi.size;
	release(all, f->used);
	release(all, f->known);
	f->used = NULL;
	f->known = NULL;
}

void gtp_frames_free(struct gtp_frames_all *all, struct gtp_frames *f)
{
	free_used(all, f);
	drop(all, f);
}

static int begin(struct gtp_frames_all *all, struct gtp_frames *f, u32 size, struct gtp_why *why)
{
	drop(all, f);
	if (size < GTP_CFI_HEAD || size > GTP_CFI_BYTES)
		return refuse(all, f, -EINVAL, why, "its size is impossible");
	if (size > GTP_FRAMES_BYTES - all->bytes)
		return refuse(all, f, -ENOSPC, why, "all tables together would have over 256 MiB");
	/* A machine that runs out of memory kills processes. */
	if (size > all->most())
		return refuse(all, f, -ENOMEM, why,
			      "it has more than a quarter of the available memory");
	f->bytes = alloc(all, size);
	if (!f->bytes)
		return refuse(all, f, -ENOMEM, why, "no memory");
	f->size = size;
	f->have = 0;
	all->bytes += size;
	return 0;
}

/* True if a table belongs to a file. The table has only the first bytes of a long build-id. */
static bool is_of(const struct gtp_cfi *table, const struct gtp_frames_id *id)
{
	u32 bytes = id->bytes < GTP_CFI_ID ? id->bytes : (u32)GTP_CFI_ID, n;
	const u8 *own;

	n = gtp_cfi_build_id(table, &own);
	return n == bytes && !memcmp(own, id->at, n);
}

static int end(struct gtp_frames_all *all, struct gtp_frames *f, const struct gtp_frames_id *id,
	       bool busy, struct gtp_why *why)
{
	struct gtp_cfi table;
	const char *words;
	u32 bits;

	if (gtp_cfi_open(&table, f->bytes, f->size, &words))
		return refuse(all, f, -EINVAL, why, words);
	if (!id->bytes)
		return refuse(all, f, -EINVAL, why,
			      "the file has no build-id, which shows that the table is its own");
	if (!is_of(&table, id))
		return refuse(all, f, -EINVAL, why, "it is of another build of the file");
	if (gtp_frames_is_needed(f, busy))
		return refuse(all, f, -EBUSY, why,
			      "the file has one, and tracepoints are in programs");
	if (gtp_frames_hide(all, f))
		all->wait();
	free_used(all, f);
	bits = gtp_cfi_known_bits(&table);
	f->known = alloc(all, sizeof(*f->known) << bits);
	if (f->known)
		gtp_cfi_remember(&table, f->known, bits);
	f->cfi = table;
	f->used = f->bytes;
	f->bytes = NULL;
	f->is_shown = true;
	all->show(f);
	return 0;
}

int gtp_frames_put(struct gtp_frames_all *all, struct gtp_frames *f, const struct gtp_part *part,
		   const struct gtp_frames_id *id, bool busy, struct gtp_why *why)
{
	int err = part->offset ? 0 : begin(all, f, part->size, why);

	if (err)
		return err;
	if (!f->bytes || part->size != f->size || part->offset != f->have ||
	    part->n > f->size - f->have)
		return refuse(all, f, -EINVAL, why, "its parts do not follow one another");
	memcpy(f->bytes + f->have, part->bytes, part->n);
	f->have += part->n;
	return f->have == f->size ? end(all, f, id, busy, why) : 0;
}

void gtp_frames_check(struct gtp_frames_all *all, struct gtp_frames *f,
		      const struct gtp_frames_id *id, bool busy)
{
	if (!f->used || is_of(&f->cfi, id))
		return;
	gtp_frames_hide(all, f);
	all->wait();
	if (!gtp_frames_is_needed(f, busy))
		free_used(all, f);
}
