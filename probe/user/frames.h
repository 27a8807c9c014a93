/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of call frame information that GDB sends for files of programs, and for the vDSO: which
 * ones are accepted, and how long they exist.
 */
#ifndef _GTP_FRAMES_H
#define _GTP_FRAMES_H

#include "base/mem.h"
#include "base/part.h"
#include "base/why.h"
#include "hit/cfi.h"

enum { GTP_FRAMES_BYTES = 256 << 20 }; /* most bytes of all tables together */

struct gtp_frames;

/**
 * struct gtp_frames_all - what all tables have in common
 * @mem: allocates the tables
 * @show: let hits find a table from now on
 * @hide: let no hit find a table any more
 * @wait: wait until no hit uses a table that is hidden, except hits in programs that sleep
 * @most: return how many bytes a table may have now: more memory of the machine must not be taken
 * @bytes: the size of all tables
 */
struct gtp_frames_all {
	const struct gtp_mem *mem;
	void (*show)(struct gtp_frames *f);
	void (*hide)(struct gtp_frames *f);
	void (*wait)(void);
	u64 (*most)(void);
	u64 bytes;
};

/**
 * struct gtp_frames - a file's table: the one that hits use, and the one that is arriving
 * @cfi: the table that hits use
 * @used: the bytes of that table; NULL: there is none
 * @known: room in which hits remember rules; may be NULL
 * @is_shown: true if hits find the table. If not, hits that sleep may still use it
 * @bytes, @size, @have: the table that is arriving, its size, and how much of it is here
 */
struct gtp_frames {
	struct gtp_cfi cfi;
	u8 *used;
	u64 *known;
	bool is_shown;
	u8 *bytes;
	u32 size, have;
};

/* struct gtp_frames_id - the build-id of a file; no @bytes: it has none */
struct gtp_frames_id {
	const u8 *at;
	u32 bytes;
};

/*
 * Context of all functions: process, gtp_lock; they may sleep. @busy is true if a probe is in any
 * program: hits may sleep then while they use a table, so no table that was in use is freed.
 */

/**
 * gtp_frames_put() - store a part of a table, and let hits use the table when it is complete
 * @all: all tables
 * @f: the file's table
 * @part: the part; parts come in order, and the first one begins a new table
 * @id: the build-id of the file, which the table must have
 * @busy: see above; a table in use cannot be replaced then
 * @why: the refusal
 *
 * Return: 0 or -errno with @why.
 */
int gtp_frames_put(struct gtp_frames_all *all, struct gtp_frames *f, const struct gtp_part *part,
		   const struct gtp_frames_id *id, bool busy, struct gtp_why *why);

/*
 * gtp_frames_check - let no hit find the table any more if the file has another build-id by now;
 * free the table unless @busy. No hit is looking for the file's table then
 */
void gtp_frames_check(struct gtp_frames_all *all, struct gtp_frames *f,
		      const struct gtp_frames_id *id, bool busy);

/* gtp_frames_is_needed - true if the table must not be freed now, because hits may use it */
bool gtp_frames_is_needed(const struct gtp_frames *f, bool busy);

/*
 * gtp_frames_hide - let no hit find the table any more; return true if @wait of @all has to be
 * called before the table is freed
 */
bool gtp_frames_hide(struct gtp_frames_all *all, struct gtp_frames *f);

/* gtp_frames_free - free the tables, which were hidden and are not needed */
void gtp_frames_free(struct gtp_frames_all *all, struct gtp_frames *f);

#endif /* _GTP_FRAMES_H */
