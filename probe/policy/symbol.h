/* SPDX-License-Identifier: GPL-2.0-only */
/* The symbol at an address, by exported functions alone. */
#ifndef _GTP_SYMBOL_H
#define _GTP_SYMBOL_H

#include <linux/types.h>

/*
 * gtp_symbol_at - "NAME+0xOFFSET/0xSIZE" and perhaps " [MODULE]", or "0xADDRESS" where there is
 * none; valid until the next call. The last result is kept until gtp_symbol_forget(), because a
 * look-up is slow. Context: process, gtp_lock
 */
const char *gtp_symbol_at(u64 addr);

/* gtp_symbol_forget - drop the kept result: symbols may change from here on. Context as above */
void gtp_symbol_forget(void);

/* gtp_symbol_bounds - the function around an address; false: unknown. Context as above */
bool gtp_symbol_bounds(u64 addr, u64 *start, u32 *size);

#endif /* _GTP_SYMBOL_H */
