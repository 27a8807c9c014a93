/* SPDX-License-Identifier: GPL-2.0-only */
/* Removes the compiler's suffixes from names of functions. */
#ifndef _GTP_SYMBOL_NAME_H
#define _GTP_SYMBOL_NAME_H

#include "base/base.h"

/**
 * gtp_symbol_plain() - remove the compiler's suffixes from a symbol's name
 * @buf: receives the name, NUL-terminated, cut to fit
 * @size: bytes of @buf
 * @symbol: "NAME+0xOFFSET/0xSIZE", as the kernel prints it
 *
 * When the compiler splits, copies or specializes a function, it appends a dot and a suffix to the
 * name: this changes "cpu_init.part.0+0x5/0x20" to "cpu_init+0x5/0x20".
 */
void gtp_symbol_plain(char *buf, size_t size, const char *symbol);

#endif /* _GTP_SYMBOL_NAME_H */
