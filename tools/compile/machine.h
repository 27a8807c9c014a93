/* SPDX-License-Identifier: GPL-2.0-only */
/* A kernel that is only a file: memory is read from vmlinux, and all its code can be probed. */
#ifndef _RECORD_MACHINE_H
#define _RECORD_MACHINE_H

#include "session/trace.h"

/* struct piece - a section of vmlinux in memory, at the address that it has after KASLR's move */
struct piece {
	u64 addr, size;
	u8 *bytes;
	bool code;
};

/* struct marker - a kernel tracepoint; the texts stay as long as the machine */
struct marker {
	u64 addr;
	const char *id, *fields;
};

/**
 * struct machine - the kernel; its address is the ctx of every callback
 * @trace: the session on it
 * @slide: the distance of the image from its link address
 * @text: the address of _text
 * @release, @build_id: as the kernel would report them
 */
struct machine {
	struct gtp_trace trace;
	u64 slide, text;
	const char *release, *build_id;
	struct piece *pieces;
	u32 npieces;
	struct marker *markers;
	u32 nmarkers;
};

/*
 * machine_init - set @m->slide and the facts about the kernel; @vmlinux is the file, @markers a
 * file of lines "ADDRESS ID<tab>FIELDS", at link addresses. Exits with a message on failure
 */
void machine_init(struct machine *m, const char *vmlinux, const char *markers);

/* machine_read - read memory; return 0, or -EFAULT if not all of it is in the file */
int machine_read(void *ctx, void *dst, u64 addr, u32 len);

#endif /* _RECORD_MACHINE_H */
