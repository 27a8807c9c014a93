/* SPDX-License-Identifier: GPL-2.0-only */
/* The header of a GDB trace file: all that comes before the frames. */
#ifndef _GTP_HEADER_H
#define _GTP_HEADER_H

#include "session/trace.h"

/**
 * gtp_header_make() - make the text of a header
 * @t: the session
 * @live: more frames of the run will follow: leave out its results, and add the variable $lost, see
 *        export/stream.h
 * @len: receives the length of the text
 *
 * Lines that GDB cannot read are left out: it refuses a file for a line of 1000 characters, so a
 * source line or a note of that length is missing, and so is a condition's bytecode (its text
 * stays). "collect/s" becomes "collect": GDB refuses a trace file with that option.
 *
 * Context: may sleep, under the session's lock.
 * Return: the text, not NUL-terminated, for the caller to free with @t->mem; NULL if there is no
 * memory.
 */
char *gtp_header_make(const struct gtp_trace *t, bool live, u32 *len);

#endif /* _GTP_HEADER_H */
