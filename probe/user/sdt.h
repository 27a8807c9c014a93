/* SPDX-License-Identifier: GPL-2.0-only */
/* Markers (SDT) of a program: the notes of its file that name their places and semaphores. */
#ifndef _GTP_SDT_H
#define _GTP_SDT_H

#include "base/base.h"
#include "base/why.h"
#include "probe/user/elf.h"

enum {
	GTP_SDT_SECTIONS = 4096, /* sections of a file, beyond which none is looked at */
	GTP_SDT_NOTES = 1 << 16, /* the same of notes */
};

/**
 * struct gtp_sdt - a file, and what to do with its markers
 * @read: read @len bytes at @at of the file to @dst; false: not all of them are there
 * @found: takes a marker's place and that of its semaphore, 0 without one, both as linked
 * @ctx: for both
 */
struct gtp_sdt {
	bool (*read)(void *ctx, void *dst, u32 len, u64 at);
	void (*found)(void *ctx, u64 place, u64 semaphore);
	void *ctx;
};

/**
 * gtp_sdt_each() - go through the markers that a file's notes name
 * @sdt: the file
 *
 * The notes are whatever the file has: @found checks the addresses. A note that is damaged ends it.
 */
void gtp_sdt_each(const struct gtp_sdt *sdt);

/**
 * gtp_sdt_offset() - where a file has a semaphore
 * @elf: the file
 * @semaphore: its address, as linked
 * @offset: receives the offset
 * @why: the refusal
 *
 * Return: 0; -EINVAL: it is not in a part of the file that processes write to.
 */
int gtp_sdt_offset(const struct gtp_elf *elf, u64 semaphore, u64 *offset, struct gtp_why *why);

/* gtp_sdt_second - true if the @len bytes of code at a marker are a nop and then the long nop */
bool gtp_sdt_second(const u8 *code, u32 len);

#endif /* _GTP_SDT_H */
