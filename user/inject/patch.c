// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replaces instructions of a process by jumps to pads, and restores them.
 *
 * The order of the steps matters, because this program may be killed between any two of them, and
 * then all threads run at once. Before the first jump is written, each thread that stands at a
 * displaced instruction is led to the instruction's copy; the copy comes back to the original code
 * with or without a jump. Before a thread is led out of a pad, the original instructions are back.
 *
 * A thread that stands at the first displaced instruction needs no help: there the jump begins.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "user/inject/patch.h"
#include "user/inject/where.h"

/* --- batches --- */

static int by_address(const void *x, const void *y)
{
	const struct gtp_patch *a = *(struct gtp_patch *const *)x;
	const struct gtp_patch *b = *(struct gtp_patch *const *)y;

	return (a->at > b->at) - (a->at < b->at);
}

static int by_pad(const void *x, const void *y)
{
	const struct gtp_patch *a = *(struct gtp_patch *const *)x;
	const struct gtp_patch *b = *(struct gtp_patch *const *)y;

	return (a->pad > b->pad) - (a->pad < b->pad);
}

/* Return a sorted copy of the array, which is never empty; NULL: out of memory. */
static struct gtp_patch **sorted(struct gtp_patch *const *patch, u32 n,
				 int (*order)(const void *, const void *))
{
	struct gtp_patch **copy = calloc(n + 1, sizeof(struct gtp_patch *));

	if (!copy)
		return NULL;
	if (n)
		memcpy(copy, patch, n * sizeof(struct gtp_patch *));
	qsort(copy, n, sizeof(struct gtp_patch *), order);
	return copy;
}

int gtp_patch_plan(struct gtp_batch *b, struct gtp_patch *const *patch, u32 n)
{
	*b = (struct gtp_batch){ .patch = sorted(patch, n, by_address), .n = n };
	if (!b->patch)
		return -ENOMEM;
	if (!gtp_text_plan(&b->text, b->patch, n))
		return 0;
	free(b->patch);
	return -ENOMEM;
}

void gtp_patch_free(struct gtp_batch *b)
{
	gtp_text_free(&b->text);
	free(b->patch);
	memset(b, 0, sizeof(*b));
}

/* --- checks --- */

static bool reaches(const struct gtp_patch *patch)
{
	s64 distance = (s64)(patch->pad - (patch->at + GTP_REGION_JUMP));

	return distance == (s32)distance;
}

static u64 end_of(const struct gtp_patch *patch)
{
	return patch->at + patch->region.len;
}

