/* SPDX-License-Identifier: GPL-2.0-only */
/* A simulated kernel: its memory is read from vmlinux, and all its code can be probed. */
#ifndef _RECORD_MACHINE_H
#define _RECORD_MACHINE_H

#include "session/trace.h"

/* struct piece - a section of vmlinux in memory, at its address after KASLR */
struct piece {
	u64 addr, size;
	u8 *bytes;
	bool code;
};

/* struct marker - a kernel tracepoint; the texts exist as long as the machine */
struct marker {
	u64 addr;
	const char *id, *fields;
};

/**
 * struct machine - the simulated kernel; the ctx of every callback points to this struct
 * @trace: its trace session
 * @slide: the distance in bytes by which KASLR has moved the image
 * @text: the address of _text
 * @release, @build_id: the release and the build-id that the kernel would report
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
 * machine_init - initialise the machine from the file @vmlinux. The caller has set @m->slide. The
 * file @markers has a line "ADDRESS ID<tab>FIELDS" with a link-time address for each kernel
 * tracepoint. Exits with a message on failure
 */
void machine_init(struct machine *m, const char *vmlinux, const char *markers);

/* machine_read - read memory; return 0, or -EFAULT if not all of it is in the file */
int machine_read(void *ctx, void *dst, u64 addr, u32 len);

#endif /* _RECORD_MACHINE_H */
