/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the symbol at an address, using only exported functions. */
#ifndef _GTP_SYMBOL_H
#define _GTP_SYMBOL_H

#include <linux/types.h>

/*
 * gtp_symbol_at - return "NAME+0xOFFSET/0xSIZE" and perhaps " [MODULE]", or "0xADDRESS" if there is
 * no symbol; valid until the next call. The last result is kept until gtp_symbol_forget(), because
 * a look-up is slow. Context: process, under gtp_lock
 */
const char *gtp_symbol_at(u64 addr);

/*
 * gtp_symbol_forget - drop the last result of gtp_symbol_at(). Context: process, under gtp_lock
 */
void gtp_symbol_forget(void);

/*
 * gtp_symbol_bounds - find the function around an address; return false if unknown. Context:
 * process, gtp_lock
 */
bool gtp_symbol_bounds(u64 addr, u64 *start, u32 *size);

#endif /* _GTP_SYMBOL_H */
