/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of libc that tools/dev/axenv.c uses, in the kernel. */
#ifndef _GTP_SHIM_STDLIB_H
#define _GTP_SHIM_STDLIB_H

#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>

#define malloc(n) kvmalloc((n), GFP_KERNEL)
#define calloc(n, size) kvcalloc((n), (size), GFP_KERNEL)
#define free(p) kvfree(p)
#define abort() panic("out of memory in a test")

/* The function of tools/dev/axenv.c that prints to a file is never called in the kernel. */
struct shim_file;
#define FILE struct shim_file
#define open_memstream(text, size) ((FILE *)((void)(text), (void)(size), NULL))
#define fprintf(f, ...) ((void)(f))
#define fputc(c, f) ((void)(f))
#define fclose(f) ((void)(f))

#endif /* _GTP_SHIM_STDLIB_H */