/* Return the index of the last jump at or before @addr; -1: there is none. */
static s64 last_before(struct gtp_patch *const *patch, u32 n, u64 addr)
{
	s64 lo = -1, hi = n;

	while (hi - lo > 1) {
		s64 mid = lo + (hi - lo) / 2;

		if (patch[mid]->at <= addr)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* True if a region shares a byte with that of a jump in the process. */
static bool overlaps(const struct gtp_inject *in, const struct gtp_patch *patch)
{
	s64 i = last_before(in->set, in->nset, end_of(patch) - 1);

	return i >= 0 && end_of(in->set[i]) > patch->at;
}

static int check(const struct gtp_inject *in, const struct gtp_patch *patch, struct gtp_why *why)
{
	const struct gtp_area *area = gtp_memory_find(&in->areas, patch->pad, patch->pad_len);
	const struct gtp_region *r = &patch->region;

	if (patch->set || overlaps(in, patch))
		gtp_why(why, "there is a jump at 0x%llx already", patch->at);
	else if (r->len < GTP_REGION_JUMP || r->len > GTP_REGION_MAX || !r->n ||
		 r->n > GTP_REGION_JUMP)
		gtp_why(why, "the region at 0x%llx is no region", patch->at);
	else if (!reaches(patch) || !area || area->kind != GTP_INJECT_CODE)
		gtp_why(why, "the pad of 0x%llx is not within reach", patch->at);
	else
		return 0;
	return -EINVAL;
}

int gtp_patch_check(const struct gtp_inject *in, const struct gtp_batch *b, struct gtp_why *why)
{
	int err = 0;
	u32 i;

	for (i = 0; !err && i < b->n; i++) {
		err = check(in, b->patch[i], why);
		if (!err && i && end_of(b->patch[i - 1]) > b->patch[i]->at) {
			gtp_why(why, "the jumps at 0x%llx and 0x%llx share a byte",
				b->patch[i - 1]->at, b->patch[i]->at);
			err = -EINVAL;
		}
	}
	return err;
}

/* --- the jumps of the process --- */

/* Merge the batch into the sorted list. Return 0, or -ENOMEM with nothing changed. */
static int remember(struct gtp_inject *in, const struct gtp_batch *b)
{
	u32 i = 0, k = 0, n = 0;
	struct gtp_patch **all = calloc(in->nset + b->n + 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	while (i < in->nset || k < b->n) {
		if (k == b->n || (i < in->nset && in->set[i]->at < b->patch[k]->at))
			all[n++] = in->set[i++];
		else
			all[n++] = b->patch[k++];
	}
	free(in->set);
	in->set = all;
	in->nset = n;
	for (k = 0; k < b->n; k++)
		b->patch[k]->set = true;
	return 0;
}

/* Remove the batch from the list. */
static void forget(struct gtp_inject *in, const struct gtp_batch *b)
{
	u32 i, n = 0;

	for (i = 0; i < b->n; i++)
		b->patch[i]->set = false;
	for (i = 0; i < in->nset; i++)
		if (in->set[i]->set)
			in->set[n++] = in->set[i];
	in->nset = n;
}

/* --- threads at displaced instructions --- */

/*
 * Return the address of the copy of the instruction at @offset in the region; 0: none begins there.
 */
static u64 copy_of(const struct gtp_patch *patch, u64 offset)
{
	u64 at = 0;
	u32 i;

	for (i = 0; i < patch->region.n; i++) {
		if (at == offset)
			return patch->copy[i];
		at += patch->region.insn[i].len;
	}
	return 0;
}

/*
 * Return the address of the instruction whose copy is at @ip, or to which the pad belongs; 0: none.
 */
static u64 original_of(const struct gtp_patch *patch, u64 ip)
{
	u64 at = patch->at;
	u32 i;

	if (ip == patch->pad)
		return at;
	for (i = 0; i < patch->region.n; i++) {
		if (patch->copy[i] == ip)
			return at;
		at += patch->region.insn[i].len;
	}
	return 0;
}

/* Return the jump that will overwrite the code at @ip, if @ip is not its first byte. */
static const struct gtp_patch *overwrites(const struct gtp_batch *b, u64 ip)
{
	s64 i = last_before(b->patch, b->n, ip);

	if (i < 0 || ip == b->patch[i]->at || ip - b->patch[i]->at >= GTP_REGION_JUMP)
		return NULL;
	return b->patch[i];
}

/* Let a thread go on at @ip. A thread that was killed is nowhere. */
static int move(struct gtp_inject *in, struct gtp_where *w, struct gtp_place *place, u64 ip)
{
	int err = gtp_where_move(w, place, ip, in->mem);

	in->stats.moved++;
	in->stats.moved_frames += place->frame != 0;
	return err == -ESRCH ? 0 : err;
}

/* Check that each thread in the way can be led to a copy. */
static int can_enter(const struct gtp_batch *b, const struct gtp_where *w, struct gtp_why *why)
{
	u32 i;

	for (i = 0; i < w->n; i++) {
		const struct gtp_patch *patch = overwrites(b, w->place[i].ip);

		if (!patch || copy_of(patch, w->place[i].ip - patch->at))
			continue;
		gtp_why(why, "thread %u is at 0x%llx, where no instruction of the region begins",
			w->s->thread[w->place[i].thread].tid, w->place[i].ip);
		return -EILSEQ;
	}
	return 0;
}

static int enter(struct gtp_inject *in, const struct gtp_batch *b, struct gtp_where *w)
{
	int err = 0;
	u32 i;

	for (i = 0; !err && i < w->n; i++) {
		struct gtp_place *place = &w->place[i];
		const struct gtp_patch *patch = overwrites(b, place->ip);

		if (patch)
			err = move(in, w, place, copy_of(patch, place->ip - patch->at));
	}
	return err;
}

/* --- pads without a jump --- */

/* Note that a thread is still in a pad. */
static int note_leaving(struct gtp_inject *in, const struct gtp_patch *patch)
{
	struct gtp_leaving *more;
	u32 i;

	in->stats.left_in++;
	for (i = 0; i < in->nleaving; i++)
		if (in->leaving[i].pad == patch->pad && in->leaving[i].back == end_of(patch))
			return 0;
	more = realloc(in->leaving, (in->nleaving + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	in->leaving = more;
	more[in->nleaving++] = (struct gtp_leaving){ patch->pad, patch->pad_len, end_of(patch) };
	return 0;
}

/*
 * Check that no thread is in an old pad that would come back into the middle of a new jump. Old
 * pads that are empty now stay empty.
 */
static int none_comes_back(struct gtp_inject *in, const struct gtp_batch *b,
			   const struct gtp_where *w, struct gtp_why *why)
{
	u32 i, kept = 0;
	int err = 0;

	for (i = 0; i < in->nleaving; i++) {
		struct gtp_leaving *l = &in->leaving[i];

		if (!gtp_where_is_in(w, l->pad, l->pad_len))
			continue;
		if (overwrites(b, l->back)) {
			gtp_why(why, "a thread is still in an old pad that comes back to 0x%llx",
				l->back);
			err = -EAGAIN;
		}
		in->leaving[kept++] = *l;
	}
	in->nleaving = kept;
	return err;
}

/* Lead threads from the batch's pads to the original instructions where that is possible. */
static int leave(struct gtp_inject *in, const struct gtp_batch *b, struct gtp_where *w)
{
	struct gtp_patch **pads = sorted(b->patch, b->n, by_pad);
	int err = 0;
	u32 i;

	if (!pads)
		return -ENOMEM;
	for (i = 0; !err && i < w->n; i++) {
		struct gtp_place *place = &w->place[i];
		u32 lo = 0, hi = b->n;
		u64 ip;

		while (lo < hi) {
			u32 mid = lo + (hi - lo) / 2;

			if (pads[mid]->pad <= place->ip)
				lo = mid + 1;
			else
				hi = mid;
		}
		if (!lo || place->ip - pads[lo - 1]->pad >= pads[lo - 1]->pad_len)
			continue;
		ip = original_of(pads[lo - 1], place->ip);
		err = ip ? move(in, w, place, ip) : note_leaving(in, pads[lo - 1]);
	}
	free(pads);
	return err;
}

/* --- code --- */

static void put_jump(u8 *to, const struct gtp_patch *patch)
{
	to[0] = 0xe9;
	gtp_put_le(to + 1, patch->pad - (patch->at + GTP_REGION_JUMP), 4);
}

static int verify(const struct gtp_batch *b, struct gtp_why *why)
{
	u32 i;

	for (i = 0; i < b->n; i++) {
		const struct gtp_patch *patch = b->patch[i];

		if (!memcmp(gtp_text_at(&b->text, patch), patch->region.bytes, patch->region.len))
			continue;
		gtp_why(why, "the code at 0x%llx has changed since it was looked at", patch->at);
		return -EILSEQ;
	}
	return 0;
}

static int write_all(const struct gtp_inject *in, struct gtp_batch *b, struct gtp_why *why)
{
	int err = gtp_text_write(&b->text, in->mem);

	if (err)
		gtp_why(why, "the code of process %u cannot be written", in->p->pid);
	return err;
}

static int find_threads(struct gtp_inject *in, struct gtp_where *w, struct gtp_why *why)
{
	int err = gtp_where_find(w, &in->stop);

	if (err)
		gtp_why(why, "out of memory");
	return err;
}

int gtp_patch_set(struct gtp_inject *in, struct gtp_batch *b, struct gtp_why *why)
{
	struct gtp_where w;
	u32 i;
	int err;

	gtp_text_read(&b->text, in->p, in->mem);
	err = verify(b, why);
	if (!err)
		err = find_threads(in, &w, why);
	if (err)
		return err;
	for (i = 0; i < b->n; i++)
		put_jump(gtp_text_at(&b->text, b->patch[i]), b->patch[i]);
	err = can_enter(b, &w, why);
	if (!err)
		err = none_comes_back(in, b, &w, why);
	if (!err)
		err = remember(in, b);
	if (err)
		goto free_threads;
	err = enter(in, b, &w);
	if (!err)
		err = write_all(in, b, why);
	if (err)
		forget(in, b);
free_threads:
	gtp_where_free(&w);
	return err;
}

int gtp_patch_adopt(struct gtp_inject *in, const struct gtp_batch *b)
{
	return remember(in, b);
}

/* Put the original bytes where our jump still is. */
static void restore(const struct gtp_batch *b)
{
	u8 jump[GTP_REGION_JUMP];
	u32 i;

	for (i = 0; i < b->n; i++) {
		u8 *to = gtp_text_at(&b->text, b->patch[i]);

		put_jump(jump, b->patch[i]);
		if (!memcmp(to, jump, sizeof(jump)))
			memcpy(to, b->patch[i]->region.bytes, sizeof(jump));
	}
}

int gtp_patch_unset(struct gtp_inject *in, struct gtp_batch *b, struct gtp_why *why)
{
	struct gtp_where w;
	int err;

	gtp_text_read(&b->text, in->p, in->mem);
	restore(b);
	err = find_threads(in, &w, why);
	if (err)
		return err;
	err = write_all(in, b, why);
	if (!err) {
		forget(in, b);
		err = leave(in, b, &w);
		if (err)
			gtp_why(why, "out of memory");
	}
	gtp_where_free(&w);
	return err;
}
