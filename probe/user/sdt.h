/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the notes in a program's file that name the places and semaphores of its markers (SDT). */
#ifndef _GTP_SDT_H
#define _GTP_SDT_H

#include "base/base.h"
#include "base/why.h"
#include "probe/user/elf.h"

enum {
	GTP_SDT_SECTIONS = 4096, /* most sections of a file that are looked at */
	GTP_SDT_NOTES = 1 << 16, /* most notes of a file that are looked at */
};

/**
 * struct gtp_sdt - a file: the function that reads it, and the function that receives its markers
 * @read: read @len bytes at @at of the file to @dst; return false if not all of them are there
 * @found: receives the link-time addresses of a marker and of its semaphore, 0 if it has none
 * @ctx: passed to both
 */
struct gtp_sdt {
	bool (*read)(void *ctx, void *dst, u32 len, u64 at);
	void (*found)(void *ctx, u64 place, u64 semaphore);
	void *ctx;
};

/**
 * gtp_sdt_each() - report the markers that a file's notes name to @sdt->found
 * @sdt: the file
 *
 * The notes hold whatever the file's owner has written: @found checks the addresses. The first
 * damaged note ends the search.
 */
void gtp_sdt_each(const struct gtp_sdt *sdt);

/**
 * gtp_sdt_offset() - find a semaphore's offset in its file
 * @elf: the file
 * @semaphore: the semaphore's link-time address
 * @offset: receives the offset
 * @why: the refusal
 *
 * Return: 0; -EINVAL if the semaphore is not in a part of the file that processes write to.
 */
int gtp_sdt_offset(const struct gtp_elf *elf, u64 semaphore, u64 *offset, struct gtp_why *why);

/*
 * gtp_sdt_second - true if the @len bytes of code at a marker begin with a one-byte nop and a
 * ten-byte nop
 */
bool gtp_sdt_second(const u8 *code, u32 len);

#endif /* _GTP_SDT_H */
