/* SPDX-License-Identifier: GPL-2.0-only */
/* Find the numbers in a packet of GDB that may be addresses of the kernel's image. */
#ifndef _RECORD_FIELDS_H
#define _RECORD_FIELDS_H

#include "base/base.h"

/**
 * enum field_kind - the form of a number in a packet
 * @FIELD_NUMBER: a number in hex, with any number of digits
 * @FIELD_OPERAND: a constant of an expression in hex, of which the top bit may be its sign
 * @FIELD_TEXT: hex digits in a text that is itself encoded in hex, so that each digit takes two
 *     characters of the packet
 */
enum field_kind { FIELD_NUMBER = 'n', FIELD_OPERAND = 'o', FIELD_TEXT = 't' };

/*
 * fields_find - call @found for each field of the packet, in order. A field has @digits digits and
 * begins @at characters from the packet's beginning. A packet of a kind that GDB does not send has
 * no fields
 */
void fields_find(const char *packet, u32 len,
		 void (*found)(void *ctx, enum field_kind kind, u32 at, u32 digits), void *ctx);

#endif /* _RECORD_FIELDS_H */
