/* SPDX-License-Identifier: GPL-2.0-only */
/* The size of the kernel's arena and its parts, for C and assembly. */
#ifndef _GTP_ARENA_H
#define _GTP_ARENA_H

#define GTP_JIT_ARENA 0x180000
#define GTP_JIT_PAD_BYTES 0x100000 /* the arena's end, for jump pads, which are freed one by one */
#define GTP_JIT_LOAD_ALIGN 8	   /* AX_JIT_LOAD_ALIGN */

/* gtp_jit_returns has a return in the lower half and one in the upper half of a cache line. */
#define GTP_JIT_LINE 64
#define GTP_JIT_RETURN_LOWER 16
#define GTP_JIT_RETURN_UPPER 48

#endif /* _GTP_ARENA_H */
