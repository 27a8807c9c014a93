/* SPDX-License-Identifier: GPL-2.0-only */
/* Answers about one address or one function, in words. */
#ifndef _GTP_EXPLAIN_H
#define _GTP_EXPLAIN_H

#include "regions/verdict.h"

/**
 * gtp_explain_place() - an address from what a user writes
 * @text: the analysed image
 * @where: FUNCTION, FUNCTION+OFFSET or a number
 * @slide: what numbers lie behind the file's own addresses
 *
 * Ends the program with a message when there is no such place or more than one.
 */
u64 gtp_explain_place(const struct gtp_text *text, const char *where, u64 slide);

/*
 * gtp_explain_slide - what "NAME=ADDRESS" says about where the image lies; NAME is a symbol or a
 * section
 */
u64 gtp_explain_slide(const struct gtp_text *text, const char *what);

/*
 * gtp_explain_address - verdict, reason, evidence, the instructions and what the kernel's rule says
 */
void gtp_explain_address(const struct gtp_text *text, u64 addr);

/* gtp_explain_deny - every address that some kernel's rule accepts and something enters */
void gtp_explain_deny(const struct gtp_text *text);

/*
 * gtp_explain_dump - a line for every instruction of one function, or of all: address, name, bytes
 * displaced, our word, the kernel's answer, leader bits
 */
void gtp_explain_dump(const struct gtp_text *text, const struct gtp_function *only);

/* gtp_explain_name - "function+0x24" for an address of code; returns @buf */
const char *gtp_explain_name(const struct gtp_text *text, u64 addr, char *buf, size_t size);

#endif /* _GTP_EXPLAIN_H */
