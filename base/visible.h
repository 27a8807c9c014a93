/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the characters of untrusted text that a terminal shows, and does not act upon. */
#ifndef _GTP_VISIBLE_H
#define _GTP_VISIBLE_H

#include "base/base.h"

/**
 * gtp_visible_length() - measure the character at the beginning of a text
 * @text: UTF-8, or any other bytes
 * @left: the number of bytes, at least 1
 *
 * Return: the number of bytes of the character if a terminal shows it; 0 if a terminal would act
 * upon it, if it has no glyph, or if it is not UTF-8.
 */
u32 gtp_visible_length(const char *text, size_t left);

/*
 * gtp_visible_only - in a string, replace each byte that is not part of a visible character by '?';
 * the length stays the same
 */
void gtp_visible_only(char *text);

#endif /* _GTP_VISIBLE_H */
